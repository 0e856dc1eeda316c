"""What users of a NATS server may publish and subscribe to, as its configuration says it. Open this when one may not.

The embedded server is configured with it, and whoever runs a server of their own can print it.
"""

from collections.abc import Callable, Mapping

import msgspec


class Permissions(msgspec.Struct, frozen=True):
    """What a user may publish and subscribe to. Its private inbox and answers to requests are always allowed."""

    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()


def users(permissions: Mapping[str, Permissions], password_of: Callable[[str], str]) -> list[dict[str, object]]:
    """For `authorization.users` of the server's configuration."""
    return [
        {"user": name, "password": password_of(name), "permissions": _rights(name, rights)}
        for name, rights in permissions.items()
    ]


def _rights(name: str, rights: Permissions) -> dict[str, object]:
    return {
        "publish": {"allow": list(rights.publish)},
        "subscribe": {"allow": [f"_INBOX.{name}.>", *rights.subscribe]},
        # Answers go to the asker's inbox, which nobody may publish to otherwise.
        "allow_responses": {"max": 1, "expires": "1m"},
    }
