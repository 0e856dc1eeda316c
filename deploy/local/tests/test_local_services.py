"""Which service owns a path, and what each is told. Open this when a route is added."""

import msgspec
import pytest

from darbar_contracts.tables import TermsLimits
from darbar_kit.database.provision import DatabaseUrls
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_local.services import BY_NAME, owner
from darbar_local.wiring import GUESTS_AN_HOUR_MAX_OF_ONE_MACHINE, Wiring, variables

KEY = new_private_key_pem()
WIRING = Wiring(
    databases=dict.fromkeys(
        ("table", "lobby"), DatabaseUrls("postgresql://owner", "postgresql://service", "tables_service")
    ),
    nats_urls={"table": "nats://table", "bot": "nats://bot", "lobby": "nats://lobby"},
    token_private_key=KEY,
    ticket_key="a key that nobody guesses",
    own_url="http://127.0.0.1:8080",
    public_url="http://here:8080",
    unsafe_storage=False,
)


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("/", ""),
        ("/healthz", ""),
        ("/v1", ""),
        ("/assets/cards.svg", ""),
        ("/v1/guests", "lobby"),
        ("/v1/tables", "lobby"),
        ("/v1/tables/7", "lobby"),
        ("/v1/tables/replay", "lobby"),
        ("/v1/tables/7/replay", "table"),
        ("/v1/tables/7/audit", "table"),
        ("/v1/tables/7/auditor", "lobby"),
        ("/v1/me", "lobby"),
        ("/v1/me/games", "lobby"),
        ("/v1/me/wallet", "wallet"),
        ("/v1/me/wallets", "lobby"),
        ("/v1/me/voice", "media"),
        ("/v1/voice-notes/1/report", "media"),
        ("/v1/me/wallet/entries.csv", "wallet"),
        ("/join/an-invite", "lobby"),
        ("/joins", ""),
        ("/play/tables/7/socket", "table"),
        ("/play/at/p1/tables/7/socket", "table"),
        ("/playground", ""),
    ],
)
def test_each_path_has_one_owner(path: str, service: str) -> None:
    assert owner(path) == service


def test_a_service_is_told_what_it_needs_and_no_more() -> None:
    told = variables(BY_NAME["table"], WIRING, address="127.0.0.1:9000", given={"PATH": "/bin"})

    assert told == {
        "DARBAR_TABLE_NATS_URL": "nats://table",
        "DARBAR_TABLE_DATABASE_URL": "postgresql://service",
        "DARBAR_TABLE_UNSAFE_STORAGE": "0",
        "DARBAR_TABLE_TOKEN_PUBLIC_KEY": public_key_pem(KEY),
        "DARBAR_TABLE_PROCESS_ADDRESS": "127.0.0.1:9000",
        "DARBAR_TABLE_TICKET_KEY": "a key that nobody guesses",
        "DARBAR_TABLE_GENERATION": "1",
    }


def test_only_the_lobby_is_told_the_private_key() -> None:
    told = {name: variables(BY_NAME[name], WIRING, address="x:1", given={}) for name in ("lobby", "table", "bot")}

    assert {name for name, values in told.items() if KEY in values.values()} == {"lobby"}


def test_what_is_given_is_stronger() -> None:
    given = {"DARBAR_TABLE_COUNT_IN_SECONDS": "1", "DARBAR_TABLE_PROCESS_ADDRESS": "y:2", "DARBAR_LOBBY_X": "1"}

    told = variables(BY_NAME["table"], WIRING, address="x:1", given=given)

    assert (told["DARBAR_TABLE_COUNT_IN_SECONDS"], told["DARBAR_TABLE_PROCESS_ADDRESS"]) == ("1", "y:2")
    assert "DARBAR_LOBBY_X" not in told


def test_what_a_table_may_agree_on_is_told_to_lobby_and_table_alike() -> None:
    given = {"DARBAR_TERMS_TURN_SECONDS_MIN": "1", "DARBAR_TERMS_BET_COINS_MAX": "2000", "DARBAR_TERMS_X": "1"}
    terms = TermsLimits(turn_seconds_min=1, bet_coins_max=2000)

    for name in ("lobby", "table"):
        told = variables(BY_NAME[name], WIRING, address="x:1", given=given)
        assert getattr(BY_NAME[name].settings(told), "terms") == terms  # noqa: B009  # Of either type.
        assert "DARBAR_TERMS_X" not in told
    assert not set(given) & set(variables(BY_NAME["bot"], WIRING, address="x:1", given=given))


def test_an_empty_variable_counts_as_not_given() -> None:
    told = variables(BY_NAME["lobby"], WIRING, address="x:1", given={"DARBAR_LOBBY_PUBLIC_URL": ""})

    assert told["DARBAR_LOBBY_PUBLIC_URL"] == "http://here:8080"


def test_limits_are_those_of_production_but_for_guests_where_nobody_else_comes() -> None:
    private = variables(BY_NAME["lobby"], WIRING, address="x:1", given={})
    public = variables(BY_NAME["lobby"], msgspec.structs.replace(WIRING, is_private=False), address="x:1", given={})
    others = variables(BY_NAME["table"], WIRING, address="x:1", given={})

    assert private.items() - public.items() == {
        ("DARBAR_LOBBY_GUESTS_AN_HOUR_MAX", GUESTS_AN_HOUR_MAX_OF_ONE_MACHINE),
    }
    assert not [name for name in {**public, **others} if name.endswith("_MAX")]
