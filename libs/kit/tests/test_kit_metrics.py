"""Metrics of several services on one page. Open this when a scrape is refused."""

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.parser import text_string_to_metric_families

from darbar_kit.metrics import render


def test_services_that_count_the_same_thing_share_a_family_and_differ_by_label() -> None:
    ann, bob = CollectorRegistry(), CollectorRegistry()
    for registry, amount in ((ann, 1), (bob, 2)):
        Counter("orders", "Orders taken.", ["kind"], registry=registry).labels("big").inc(amount)

    page = render({"ann": ann, "bob": bob}).decode()

    assert page.count("# TYPE orders_total counter") == 1
    assert 'orders_total{kind="big",service="ann"} 1.0' in page
    assert 'orders_total{kind="big",service="bob"} 2.0' in page


def test_the_page_can_be_read_again() -> None:
    registry = CollectorRegistry()
    Histogram("order_seconds", "Time to take an order.", registry=registry).observe(0.2)

    families = {family.name: family for family in text_string_to_metric_families(render({"ann": registry}).decode())}

    assert families["order_seconds"].type == "histogram"
