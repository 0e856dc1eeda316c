"""How metrics of one or several services become one page. Open this when a series is missing or doubled."""

from collections.abc import Iterable, Iterator, Mapping

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

# Each service counts in its own registry, so that several can live in one process and in one test run.
REGISTRY: web.AppKey[CollectorRegistry] = web.AppKey("metrics_registry", CollectorRegistry)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render(sources: Mapping[str, Iterable[Metric]]) -> bytes:
    """One page out of what several services have counted; each series says its service."""
    return generate_latest(_Merged(sources))


def collected(registry: CollectorRegistry) -> Iterable[Metric]:
    """What a service in this process has counted."""
    return registry.collect()


def parsed(page: str) -> Iterable[Metric]:
    """What a service in another process has counted, from its own page."""
    return text_string_to_metric_families(page)


class _Merged:
    def __init__(self, sources: Mapping[str, Iterable[Metric]]) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Metric]:
        # A family may be written once only: services that count the same thing share it.
        families: dict[str, Metric] = {}
        for service, metrics in self._sources.items():
            for metric in metrics:
                family = families.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
                family.samples.extend(_with_service(metric.samples, service))
        yield from families.values()


def _with_service(samples: Iterable[Sample], service: str) -> Iterator[Sample]:
    for sample in samples:
        yield sample._replace(labels={**sample.labels, "service": service})
