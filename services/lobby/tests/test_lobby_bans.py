"""Bans, names that are taken back, what one gets of the own data, and accounts that are no more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from lobby_administrators import by_owner
from lobby_doubles import Caller, LobbyServer

from darbar_contracts.lobby import AccountShutOut, ShutOutsAnswer, ShutOutsRequest
from darbar_contracts.subjects import (
    LOBBY_SHUT_OUT,
    LOBBY_SHUT_OUTS,
    MEDIA_BAN_VOICE,
    MEDIA_JUDGE_NOTE,
    MEDIA_LIFT_VOICE_BAN,
    MEDIA_NOTE_LINK,
    MEDIA_QUEUE,
    MEDIA_REPORTED_NOTES,
    MEDIA_VOICE_RIGHTS,
)
from darbar_contracts.voice import (
    BanVoice,
    JudgeNote,
    LiftVoiceBan,
    NoteJudged,
    NoteLink,
    NoteLinkRequest,
    ReportedNotes,
    ReportedNotesRequest,
    VoiceRights,
    VoiceRightsRequest,
)
from darbar_kit.bus import Bus
from darbar_kit.tokens import ACCESS_SECONDS, TokenReader, public_key_pem
from darbar_lobby.handlers import questions

NOTE = "6513270e-269e-4d37-b2a7-4de452e6b438"
TOLD_SECONDS_MAX = 10.0


class Media:
    """Media, as far as moderators ask it."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def serve(self, bus: Bus) -> None:
        await bus.serve(MEDIA_BAN_VOICE, BanVoice, self._rights, queue=MEDIA_QUEUE)
        await bus.serve(MEDIA_LIFT_VOICE_BAN, LiftVoiceBan, self._rights, queue=MEDIA_QUEUE)
        await bus.serve(MEDIA_VOICE_RIGHTS, VoiceRightsRequest, self._rights, queue=MEDIA_QUEUE)
        await bus.serve(MEDIA_REPORTED_NOTES, ReportedNotesRequest, self._reported, queue=MEDIA_QUEUE)
        await bus.serve(MEDIA_NOTE_LINK, NoteLinkRequest, self._link, queue=MEDIA_QUEUE)
        await bus.serve(MEDIA_JUDGE_NOTE, JudgeNote, self._judge, queue=MEDIA_QUEUE)

    async def _rights(self, request: BanVoice | LiftVoiceBan | VoiceRightsRequest) -> VoiceRights:
        self.asked.append(request)
        return VoiceRights(request.account_id)

    async def _reported(self, request: ReportedNotesRequest) -> ReportedNotes:
        self.asked.append(request)
        return ReportedNotes(())

    async def _link(self, request: NoteLinkRequest) -> NoteLink:
        self.asked.append(request)
        return NoteLink(f"/v1/voice-notes/{request.note_id}?ticket=x", 60)

    async def _judge(self, request: JudgeNote) -> NoteJudged:
        self.asked.append(request)
        return NoteJudged(request.note_id, "a" * 32, request.judgement)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def media(lobby: LobbyServer) -> AsyncIterator[Media]:
    bus = await Bus.connect(lobby.nats.url("media"), name="media")
    served = Media()
    await served.serve(bus)
    yield served
    await bus.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shut_out(lobby: LobbyServer) -> asyncio.Queue[AccountShutOut]:
    """What table processes are told."""
    told: asyncio.Queue[AccountShutOut] = asyncio.Queue()
    await lobby.table.bus.listen(LOBBY_SHUT_OUT, AccountShutOut, told.put)
    return told


async def next_told(shut_out: asyncio.Queue[AccountShutOut]) -> AccountShutOut:
    return await asyncio.wait_for(shut_out.get(), TOLD_SECONDS_MAX)


async def refreshed(caller: Caller) -> tuple[int, str]:
    reply = await caller.post("/v1/sessions", {"refresh_token": caller.refresh_token})
    return reply.status, reply.body.get("code", "")


def path_of(caller: Caller, what: str) -> str:
    return f"/v1/admin/accounts/{caller.account['id']}{what}"


async def test_who_is_banned_from_tables_makes_none_and_has_another_role(
    lobby: LobbyServer, admin: Caller, shut_out: asyncio.Queue[AccountShutOut]
) -> None:
    guest = await lobby.guest()
    ban = {"scope": "tables", "reason": "insults", "hours": 24}
    assert (await admin.post(path_of(guest, "/bans"), ban)).status == 204
    told = await next_told(shut_out)
    assert (told.account_id, told.code, told.message, told.is_over) == (guest.account["id"], "banned", "insults", False)
    refused = await guest.make_table(lobby.key())
    assert (refused.status, refused.code, refused.body["details"]["reason"]) == (403, "banned", "insults")
    assert refused.body["details"]["until"] is not None
    quick = {"game": "court_piece", "bet_coins": 100}
    assert (await guest.post("/v1/quick-play", quick)).code == "banned"
    assert (await guest.get("/v1/me")).status == 200, "looking around is no offence"
    renewed = await guest.post("/v1/sessions", {"refresh_token": guest.refresh_token})
    reader = TokenReader(public_key_pem(lobby.settings.token_private_key))
    assert reader.read(renewed.body["access_token"]).role == "banned"
    lifted = await admin.post(path_of(guest, "/bans/lift"), {"scope": "tables", "reason": "a mistake"})
    assert lifted.status == 204
    assert (await next_told(shut_out)).is_over
    assert (await guest.make_table(lobby.key())).status == 201


