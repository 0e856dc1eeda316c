"""Metrics of several services on one page. Open this when a scrape is refused."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from darbar_kit.metrics import collected, parsed, render


def test_services_that_count_the_same_thing_share_a_family_and_differ_by_label() -> None:
    ann, bob = CollectorRegistry(), CollectorRegistry()
    for registry, amount in ((ann, 1), (bob, 2)):
        Counter("orders", "Orders taken.", ["kind"], registry=registry).labels("big").inc(amount)

    page = render({"ann": collected(ann), "bob": collected(bob)}).decode()

    assert page.count("# TYPE orders_total counter") == 1
    assert 'orders_total{kind="big",service="ann"} 1.0' in page
    assert 'orders_total{kind="big",service="bob"} 2.0' in page


def test_the_page_of_another_process_can_be_merged() -> None:
    registry = CollectorRegistry()
    Histogram("order_seconds", "Time to take an order.", registry=registry).observe(0.2)
    Counter("orders", "Orders taken.", registry=registry).inc()
    Gauge("queue_bytes", "What waits.", registry=registry).set(5)

    page = render({"ann": parsed(generate_latest(registry).decode()), "bob": collected(registry)}).decode()

    families = {family.name: family for family in text_string_to_metric_families(page)}
    assert families["order_seconds"].type == "histogram"
    assert {name for name in families if not name.endswith("_created")} == {"order_seconds", "orders", "queue_bytes"}
    assert 'orders_total{service="ann"} 1.0' in page
    assert 'orders_total{service="bob"} 1.0' in page
