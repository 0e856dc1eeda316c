"""All services in one process on one port. Open this when a path reaches the wrong service."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.web_urldispatcher import AbstractRuleMatching, MatchedSubAppResource

from darbar_kit.http import errors_middleware
from darbar_kit.metrics import REGISTRY, collected, render
from darbar_local.gateway import origin
from darbar_local.restarts import NAME, Restarts
from darbar_local.services import owner


def build_root(
    apps: Mapping[str, web.Application], restarts: Restarts, web_folder: Path | None = None
) -> web.Application:
    """Each app keeps its own middlewares, start and cleanup, and sees the whole path as it does alone."""
    root = web.Application(middlewares=[errors_middleware])
    root.add_routes([*origin.page_routes(web_folder), *origin.status_routes(OneProcess(apps, restarts))])
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


class OneProcess:
    """What the apps say of themselves on routes that no path from outside reaches."""

    def __init__(self, apps: Mapping[str, web.Application], restarts: Restarts) -> None:
        self._apps = apps
        self._restarts = restarts

    async def missing(self, request: web.Request) -> list[str]:
        return [*await self._all("/readyz", request), *self._restarts.missing()]

    async def failing(self, request: web.Request) -> list[str]:
        return await self._all("/healthz", request)

    async def metrics(self) -> bytes:
        pages = {name: collected(app[REGISTRY]) for name, app in self._apps.items() if REGISTRY in app}
        return render({**pages, NAME: collected(self._restarts.registry)})

    async def _all(self, path: str, request: web.Request) -> list[str]:
        return [f"{name}: {thing}" for name, app in self._apps.items() for thing in await _said(app, path, request)]


async def _said(app: web.Application, path: str, request: web.Request) -> list[str]:
    for route in app.router.routes():
        if route.method == "GET" and route.resource is not None and route.resource.canonical == path:
            answered = await route.handler(request)
            if isinstance(answered, web.Response) and isinstance(answered.body, bytes):
                return origin.missing_in(answered.body)
    return []
