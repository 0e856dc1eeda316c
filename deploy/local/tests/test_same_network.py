"""Others in the same network play here, with and without TLS. Open this when a phone doesn't reach us."""

from __future__ import annotations

import re
import ssl
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from darbar_local.exit_codes import ExitCode
from darbar_local.gateway.certificate import certificate_for
from darbar_local.gateway.network import picture
from darbar_local.gateway.public_port import PublicPort, address_in_network, reserved
from darbar_local.testing import Darbar

HOME = "192.168.1.7"
LOOPBACK = "127.0.0.1"


@pytest.fixture
def public() -> Iterator[PublicPort]:
    with closing(reserved(LOOPBACK, 0, secure=(LOOPBACK, 0))) as made:
        yield made


def trusting(path: Path) -> ssl.SSLContext:
    """As a browser whose user has looked at this certificate and gone on."""
    return ssl.create_default_context(cafile=str(path))


def test_a_certificate_is_kept_so_that_a_browser_asks_once(tmp_path: Path) -> None:
    path = tmp_path / "certificate.pem"
    _, first = certificate_for(HOME, path)
    _, second = certificate_for(HOME, path)

    assert first == second
    assert re.fullmatch(r"([0-9A-F]{2}:){31}[0-9A-F]{2}", first)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_what_is_no_certificate_makes_room_for_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "certificate.pem"
    path.write_text(text)
    _, made = certificate_for(HOME, path)
    assert certificate_for(HOME, path)[1] == made


def test_another_address_gets_another_certificate(tmp_path: Path) -> None:
    path = tmp_path / "certificate.pem"
    assert certificate_for(HOME, path)[1] != certificate_for("192.168.1.8", path)[1]


async def test_both_ports_lead_to_the_same_app(public: PublicPort, tmp_path: Path) -> None:
    async def name(_request: web.Request) -> web.Response:
        return web.Response(text="the app")

    path = tmp_path / "certificate.pem"
    public.context, _ = certificate_for(LOOPBACK, path)
    app = web.Application()
    app.add_routes([web.get("/", name)])
    assert public.secure is not None
    secure_port = public.secure.getsockname()[1]

    runner = await public.listen(app)
    try:
        async with aiohttp.ClientSession() as session:
            for url in (f"http://{LOOPBACK}:{public.address[1]}/", f"https://{LOOPBACK}:{secure_port}/"):
                async with session.get(url, ssl=trusting(path)) as answered:
                    assert await answered.text() == "the app"
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await session.get(f"https://{LOOPBACK}:{secure_port}/")
    finally:
        await runner.cleanup()


def test_the_picture_is_a_square_with_a_quiet_rim() -> None:
    lines = [re.sub(r"\x1b\[[\d;]+m", "", line) for line in picture(f"https://{HOME}:8443")]
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines) == (len(lines[0]) + 1) // 2
    assert set(lines[0]) == {"█"}


async def test_with_tls_others_are_led_to_the_secure_port_and_the_plain_one_is_this_machines(
    darbar: Callable[..., Awaitable[Darbar]], data: Path, given: dict[str, str]
) -> None:
    address = address_in_network()
    up = await darbar(DARBAR_TLS="1", DARBAR_TLS_PORT="0", **given)
    if address is None:
        code, complaints = await up.end()
        assert (code, "in no network" in complaints) == (ExitCode.SETTINGS_WRONG, True)
        return
    own_url = await up.ready()
    told = (await up.tells("Others in this network play at")).split()[-1]

    assert re.fullmatch(rf"https://{re.escape(address)}:\d+", told)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{told}/v1/x", ssl=trusting(data / "certificate.pem")) as answered:
            assert (await answered.json())["public_url"] == told, "invites lead there"
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(f"{own_url.replace(LOOPBACK, address)}/v1/x")
