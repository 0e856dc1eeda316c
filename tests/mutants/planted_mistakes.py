"""For each rule of docs/tables.md a mistake that its tests have to notice. Open this to plant another one."""

from __future__ import annotations

from typing import Final, NamedTuple


class Mistake(NamedTuple):
    """One place of a file, and what stands there instead. A later change of that place makes a new mistake needed."""

    rule: str
    path: str
    right: str
    wrong: str


LIFE: Final = "services/table/darbar_table/domain/life/"
TABLE: Final = "services/table/darbar_table/"
LOBBY: Final = "services/lobby/darbar_lobby/"
MEDIA: Final = "services/media/darbar_media/"
COINS: Final = "libs/rules/darbar_rules/coins.py"
WALLET: Final = "services/wallet/darbar_wallet/domain/decide.py"

MISTAKES: Final = (
    Mistake("TL-1", f"{LIFE}create.py", "if seats < seats_min:", "if seats < 0:"),
    Mistake("TL-2", f"{LIFE}seats.py", "name=told_apart(act.person.name, _names(table)),", "name=act.person.name,"),
    Mistake("TL-3", f"{LOBBY}domain/codes.py", "if not has_code and entry.code_opens:", "if entry.code_opens:"),
    Mistake("TL-4", f"{LIFE}seats.py", "(number not in host_team, number)", "number"),
    Mistake("TL-5", f"{LIFE}votes.py", "asks=_opponents,", "asks=_everybody,"),
    Mistake("TL-6", f"{LIFE}seats.py", "STAKES_FACTOR = 2", "STAKES_FACTOR = 1"),
    Mistake("TL-7", f"{LIFE}seats.py", "seat is None or alone != [seat] or", "seat is None or"),
    Mistake(
        "TL-8", f"{LIFE}seats.py", "if until is not None and until > now]", "if until is not None and until < now]"
    ),
    Mistake("TL-8", f"{TABLE}handlers/talk.py", "socket.account_id not in blockers and ", ""),
    Mistake("TL-8", f"{LOBBY}handlers/matchmaking.py", "if look is None or look.keeps_out:", "if look is None:"),
    Mistake("TL-9", f"{LIFE}count_in.py", "set(table.people) <= set(count_in.ready)", "bool(count_in.ready)"),
    Mistake("TL-10", f"{LIFE}count_in.py", "if seat != draft.table.host:", "if seat < 0:"),
    Mistake("TL-11", f"{LIFE}seats.py", "if table.phase not in RUNNING:", "if table.phase is Phase.WAITING:"),
    Mistake("TL-12", f"{LIFE}count_in.py", "seat for seat in table.seats if seat.away)", "seat for seat in () )"),
    Mistake("TL-13", f"{LIFE}seats.py", "STOPS_MAX = 3", "STOPS_MAX = 4"),
    Mistake("TL-14", f"{LIFE}rounds.py", "if any(seat.left for seat in draft.table.seats):", "if False:"),
    Mistake("TL-15", f"{TABLE}domain/timers.py", "float(table.terms.turn_seconds)", "1.0 + table.terms.turn_seconds"),
    Mistake("TL-16", f"{LIFE}play.py", "EXPIRIES_MAX = 5", "EXPIRIES_MAX = 6"),
    Mistake(
        "TL-16", f"{LIFE}play.py", "if (turn.round, turn.turn) != (timer.round, timer.turn):\n        return", "pass"
    ),
    Mistake("TL-17", f"{TABLE}domain/state.py", "self.bot is not None or self.away or", "self.bot is not None or"),
    Mistake(
        "TL-18", f"{LIFE}play.py", "except RuleRefused:\n            pass", "except RuleRefused:\n            return"
    ),
    Mistake(
        "TL-19",
        WALLET,
        "        lines.move(bet, player(seat.account_id), reserve(request.table_id), EntryReason.RESERVE)\n",
        "",
    ),
    Mistake("TL-20", COINS, "if result.losers_pay_again and seat not in", "if seat not in"),
    Mistake("TL-21", COINS, "rounding_coins=rounding,", "rounding_coins=0,"),
    Mistake("TL-22", COINS, "tuple(seat for seat in result.winners if seat in away)", "()"),
    Mistake(
        "TL-23", WALLET, "ledger.total(to) >= terms.top_up_below_coins", "ledger.total(to) > terms.top_up_below_coins"
    ),
    Mistake("TL-24", f"{LIFE}stakes.py", "* (len(table.seats) - len(back))", "* len(table.seats)"),
    Mistake("TL-25", f"{LIFE}seats.py", "        raise refused(TableReason.ROUND_RUNNING)", "        pass"),
    Mistake("TL-26", f"{LIFE}votes.py", "silence_agrees=True,", "silence_agrees=False,"),
    Mistake("TL-27", f"{LIFE}seats.py", "if other.free and not other.bot_barred]", "if other.free]"),
    Mistake("TL-28", f"{TABLE}domain/evolve.py", "counted=table.counted or table.shared,", "counted=True,"),
    Mistake(
        "TL-29",
        f"{LIFE}play.py",
        "    if held.away or held.bot_plays:\n        draft.add(events.PlayerCameBack(seat=seat))\n    own",
        "    own",
    ),
    Mistake("TL-30", f"{TABLE}engine/presence.py", "seconds=self._settings.offline_grace_seconds", "seconds=0.0"),
    Mistake("TL-31", f"{LIFE}rounds.py", "        seats.free_after_round(draft)", "        pass"),
    Mistake(
        "TL-32", f"{TABLE}settings.py", "keep_in_game_seconds: float = 600.0", "keep_in_game_seconds: float = 500.0"
    ),
    Mistake("TL-33", f"{TABLE}domain/decide.py", 'draft.add(events.TableClosed(reason="empty"))', "pass"),
    Mistake("TL-34", f"{LIFE}rounds.py", "away = seats.away(draft.table)", "away = ()"),
    Mistake(
        "TL-35", f"{LIFE}seats.py", "quits=table.staked and table.counted, act", "quits=counts_as_quit(table), act"
    ),
    Mistake("TL-36", f"{LIFE}seats.py", '"not_back", quits=counts_as_quit(table))', '"not_back", quits=False)'),
    Mistake("TL-37", f"{LIFE}seats.py", "seat.emptied_by not in (None, account_id)", "seat.emptied_by is not None"),
    Mistake(
        "TL-38",
        f"{TABLE}domain/timers.py",
        "settings.keep_in_game_seconds if table.started else settings.keep_before_game_seconds",
        "settings.keep_in_game_seconds",
    ),
    Mistake(
        "TL-38", f"{TABLE}domain/timers.py", "KeptSeatTimer(seat.since, table.started)", "KeptSeatTimer(seat.since)"
    ),
    Mistake(
        "TL-39",
        f"{LIFE}votes.py",
        "silence_agrees=False,\n        makes_sense=_game_goes_on",
        "silence_agrees=True,\n        makes_sense=_game_goes_on",
    ),
    Mistake(
        "TL-39",
        f"{LIFE}play.py",
        "if not is_this_turn or command.game not in (None, table.game):",
        "if not is_this_turn:",
    ),
    Mistake("TL-40", f"{LOBBY}queries.sql", "FROM maintenance WHERE NOT draining", "FROM maintenance"),
    Mistake(
        "TL-40", f"{TABLE}handlers/lobby_news/announcer.py", "if now.announcement != before.announcement:", "if False:"
    ),
    Mistake(
        "TL-41",
        f"{TABLE}engine/live_table.py",
        "return any(socket.account_id == account_id for socket in self.sockets)",
        "return False",
    ),
    Mistake("TL-42", f"{TABLE}handlers/gateway.py", "past = await self._past(live, version)", "past = None"),
    Mistake("TL-43", f"{TABLE}engine/table_timers.py", "(began[timer], today, outages)", "(began[timer], today, [])"),
    Mistake("TL-44", f"{TABLE}domain/visibility.py", 'if table.terms.visibility == "public" or', "if True or"),
    Mistake("TL-45", f"{TABLE}handlers/talk.py", " and (socket.account_id, account_id) not in live.mutes", ""),
    Mistake("TL-46", f"{TABLE}domain/microphone.py", "if not (table.started and table.counted):", "if False:"),
    Mistake(
        "TL-47",
        f"{TABLE}domain/microphone.py",
        "microphone.grant is not None and microphone.grant.account_id != account_id:",
        "False:",
    ),
    Mistake("TL-48", f"{MEDIA}engine/decoding.py", "SAMPLES_MAX = 7 * RATE_HERTZ", "SAMPLES_MAX = 8 * RATE_HERTZ"),
    Mistake(
        "TL-49",
        f"{TABLE}engine/microphones.py",
        "max(0, int((stored.plays_at - now).total_seconds() * 1000))",
        "0",
    ),
    Mistake(
        "TL-50",
        f"{MEDIA}handlers/listeners.py",
        "if self._now() > note.plays_at + timedelta(",
        "if self._now() > note.plays_at + timedelta(days=1) + timedelta(",
    ),
    Mistake("TL-51", f"{MEDIA}domain.py", "KEPT = timedelta(days=7)", "KEPT = timedelta(days=8)"),
    Mistake("TL-52", f"{MEDIA}domain.py", "ban.until <= now) else ban", "ban.until > now) else ban"),
    Mistake("TL-53", f"{MEDIA}handlers/listeners.py", "if account_id not in note.listeners:", "if False:"),
    Mistake("TL-54", f"{LOBBY}domain/statistics.py", "case SeatFreed(quit=True,", "case SeatFreed(quit=False,"),
)