async def test_who_is_banned_from_everything_is_signed_out_everywhere(
    lobby: LobbyServer, admin: Caller, shut_out: asyncio.Queue[AccountShutOut]
) -> None:
    guest = await lobby.guest()
    login = {"name_login": "nadia_banned", "password": "seven mangoes at noon"}
    assert (await guest.ask("PATCH", "/v1/me", login)).status == 200
    assert (await admin.post(path_of(guest, "/bans"), {"scope": "all", "reason": "cheating"})).status == 204
    assert (await next_told(shut_out)).account_id == guest.account["id"]
    assert await refreshed(guest) == (401, "refresh_token_revoked")
    signed_in = await lobby.stranger().post("/v1/sessions", login)
    assert (signed_in.status, signed_in.code, signed_in.body["details"]["until"]) == (403, "banned", None)
    assert (await guest.get("/v1/me")).code == "banned"


async def shut_outs(lobby: LobbyServer) -> dict[str, tuple[str, str]]:
    """Code and message by account, as a table process asks for them, page by page."""
    found: dict[str, tuple[str, str]] = {}
    page = ShutOutsAnswer((), more=True)
    while page.more:
        after = page.accounts[-1].account_id if page.accounts else ""
        request = ShutOutsRequest(after)
        page = await lobby.table.bus.request(LOBBY_SHUT_OUTS, request, ShutOutsAnswer, timeout_seconds=5)
        found.update({one.account_id: (one.code, one.message) for one in page.accounts})
    return found


