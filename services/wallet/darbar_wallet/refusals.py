"""What the wallet says when it gives no answer. Open this to add a code; the ledger's own reasons are in contracts."""

from __future__ import annotations

from enum import StrEnum


class HttpReason(StrEnum):
    """Why HTTP refuses. Sent to clients: add one, never rename one."""

    QUERY_INVALID = "query_invalid"


class OutageReason(StrEnum):
    """Why there is no answer now; asking again is right. Sent to services and clients: add one, never rename one."""

    WALLET_BUSY = "wallet_busy"
    WALLET_MOVED = "wallet_moved"
    STORAGE_UNREACHABLE = "storage_unreachable"
    REQUEST_FAILED = "request_failed"
