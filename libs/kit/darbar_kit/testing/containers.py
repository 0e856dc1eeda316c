"""Servers in containers, for test runs with DARBAR_TEST_CONTAINERS=1. Open this when an image changes."""

from collections.abc import Iterator
from contextlib import contextmanager

from testcontainers.community.nats import NatsContainer
from testcontainers.community.postgres import PostgresContainer
from testcontainers.core.config import testcontainers_config

POSTGRES_IMAGE = "postgres:18"
NATS_IMAGE = "nats:2.15"
_ADMIN = "darbar_admin"
# As the embedded server for tests: quick, and nobody will miss the data.
_POSTGRES_COMMAND = "postgres -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=200"


@contextmanager
def postgres() -> Iterator[str]:
    """The admin's URL of a PostgreSQL in a container."""
    _without_reaper()
    container = PostgresContainer(POSTGRES_IMAGE, username=_ADMIN, password=_ADMIN, dbname="postgres", driver=None)
    with container.with_command(_POSTGRES_COMMAND) as started:
        yield started.get_connection_url()


@contextmanager
def nats() -> Iterator[str]:
    """The URL of a NATS server with JetStream in a container."""
    _without_reaper()
    with NatsContainer(NATS_IMAGE, jetstream=True) as started:
        yield started.nats_uri()


def _without_reaper() -> None:
    # The reaper is one more image to pull; our containers end with the `with` block.
    testcontainers_config.ryuk_disabled = True
