"""What the demo proves after a game, each as one line that is true or not. Open this when a check fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from darbar_client.demo.coins import LoggedCoins
from darbar_client.demo.playing import Participant, Seen
from darbar_client.errors import DarbarError
from darbar_client.proofs.verify import verify_chain, verify_deals, verify_views
from darbar_contracts.api import Replay, TableAudit
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import alias_of
from darbar_contracts.wallet import WalletEntry
from darbar_rules.game import Refusal

FIRST_COINS = 5000
AUDIT_SECONDS_MAX = 60.0
AUDIT_PAUSE_SECONDS = 0.5
DIFFERENCES_SHOWN = 5


class Check(msgspec.Struct, frozen=True):
    """One claim: `said` is what was looked at, `wrong` what was found against it."""

    claim: str
    said: str
    wrong: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.wrong


class Ledger(msgspec.Struct, frozen=True):
    """A player's own coins as the wallet tells them."""

    name: str
    account_id: str
    balance_coins: int
    reserved_coins: int
    in_pots_coins: int
    entries: tuple[WalletEntry, ...]


class Evidence(msgspec.Struct, frozen=True):
    """Everything that was gathered when the game was over."""

    replay: Replay
    seen: tuple[Seen, ...]
    audit: TableAudit
    ledgers: tuple[Ledger, ...]
    has_bots: bool


async def gather(participants: list[Participant], *, has_bots: bool) -> Evidence:
    """Asks the server for its log, its audits and the ledgers."""
    first = participants[0]
    audit = await _audit(first)
    return Evidence(
        replay=await first.player.replay(first.table.table_id),
        seen=tuple(seen for participant in participants for seen in participant.seen),
        audit=audit,
        ledgers=tuple([await _ledger(participant) for participant in participants]),
        has_bots=has_bots,
    )


def checks(evidence: Evidence) -> tuple[Check, ...]:
    """Every check, true or not."""
    return (_replay(evidence), _chain(evidence), _deals(evidence), _coins(evidence))


def _replay(evidence: Evidence) -> Check:
    report = verify_views(evidence.replay, evidence.seen)
    wrong = list(report.differences[:DIFFERENCES_SHOWN])
    if not report.frames or not report.views:
        wrong.append("nothing was compared")
    if not evidence.audit.replay_equals_live:
        wrong.append("the server's replay is not the server's state")
    said = f"{report.events} events, {report.frames} frames and {report.views} views compared; the server says the same"
    return Check("the log replayed gives what every seat was shown", said, tuple(wrong))


def _chain(evidence: Evidence) -> Check:
    report = verify_chain(evidence.replay)
    wrong = [] if report.holds else [f"broken at version {report.wrong_version}"]
    if not evidence.audit.chain_holds:
        wrong.append("the server's own check fails")
    said = f"{report.events} links made again, {report.withheld} of them over a secret"
    return Check("the chain over the log holds", said, tuple(wrong))


def _deals(evidence: Evidence) -> Check:
    reports = verify_deals(evidence.replay)
    wrong = [f"round {report.round}: {found}" for report in reports for found in report.differences]
    if not reports:
        wrong.append("no round is over")
    strings = sum(report.strings for report in reports)
    said = f"{len(reports)} rounds dealt again, with {strings} strings of the players' own"
    return Check("every deal follows from its seeds", said, tuple(wrong[:DIFFERENCES_SHOWN]))


def _coins(evidence: Evidence) -> Check:
    total = sum(ledger.balance_coins for ledger in evidence.ledgers)
    entries = sum(len(ledger.entries) for ledger in evidence.ledgers)
    said = f"{len(evidence.ledgers)} players hold {total} coins: {entries} entries, as the log has it"
    return Check("the coins add up", said, tuple(_wrong_coins(evidence)))


def _wrong_coins(evidence: Evidence) -> Iterator[str]:
    logged = LoggedCoins(evidence.replay)
    for ledger in evidence.ledgers:
        first = sum(entry.coins for entry in ledger.entries if entry.reason == "new_account")
        others = sum(entry.coins for entry in ledger.entries if entry.reason != "new_account")
        if first != FIRST_COINS or ledger.balance_coins != first + others:
            yield f"{ledger.name}: {ledger.balance_coins} is not {first} + {others}"
        if ledger.reserved_coins or ledger.in_pots_coins:
            yield f"{ledger.name}: coins still lie at a table"
        by_log = logged.by_alias[alias_of(evidence.replay.table_id, ledger.account_id)]
        if others != by_log:
            yield f"{ledger.name}: {others} by the ledger, {by_log} by the log"
    total = sum(ledger.balance_coins for ledger in evidence.ledgers)
    if not evidence.has_bots and total + logged.lost_to_house != FIRST_COINS * len(evidence.ledgers):
        yield f"all players together hold {total}"


async def _audit(participant: Participant) -> TableAudit:
    """The table may need a moment to come to rest, and others may be having theirs audited."""
    async with asyncio.timeout(AUDIT_SECONDS_MAX):
        while True:
            try:
                return await participant.player.audit(participant.table.table_id)
            except DarbarError as error:
                if error.code not in {Refusal.NOT_NOW, Reason.TOO_MANY_REQUESTS}:
                    raise
            await asyncio.sleep(AUDIT_PAUSE_SECONDS)


async def _ledger(participant: Participant) -> Ledger:
    wallet = await participant.player.wallet()
    return Ledger(
        name=participant.player.name,
        account_id=participant.player.account.id,
        balance_coins=wallet.balance_coins,
        reserved_coins=wallet.reserved_coins,
        in_pots_coins=wallet.in_pots_coins,
        entries=await participant.player.ledger(),
    )
