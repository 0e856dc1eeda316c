"""Which address a request really comes from. Open this about proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from aiohttp import web

FORWARDED_ADDRESSES_MAX = 16
# One household of IPv6 has a whole /64: it counts as one address.
IPV6_PREFIX = 64

Network = IPv4Network | IPv6Network


class ClientAddresses:
    """X-Forwarded-For counts only from a trusted proxy. Raises ValueError for what is no address or network."""

    def __init__(self, trusted_proxies: Sequence[str]) -> None:
        self._trusted = networks(trusted_proxies)

    def of(self, request: web.Request) -> str:
        """The client's own address."""
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", []))
        return client_address(request.remote, forwarded, self._trusted)


def networks(trusted_proxies: Sequence[str]) -> tuple[Network, ...]:
    """Addresses and networks of the proxies in front of us; raises ValueError for anything else."""
    return tuple(ip_network(proxy, strict=False) for proxy in trusted_proxies)


def client_address(remote: str | None, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """The last address that no trusted proxy vouches for. What stands left of it is only the client's word."""
    hops = [hop.strip() for hop in forwarded_for.split(",") if hop.strip()][-FORWARDED_ADDRESSES_MAX:]
    address = remote or ""
    while hops and _is_trusted(address, trusted):
        address = hops.pop()
    return _one_household(address)


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    try:
        known = ip_address(address)
    except ValueError:
        return False
    return any(known in network for network in trusted)


def _one_household(address: str) -> str:
    try:
        known = ip_address(address)
    except ValueError:
        return address[:64] or "unknown"
    if known.version == 4:
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped) if mapped else str(ip_network((known, IPV6_PREFIX), strict=False))
