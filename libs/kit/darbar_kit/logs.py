"""How log lines look and where they go. Open this when a line is missing or unreadable."""

import logging
import sys
from collections.abc import MutableMapping
from typing import TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor

# Whatever a caller binds by accident, these never reach a log.
_SECRET_FIELDS = frozenset(
    {"access_token", "authorization", "database_url", "nats_url", "password", "private_key", "refresh_token", "token"}
)
# Libraries that tell more than anybody wants to read at level info.
_QUIET_LOGGERS = ("aiohttp.access", "asyncio", "nats")


def configure(service: str, *, human: bool | None = None, level: str = "info", stream: TextIO | None = None) -> None:
    """Called once by each process: JSON lines on stderr, readable ones when `human` (None: on a terminal)."""
    output = sys.stderr if stream is None else stream
    readable = output.isatty() if human is None else human
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if readable else "iso", utc=not readable),
        _with_service(service),
        _without_secrets,
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(_formatter(readable, colours=output.isatty(), shared=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # The pool's own retries, each with a traceback; whoever asks the database hears that it is away.
    logging.getLogger("asyncpg").setLevel(logging.ERROR)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _formatter(readable: bool, *, colours: bool, shared: list[Processor]) -> logging.Formatter:
    ending: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if readable:
        ending.append(
            # Not the renderer that shows local variables: there are secrets among them.
            structlog.dev.ConsoleRenderer(
                colors=colours, pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
            )
        )
    else:
        ending += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=ending)


def _json(event: object, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=repr).decode()


def _with_service(service: str) -> Processor:
    def add(_logger: object, _method: str, event: EventDict) -> EventDict:
        if service:
            event.setdefault("service", service)
        return event

    return add


def _without_secrets(_logger: object, _method: str, event: EventDict) -> EventDict:
    redact(event)
    return event


def redact(fields: MutableMapping[str, object]) -> None:
    """Redacts the values of fields which by their name hold a secret."""
    for name in _SECRET_FIELDS & fields.keys():
        fields[name] = "(hidden)"
