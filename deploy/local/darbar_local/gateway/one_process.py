"""All services in one process on one port. Open this when a path reaches the wrong service."""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRuleMatching, MatchedSubAppResource

from darbar_kit.http import errors_middleware
from darbar_kit.metrics import REGISTRY, collected, render
from darbar_local.gateway import origin
from darbar_local.services import owner


def build_root(apps: Mapping[str, web.Application]) -> web.Application:
    """Each app keeps its own middlewares, start and cleanup, and sees the whole path as it does alone."""
    root = web.Application(middlewares=[errors_middleware])

    async def metrics_page() -> bytes:
        return render({name: collected(app[REGISTRY]) for name, app in apps.items() if REGISTRY in app})

    root.add_routes(origin.routes(partial(all_missing, apps), metrics_page))
    for name, app in apps.items():
        _mount(root, app, name)
    return root


def _mount(root: web.Application, app: web.Application, name: str) -> None:
    """Like add_subapp(), which knows only prefixes; and an app that can't stop doesn't keep the others from it."""

    async def run(_root: web.Application) -> AsyncIterator[None]:
        await app.startup()
        yield
        await app.cleanup()

    async def shut_down(_root: web.Application) -> None:
        await app.shutdown()

    app.pre_freeze()
    root.router.register_resource(MatchedSubAppResource(_OwnedPaths(name), app))
    root.cleanup_ctx.append(run)
    root.on_shutdown.append(shut_down)


class _OwnedPaths(AbstractRuleMatching):
    """The paths of one service, wherever they lie."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def match(self, request: web.Request) -> bool:
        return owner(request.path) == self._name

    def get_info(self) -> Any:
        return {"rule": self}

    @property
    def canonical(self) -> str:
        return self._name


async def all_missing(apps: Mapping[str, web.Application], request: web.Request) -> list[str]:
    """What the apps wait for, each with its name."""
    return [f"{name}: {thing}" for name, app in apps.items() for thing in await _missing(app, request)]


async def _missing(app: web.Application, request: web.Request) -> list[str]:
    """Asks the app's own /readyz, which no path from outside reaches."""
    for route in app.router.routes():
        if route.method == "GET" and route.resource is not None and route.resource.canonical == "/readyz":
            answered = await route.handler(request)
            if isinstance(answered, web.Response) and isinstance(answered.body, bytes):
                return origin.missing_in(answered.body)
    return []
