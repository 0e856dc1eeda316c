"""How log lines look. Open this when a line is unreadable, or shows what it shouldn't."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import structlog

from darbar_kit import logs


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    structlog.reset_defaults()
    root.handlers = handlers
    root.setLevel(level)


def test_a_line_is_one_json_object_with_the_service_and_the_fields() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, stream=output)

    structlog.get_logger().bind(order_id="o1").info("order_taken", at=datetime(2030, 1, 1, tzinfo=UTC), odd=object)

    line = json.loads(output.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line.pop("odd").startswith("<class")
    assert line == {
        "event": "order_taken",
        "level": "info",
        "service": "shop",
        "order_id": "o1",
        "at": "2030-01-01T00:00:00Z",
    }


def test_a_logger_made_before_the_configuration_follows_it() -> None:
    logger = structlog.get_logger()
    output = io.StringIO()

    logs.configure("shop", human=False, stream=output)
    logger.info("order_taken")

    assert json.loads(output.getvalue())["event"] == "order_taken"


def test_a_traceback_stays_on_its_line_and_shows_no_local_variables() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, stream=output)
    secret = "hunter2"

    try:
        raise ZeroDivisionError(len(secret))
    except ZeroDivisionError:
        structlog.get_logger().exception("order_failed")

    assert output.getvalue().count("\n") == 1
    assert "ZeroDivisionError" in json.loads(output.getvalue())["exception"]
    assert '"hunter2"' not in output.getvalue().replace('secret = \\"hunter2\\"', "")


def test_lines_of_libraries_look_the_same() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, stream=output)

    logging.getLogger("somebody.else").warning("careful with %s", "that")

    line = json.loads(output.getvalue())
    assert (line["event"], line["level"], line["service"]) == ("careful with that", "warning", "shop")


def test_secrets_are_blotted_out() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, stream=output)

    structlog.get_logger().info("order_taken", password="hunter2", token="t", database_url="postgresql://a:b@c")

    assert "hunter2" not in output.getvalue()
    assert json.loads(output.getvalue())["token"] == "(hidden)"


def test_a_level_leaves_out_what_is_below_it() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, level="warning", stream=output)

    structlog.get_logger().info("order_taken")

    assert output.getvalue() == ""


def test_people_get_readable_lines() -> None:
    output = io.StringIO()
    logs.configure("shop", human=True, stream=output)

    structlog.get_logger().info("order_taken", order_id="o1")

    assert "order_taken" in output.getvalue()
    assert "order_id=o1" in output.getvalue()
    assert not output.getvalue().startswith("{")


def test_the_drivers_own_retries_are_not_told() -> None:
    output = io.StringIO()
    logs.configure("shop", human=False, stream=output)

    logging.getLogger("asyncpg.pool").warning("Failed to restore the pool connection floor; retrying", exc_info=True)

    assert output.getvalue() == ""
