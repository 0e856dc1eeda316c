"""Being told to stop, through libraries that mistake it for a time-out. Open this when a task does not end."""

import asyncio


def stop_if_cancelled() -> None:
    """Raises CancelledError when this task was cancelled and somebody below turned that into another error.

    A loop that catches time-outs and tries again would otherwise go on for ever, and its owner wait for it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
