"""Run the API server alone: `python -m sandbox.kubernetes --port 8080 --token ADMIN --other-token NOBODY`."""

import argparse
import asyncio
import contextlib

from aiohttp import web

from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.tokens import MASTERS, Tokens


async def serve(options: argparse.Namespace) -> None:
    """Serve until cancelled; prints the address once it listens."""
    tokens = Tokens()
    tokens.issue("system:admin", (MASTERS,), token=options.token)
    if options.other_token:
        tokens.issue("migration-bot", token=options.other_token)
    server = KubernetesServer("alone", Journal(), Faults(), tokens, options.version)
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", options.port).start()
        host, port = runner.addresses[0][:2]
        print(f"http://{host}:{port}", flush=True)
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", required=True, help="token of an administrator")
    parser.add_argument("--other-token", default="", help="token of a user without any rights")
    parser.add_argument("--version", default="v1.36.2", help="git version to give at /version")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
