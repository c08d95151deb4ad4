"""The repository over HTTP: an index and archives, and the faults that a repository can have."""

from aiohttp import web

from sandbox.faults import Faults, middleware
from sandbox.helm_repository.packaging import RELEASES, archive, archive_name, index


class HelmRepository:
    """Serves `index.yaml` and the archives it names. Faults of the system "helm" apply."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def app(self) -> web.Application:
        """The application; add its URL to helm by `--repo`, or as a repository."""
        app = web.Application(middlewares=[middleware("helm", self._faults)])
        app.router.add_get("/index.yaml", self._index)
        app.router.add_get("/{name}.tgz", self._archive)
        return app

    async def _index(self, request: web.Request) -> web.Response:
        base = f"{request.scheme}://{request.host}"
        return web.Response(text=index(base), content_type="application/yaml")

    async def _archive(self, request: web.Request) -> web.Response:
        names = {archive_name(one.version): one.version for one in RELEASES}
        version = names.get(f"{request.match_info['name']}.tgz")
        if version is None:
            raise web.HTTPNotFound(text="no such archive")
        return web.Response(body=archive(version), content_type="application/gzip")
