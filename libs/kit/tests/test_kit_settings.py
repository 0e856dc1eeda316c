"""Reading settings. Open this when a variable is read wrongly or a wrong one isn't told."""

import msgspec
import pytest

from darbar_kit.settings import SettingsInvalid, load, names, unknown


class ShopSettings(msgspec.Struct, frozen=True, kw_only=True):
    database_url: str
    http_port: int = 8080
    turn_seconds_max: float = 30.0
    open_late: bool = False
    names: tuple[str, ...] = ()


def test_a_field_is_read_from_its_prefix_and_name_in_capitals() -> None:
    environ = {"SHOP_DATABASE_URL": "postgresql://here", "SHOP_HTTP_PORT": "9000", "SHOP_OPEN_LATE": "1"}

    settings = load(ShopSettings, prefix="SHOP_", environ=environ)

    assert settings == ShopSettings(database_url="postgresql://here", http_port=9000, open_late=True)


def test_a_list_is_written_as_json() -> None:
    environ = {"SHOP_DATABASE_URL": "x", "SHOP_NAMES": '["ann", "bob"]'}

    assert load(ShopSettings, prefix="SHOP_", environ=environ).names == ("ann", "bob")


def test_an_empty_variable_counts_as_not_given() -> None:
    environ = {"SHOP_DATABASE_URL": "x", "SHOP_HTTP_PORT": ""}

    assert load(ShopSettings, prefix="SHOP_", environ=environ).http_port == 8080


def test_all_wrong_variables_are_told_at_once() -> None:
    environ = {"SHOP_HTTP_PORT": "many", "SHOP_OPEN_LATE": "perhaps"}

    with pytest.raises(SettingsInvalid) as caught:
        load(ShopSettings, prefix="SHOP_", environ=environ)

    assert [problem.split()[0] for problem in caught.value.problems] == [
        "SHOP_DATABASE_URL",
        "SHOP_HTTP_PORT",
        "SHOP_OPEN_LATE",
    ]


def test_a_wrong_value_is_not_repeated_because_it_may_be_a_secret() -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load(ShopSettings, prefix="SHOP_", environ={"SHOP_DATABASE_URL": "x", "SHOP_OPEN_LATE": "hunter2"})

    assert "hunter2" not in str(caught.value)


def test_what_nothing_reads_is_told_with_the_name_that_was_meant() -> None:
    known = names(ShopSettings, "SHOP_")
    environ = {"SHOP_HTTP_PORT": "9000", "SHOP_HTTP_PROT": "1", "SHOP_KITCHEN": "2", "PATH": "/bin"}

    assert unknown(environ, known, prefix="SHOP_") == [
        "SHOP_HTTP_PROT is no setting (is SHOP_HTTP_PORT meant?)",
        "SHOP_KITCHEN is no setting",
    ]


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    smallest: int = 1
    largest: int = 9

    def __post_init__(self) -> None:
        if self.smallest > self.largest:
            raise ValueError("the smallest is larger than the largest")


class ShelfSettings(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    sizes: Sizes = Sizes()


class HatSettings(msgspec.Struct, frozen=True, kw_only=True):
    sizes: Sizes = Sizes()


def test_a_struct_among_the_fields_is_read_from_variables_that_services_share() -> None:
    environ = {"SHOP_SHELF_LABEL": "a", "SHOP_SIZES_SMALLEST": "3", "SHOP_SHELF_SIZES_LARGEST": "4"}

    shelf = load(ShelfSettings, prefix="SHOP_SHELF_", environ=environ)

    assert shelf == ShelfSettings(label="a", sizes=Sizes(smallest=3))
    assert load(HatSettings, prefix="SHOP_HAT_", environ=environ).sizes == shelf.sizes
    assert names(ShelfSettings, "SHOP_SHELF_") == ["SHOP_SHELF_LABEL", "SHOP_SIZES_SMALLEST", "SHOP_SIZES_LARGEST"]


@pytest.mark.parametrize("wrong", [{"SHOP_SIZES_SMALLEST": "few"}, {"SHOP_SIZES_SMALLEST": "10"}])
def test_a_wrong_shared_variable_is_told_with_all_others(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load(ShelfSettings, prefix="SHOP_SHELF_", environ=wrong)

    assert [problem.split()[0][:11] for problem in caught.value.problems] == ["SHOP_SHELF_", "SHOP_SIZES_"]
