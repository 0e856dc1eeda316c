"""Databases and roles of services. Open this when one service can reach another's data."""

from urllib.parse import urlsplit

import asyncpg
import pytest

from darbar_kit.database.provision import ensure_role, provision, url_for


async def role_flags(admin_url: str, role: str) -> dict[str, bool]:
    admin = await asyncpg.connect(admin_url)
    query = "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = $1"
    row = await admin.fetchrow(query, role)
    await admin.close()
    assert row is not None
    return dict(row)


async def test_the_service_may_log_in_to_its_database_and_nothing_else(postgres_server: str) -> None:
    shop = await provision(postgres_server, "corner_shop", owner_password="o", service_password="s")
    bank = await provision(postgres_server, "corner_bank", owner_password="o", service_password="s")

    service = await asyncpg.connect(shop.service_url)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await service.execute("CREATE TABLE item (name text)")
    await service.close()
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await asyncpg.connect(url_for(bank.service_url, database="corner_bank", user=shop.service_role, password="s"))
    assert not any((await role_flags(postgres_server, shop.service_role)).values())
    assert not any((await role_flags(postgres_server, "corner_shop_owner")).values())


async def test_the_owner_may_change_tables(postgres_server: str) -> None:
    urls = await provision(postgres_server, "garden", owner_password="o", service_password="s")

    owner = await asyncpg.connect(urls.owner_url)
    await owner.execute("CREATE TABLE item (name text)")
    await owner.close()


async def test_provisioning_again_keeps_the_data_and_takes_the_new_password(postgres_server: str) -> None:
    first = await provision(postgres_server, "attic", owner_password="o", service_password="old")
    owner = await asyncpg.connect(first.owner_url)
    await owner.execute("CREATE TABLE item (name text)")
    await owner.close()

    second = await provision(postgres_server, "attic", owner_password="o", service_password="n'e\\w@:/ü")

    service = await asyncpg.connect(second.service_url)
    assert await service.fetchval("SELECT to_regclass('item') IS NOT NULL")
    assert await service.fetchval("SHOW statement_timeout") == "5s"
    await service.close()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(first.service_url)


async def test_an_admin_who_is_no_superuser_is_enough(postgres_server: str) -> None:
    admin = await asyncpg.connect(postgres_server)
    await ensure_role(admin, "landlord", "l")
    await admin.execute("ALTER ROLE landlord CREATEDB CREATEROLE INHERIT")
    await admin.close()
    landlord_url = url_for(postgres_server, database="postgres", user="landlord", password="l")

    urls = await provision(landlord_url, "rented_shop", owner_password="o", service_password="s")
    await provision(landlord_url, "rented_shop", owner_password="o", service_password="s")

    owner = await asyncpg.connect(urls.owner_url)
    await owner.execute("CREATE TABLE item (name text)")
    await owner.close()


@pytest.mark.parametrize("name", ["", "Shop", "1shop", "shop; drop", 'shop"'])
async def test_a_name_that_would_need_quotes_is_refused(postgres_server: str, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        await provision(postgres_server, name, owner_password="o", service_password="s")


def test_a_url_keeps_its_server_and_options() -> None:
    url = url_for("postgresql://a:b@[::1]:5433/x?sslmode=require", database="shop", user="s", password="p/@")

    assert url == "postgresql://s:p%2F%40@[::1]:5433/shop?sslmode=require"
    assert urlsplit(url).port == 5433
