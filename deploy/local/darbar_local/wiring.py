"""Which settings a service gets on one machine. Open this when a service needs one more.

They are variables, as in a cluster: the same mapping serves one process and several, and whatever is already in the
environment wins, so DARBAR_TERMS_TURN_SECONDS_MAX=10 works with `darbar up` too.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from darbar_kit.database.provision import DatabaseUrls
from darbar_kit.seals import KEY_CHARACTERS_MIN
from darbar_kit.settings import names
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_local.services import ALL, Service

TRUSTED_PROXIES = '["127.0.0.1", "::1"]'
# Where nobody else can reach us, everybody comes from one address: the service's own limit would stop the second demo.
GUESTS_AN_HOUR_MAX_OF_ONE_MACHINE = "500"
RULES_FOLDER = Path(__file__).parents[3] / "docs" / "rules"


# A first start on a slow machine; then something is wrong.
READY_SECONDS_MAX = 60.0


class Wiring(msgspec.Struct, frozen=True, kw_only=True):
    """What was made for the services at this start."""

    databases: Mapping[str, DatabaseUrls]
    nats_urls: Mapping[str, str]
    token_private_key: str
    ticket_key: str
    own_url: str
    """Where this machine reaches the public port."""
    public_url: str
    """Where players do."""
    unsafe_storage: bool
    generation: int = 1
    ready_seconds_max: float = READY_SECONDS_MAX
    behind_gateway: bool = False
    # Only this machine can reach the public port.
    is_private: bool = True


def variables(service: Service, wiring: Wiring, *, address: str, given: Mapping[str, str]) -> dict[str, str]:
    """The variables of a service that is reached at `address`; `given` ones win."""
    made = {"nats_url": wiring.nats_urls[service.name]}
    if service.database:
        made["database_url"] = wiring.databases[service.name].service_url
        made["unsafe_storage"] = str(int(wiring.unsafe_storage))
    if service.name in ("table", "wallet"):
        made["generation"] = str(wiring.generation)
    match service.name:
        case "lobby":
            made |= {"token_private_key": wiring.token_private_key, "public_url": wiring.public_url}
            made |= {"rules_folder": str(RULES_FOLDER)}
            if wiring.is_private:
                made["guests_an_hour_max"] = GUESTS_AN_HOUR_MAX_OF_ONE_MACHINE
            if wiring.behind_gateway:
                # The gateway tells who really asks; limits by address need to know.
                made["trusted_proxies"] = TRUSTED_PROXIES
        case "table":
            made |= {"token_public_key": public_key_pem(wiring.token_private_key), "process_address": address}
            made["ticket_key"] = wiring.ticket_key
            if wiring.behind_gateway:
                made["trusted_proxies"] = TRUSTED_PROXIES
        case "wallet":
            made |= {"token_public_key": public_key_pem(wiring.token_private_key)}
            if wiring.behind_gateway:
                made["trusted_proxies"] = TRUSTED_PROXIES
        case "media":
            made |= {"token_public_key": public_key_pem(wiring.token_private_key), "ticket_key": wiring.ticket_key}
            if wiring.behind_gateway:
                made["trusted_proxies"] = TRUSTED_PROXIES
        case _:
            pass
    # Some are shared by several services and have a prefix of their own.
    known = names(service.settings_type, service.prefix)
    return {service.prefix + name.upper(): value for name, value in made.items()} | {
        name: value for name, value in given.items() if (name.startswith(service.prefix) or name in known) and value
    }


def example() -> Wiring:
    """For looking at settings before anything is there."""
    return Wiring(
        databases={service.name: DatabaseUrls("x", "x", "x") for service in ALL if service.database},
        nats_urls={service.name: "x" for service in ALL},
        token_private_key=new_private_key_pem(),
        ticket_key="x" * KEY_CHARACTERS_MIN,
        own_url="http://127.0.0.1:1",
        public_url="http://127.0.0.1:1",
        unsafe_storage=False,
    )