async def test_a_table_process_that_was_not_told_asks_whose_tokens_are_good_no_more(
    lobby: LobbyServer,
    admin: Caller,
    shut_out: asyncio.Queue[AccountShutOut],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(questions, "SHUT_OUTS_A_PAGE", 1)
    tables, everything, lifted, over, earlier, deleted, nobody = [await lobby.guest() for _ in range(7)]
    for guest, scope in ((tables, "tables"), (everything, "all"), (lifted, "all"), (over, "all"), (earlier, "all")):
        await admin.post(path_of(guest, "/bans"), {"scope": scope, "reason": f"banned from {scope}", "hours": 1})
    await admin.post(path_of(lifted, "/bans/lift"), {"scope": "all", "reason": "a mistake"})
    await by_owner(lobby, "UPDATE ban SET until = now() WHERE account_id = $1", over.account["id"])
    ago = "UPDATE ban SET since = now() - $2 * interval '1 second' WHERE account_id = $1"
    await by_owner(lobby, ago, earlier.account["id"], ACCESS_SECONDS + 61)
    await by_owner(lobby, ago, everything.account["id"], ACCESS_SECONDS)
    await deleted.ask("DELETE", "/v1/me", {"handle": (await deleted.get("/v1/me/profile")).body["handle"]})
    told = await shut_outs(lobby)
    asked_for = [told.get(guest.account["id"]) for guest in (tables, everything, lifted, over, earlier, nobody)]
    assert asked_for == [("banned", "banned from tables"), ("banned", "banned from all"), None, None, None, None]
    assert told[deleted.account["id"]][0] == "account_unknown"
    for _ in range(7):
        await next_told(shut_out)


async def test_a_ban_ends_when_its_time_is_over(
    lobby: LobbyServer, admin: Caller, shut_out: asyncio.Queue[AccountShutOut]
) -> None:
    guest = await lobby.guest()
    await admin.post(path_of(guest, "/bans"), {"scope": "all", "reason": "insults", "hours": 1})
    await next_told(shut_out)
    assert (await guest.get("/v1/me")).code == "banned"
    await by_owner(lobby, "UPDATE ban SET until = now() WHERE account_id = $1", guest.account["id"])
    assert (await guest.get("/v1/me")).status == 200


async def test_a_ban_from_voice_notes_is_medias(lobby: LobbyServer, admin: Caller, media: Media) -> None:
    guest = await lobby.guest()
    account_id = guest.account["id"]
    ban = {"scope": "voice", "reason": "shouting", "hours": 2}
    assert (await admin.post(path_of(guest, "/bans"), ban)).status == 204
    assert (await admin.post(path_of(guest, "/bans/lift"), {"scope": "voice", "reason": "sorry"})).status == 204
    assert media.asked[-2:] == [BanVoice(account_id, "shouting", 2), LiftVoiceBan(account_id)]
    assert (await guest.make_table(lobby.key())).status == 201


async def test_reported_notes_are_heard_and_judged(lobby: LobbyServer, admin: Caller, media: Media) -> None:
    assert (await admin.get("/v1/admin/voice-notes?limit=5")).body == {"notes": [], "next": None}
    assert (await admin.get(f"/v1/admin/voice-notes/{NOTE}/link")).body["seconds"] == 60
    judged = await admin.post(f"/v1/admin/voice-notes/{NOTE}/judgement", {"judgement": "deleted", "reason": "rude"})
    assert judged.body["judgement"] == "deleted"
    assert media.asked[-3:] == [ReportedNotesRequest(5), NoteLinkRequest(NOTE), JudgeNote(NOTE, "deleted")]
    log = (await admin.get(f"/v1/admin/audit-log?subject=note:{NOTE}")).body["entries"]
    assert len(log) == 2, "listening is noted too"


async def test_an_account_is_seen_with_all_that_concerns_it(lobby: LobbyServer, admin: Caller, media: Media) -> None:
    guest = await lobby.guest()
    table_id = (await guest.make_table(lobby.key())).body["table_id"]
    handle = (await guest.get("/v1/me/profile")).body["handle"]
    for named in (guest.account["id"], handle):
        seen = (await admin.get(f"/v1/admin/accounts/{named}")).body
        assert (seen["account"]["account_id"], seen["seated_at"]) == (guest.account["id"], table_id)
        assert (len(seen["sessions"]), seen["bans"], seen["voice_ban"], seen["quits"]) == (1, [], None, [])
    for nobody in ("0" * 32, "0" * 20, "x"):
        assert (await admin.get(f"/v1/admin/accounts/{nobody}")).code == "player_unknown"


async def test_a_name_is_taken_back_and_the_log_has_both(lobby: LobbyServer, admin: Caller) -> None:
    guest = await lobby.guest(name="Zoya")
    reset = await admin.post(path_of(guest, "/name-reset"), {"reason": "an insult in another language"})
    name = (await guest.get("/v1/me")).body["account"]["name"]
    assert (reset.status, reset.body["name"], name != "Zoya") == (200, name, True)
    [entry] = (await admin.get(f"/v1/admin/audit-log?subject=account:{guest.account['id']}")).body["entries"]
    assert '"before":"Zoya"' in entry["body"]


@pytest.mark.parametrize(
    ("what", "body", "code"),
    [
        ("/bans", {"scope": "tables"}, "body_invalid"),
        ("/bans", {"scope": "moon", "reason": "x"}, "body_invalid"),
        ("/bans", {"scope": "tables", "reason": "x", "hours": 0}, "body_invalid"),
        ("/bans/lift", {"scope": "tables", "reason": "x"}, "ban_unknown"),
    ],
)
async def test_what_is_no_ban(lobby: LobbyServer, admin: Caller, what: str, body: dict[str, object], code: str) -> None:
    guest = await lobby.guest()
    assert (await admin.post(path_of(guest, what), body)).code == code


async def test_everybody_gets_what_is_kept_of_them(lobby: LobbyServer) -> None:
    guest, other = await lobby.guest(), await lobby.guest()
    handle = (await other.get("/v1/me/profile")).body["handle"]
    await guest.post("/v1/me/blocks", {"handle": handle})
    data = (await guest.get("/v1/me/export")).body
    assert data["account"] == guest.account
    assert ([one["handle"] for one in data["blocked"]], len(data["sessions"])) == ([handle], 1)
    assert data["ledger"] == "/v1/me/wallet/entries.csv"


async def test_a_deleted_account_is_nobodys_any_more(
    lobby: LobbyServer, admin: Caller, shut_out: asyncio.Queue[AccountShutOut]
) -> None:
    guest, other = await lobby.guest(), await lobby.guest()
    login = {"name_login": "leaving_for_good", "password": "seven mangoes at noon"}
    await guest.ask("PATCH", "/v1/me", login)
    handle = (await guest.get("/v1/me/profile")).body["handle"]
    await other.post("/v1/me/blocks", {"handle": handle})
    confirmed = {"handle": handle, "password": login["password"]}
    assert (await guest.ask("DELETE", "/v1/me", confirmed | {"handle": "0" * 20})).code == "confirmation_wrong"
    assert (await guest.ask("DELETE", "/v1/me", confirmed | {"password": "wrong"})).code == "credentials_wrong"
    assert (await guest.ask("DELETE", "/v1/me", confirmed)).status == 204
    assert (await next_told(shut_out)).code == "account_unknown"
    assert (await guest.get("/v1/me")).code == "account_unknown"
    assert await refreshed(guest) == (401, "refresh_token_invalid")
    assert (await lobby.stranger().post("/v1/sessions", login)).code == "credentials_wrong"
    assert (await other.get("/v1/me/blocks")).body["blocked"] == []
    assert (await lobby.stranger().get(f"/v1/players/{handle}")).body["name"] == "Deleted player"
    seen = (await admin.get(path_of(guest, ""))).body["account"]
    assert (seen["name"], seen["name_login"], seen["deleted_at"] is not None) == ("Deleted player", None, True)
    taken_again = await (await lobby.guest()).ask("PATCH", "/v1/me", login)
    assert taken_again.status == 200
