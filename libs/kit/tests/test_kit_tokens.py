"""Signing and checking tokens. Open this when a bad token passes."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from darbar_kit import tokens
from darbar_kit.errors import Refused
from darbar_kit.tokens import Claims, TokenReader, TokenWriter, new_private_key_pem, public_key_pem

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
PRIVATE_KEY = new_private_key_pem()
ANN = Claims(account_id="a1", name="Ann", avatar="fox", role="player")


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def pair(private_key: str = PRIVATE_KEY) -> tuple[TokenWriter, TokenReader, Clock]:
    clock = Clock()
    return TokenWriter(private_key, clock=clock), TokenReader(public_key_pem(PRIVATE_KEY), clock=clock), clock


def test_what_was_written_is_read() -> None:
    writer, reader, _ = pair()

    claims = reader.read(writer.write(ANN))

    assert claims == Claims("a1", "Ann", "fox", "player", NOW + timedelta(seconds=900))


def test_a_token_may_end_sooner_than_usual() -> None:
    writer, reader, _ = pair()
    soon = NOW + timedelta(seconds=5)

    assert reader.read(writer.write(Claims("a1", "Ann", "fox", "player", soon))).expires_at == soon


def test_a_token_that_has_ended_is_refused_also_when_it_is_remembered() -> None:
    writer, reader, clock = pair()
    token = writer.write(ANN)
    reader.read(token)

    clock.now += timedelta(seconds=900)

    with pytest.raises(Refused, match="token_expired") as caught:
        reader.read(token)
    assert caught.value.status == 401


def test_a_token_of_another_key_is_refused() -> None:
    writer, reader, _ = pair(new_private_key_pem())

    with pytest.raises(Refused, match="token_invalid"):
        reader.read(writer.write(ANN))


def test_a_changed_token_is_refused() -> None:
    writer, reader, _ = pair()
    head, body, signature = writer.write(ANN).split(".")
    other_body = writer.write(Claims("a1", "Ann", "fox", "admin")).split(".")[1]
    assert body != other_body

    with pytest.raises(Refused, match="token_invalid"):
        reader.read(f"{head}.{other_body}.{signature}")


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "ü.ü.ü", "a" * 5000])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Refused, match="token_invalid"):
        pair()[1].read(token)


def test_a_token_without_a_signature_is_refused() -> None:
    claims = {"iss": "darbar", "sub": "a1", "name": "", "avatar": "", "role": "admin", "exp": 2_000_000_000}

    with pytest.raises(Refused, match="token_invalid"):
        pair()[1].read(jwt.encode(claims, "", algorithm="none"))


def test_a_token_signed_with_the_public_key_as_a_password_is_refused() -> None:
    claims = {"iss": "darbar", "sub": "a1", "name": "", "avatar": "", "role": "admin", "exp": 2_000_000_000}
    # The library refuses to make such a token, so the key is written in another form.
    token = jwt.encode(claims, public_key_pem(PRIVATE_KEY).encode().hex(), algorithm="HS256")

    with pytest.raises(Refused, match="token_invalid"):
        pair()[1].read(token)


def test_only_so_many_tokens_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "TOKENS_REMEMBERED_MAX", 2)
    writer, reader, _ = pair()

    for number in range(5):
        reader.read(writer.write(Claims(f"a{number}", "Ann", "fox", "player")))

    assert reader.remembered == 2


def test_a_key_of_another_kind_is_not_taken() -> None:
    other = ec.generate_private_key(ec.SECP256R1()).public_key()
    pem = other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    with pytest.raises(TypeError, match="Ed25519"):
        TokenReader(pem.decode())


def test_an_account_that_is_shut_out_has_no_good_token_until_those_of_before_have_ended() -> None:
    now = [NOW]
    private = new_private_key_pem()
    writer = TokenWriter(private, clock=lambda: now[0])
    reader = TokenReader(public_key_pem(private), clock=lambda: now[0])
    ann, bob = (writer.write(Claims(name, name, "fox", "player")) for name in ("ann", "bob"))
    reader.read(ann)
    reader.shut_out("ann", Refused("banned"))
    with pytest.raises(Refused, match="banned"):
        reader.read(ann)
    assert reader.read(bob).account_id == "bob"
    reader.let_in("ann")
    assert reader.read(ann).account_id == "ann"
    reader.shut_out_only({"bob": Refused("banned")})
    assert reader.read(ann).account_id == "ann"
    with pytest.raises(Refused, match="banned"):
        reader.read(bob)
    reader.shut_out("ann", Refused("banned"))
    now[0] += timedelta(seconds=tokens.ACCESS_SECONDS)
    assert reader.read(writer.write(Claims("ann", "ann", "fox", "player"))).account_id == "ann"
