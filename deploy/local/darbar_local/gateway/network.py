"""What is told to whoever lets others in the same network play. Open this to change those words."""

from __future__ import annotations

import io

import msgspec
import segno

from darbar_local.console import print_line


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """Where others reach this machine; `fingerprint` is its certificate's SHA-256, with TLS."""

    url: str
    fingerprint: str | None = None


_WHITE_ON_BLACK = "\x1b[97;40m"
_AS_BEFORE = "\x1b[0m"


def tell_others(network: Network) -> None:
    """The address, as a picture too, and what a browser is going to ask."""
    print_line()
    print_line(f"  Others in this network play at {network.url}")
    print_line()
    for line in picture(network.url):
        print_line(f"    {line}")
    print_line()
    for line in _OF_PLAIN if network.fingerprint is None else _of_tls(network.fingerprint):
        print_line(f"  {line}")


def picture(text: str) -> list[str]:
    """A QR code of half blocks, in its own colours: a dark terminal shows it as a light one does."""
    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(drawn, border=2, compact=True)
    return [f"{_WHITE_ON_BLACK}{line}{_AS_BEFORE}" for line in drawn.getvalue().splitlines()]


_OF_PLAIN = (
    "Whoever is in this network can read along: only where you trust them. Voice notes can't be recorded at this",
    "address, for browsers give the microphone to secure pages alone: `make run LAN=1 TLS=1` makes one.",
)


def _of_tls(fingerprint: str) -> tuple[str, ...]:
    return (
        "The first time, each browser warns that the connection is not private. That is because this certificate was",
        "made here, and nobody else has signed it. What is sent is encrypted all the same. Go on like this:",
        "  Chrome, Edge   Advanced, then Proceed",
        "  Firefox        Advanced, then Accept the Risk and Continue",
        "  Safari         Show Details, then visit this website",
        "Whoever wants to be sure looks at the certificate there. Its SHA-256 is",
        *(f"  {fingerprint[start : start + 48].rstrip(':')}" for start in (0, 48)),
    )
