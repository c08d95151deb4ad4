"""The pretend Slack workspace as one aiohttp application.

It puts the parts together and decides nothing. The bot reaches /api/, /link and response URLs; faults.py spoils only
those. People and scripts reach / and /page/, which always tell the truth.
"""

from typing import Any

from aiohttp import web

from sandbox.faults import Faults, Handler, middleware
from sandbox.journal import Journal
from sandbox.scenario import Scenario
from sandbox.slack import identity
from sandbox.slack.delivery import Delivery
from sandbox.slack.interactions import Interactions
from sandbox.slack.interactivity import Triggers
from sandbox.slack.page import Page
from sandbox.slack.page_acts import PageActs
from sandbox.slack.sockets import Sockets
from sandbox.slack.switches import Switches
from sandbox.slack.view_interactions import ViewInteractions
from sandbox.slack.web_api import WebApi
from sandbox.slack.workspace import Workspace

BODY_BYTES = 4_000_000
SPOILED = ("/api/", "/link", "/commands/", "/actions/")


class SlackServer:
    """One workspace with one installed app.

    Attributes:
        bot_token, app_token, signing_secret: what the bot's configuration needs.
        workspace: everything it remembers, for tests.
        switches: ways to misbehave, also reached by POST /page/switch.
    """

    bot_token = identity.BOT_TOKEN
    app_token = identity.APP_TOKEN
    signing_secret = identity.SIGNING_SECRET

    def __init__(self, scenario: Scenario, journal: Journal, faults: Faults) -> None:
        self._faults = faults
        self.workspace = Workspace(scenario)
        self.triggers = Triggers()
        self.sockets = Sockets()
        delivery = Delivery(self.sockets)
        self._interactions = Interactions(self.workspace, self.triggers, delivery, journal)
        self._api = WebApi(self.workspace, self.triggers, self.sockets, journal)
        views = ViewInteractions(self.workspace, self.triggers, delivery, journal)
        self._page = Page(self.workspace)
        self._acts = PageActs(self.workspace, self._interactions, views)
        self.switches = Switches(self.workspace, self._api, self.sockets, delivery)

    def app(self) -> web.Application:
        """The application, ready to be served; sockets and streams end when it shuts down."""
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[_spoiling(self._faults)])
        app.add_routes(self._api.routes())
        app.add_routes([web.get("/link", self.sockets.link)])
        app.add_routes(self._interactions.answers.routes())
        app.add_routes(self._page.routes())
        app.add_routes(self._acts.routes())
        app.add_routes(self.switches.routes())
        app.on_shutdown.append(self._shutdown)
        return app

    async def _shutdown(self, _app: web.Application) -> None:
        await self.sockets.aclose()
        await self._page.aclose()


def _spoiling(faults: Faults) -> Any:
    """The faults middleware, for what the bot reaches only."""
    spoil = middleware("slack", faults)

    @web.middleware
    async def choose(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith(SPOILED):
            answer: web.StreamResponse = await spoil(request, handler)
            return answer
        return await handler(request)

    return choose
