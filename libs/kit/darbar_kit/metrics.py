"""How metrics of one or several services become one page. Open this when a series is missing or doubled."""

from collections.abc import Iterable, Iterator, Mapping

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

# Each service counts in its own registry, so that several can live in one process and in one test run.
REGISTRY: web.AppKey[CollectorRegistry] = web.AppKey("metrics_registry", CollectorRegistry)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render(registries: Mapping[str, CollectorRegistry]) -> bytes:
    """One page out of the registries of several services; each series says its service."""
    return generate_latest(_Merged(registries))


class _Merged:
    def __init__(self, registries: Mapping[str, CollectorRegistry]) -> None:
        self._registries = registries

    def collect(self) -> Iterator[Metric]:
        # A family may be written once only: services that count the same thing share it.
        families: dict[str, Metric] = {}
        for service, registry in self._registries.items():
            for metric in registry.collect():
                family = families.setdefault(
                    metric.name, Metric(metric.name, metric.documentation, metric.type, metric.unit)
                )
                family.samples.extend(_with_service(metric.samples, service))
        yield from families.values()


def _with_service(samples: Iterable[Sample], service: str) -> Iterator[Sample]:
    for sample in samples:
        yield sample._replace(labels={**sample.labels, "service": service})
