"""Run the API server alone: `python -m sandbox.kubernetes --port 8080 --token ADMIN --other-token NOBODY`.

With `--kubeconfig FILE` it serves TLS and writes a kubeconfig, for clients that send tokens over TLS only.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import ssl
import tempfile
from pathlib import Path

from sandbox.certificates import Certificates, make_certificates
from sandbox.faults import Faults
from sandbox.journal import Journal
from sandbox.kubernetes.server import KubernetesServer
from sandbox.serving import serve
from sandbox.tokens import MASTERS, Tokens


def server_context(certificates: Certificates) -> ssl.SSLContext:
    """TLS for a server with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        chain, key = Path(folder, "server.crt"), Path(folder, "server.key")
        chain.write_text(certificates.server, encoding="utf-8")
        key.write_text(certificates.key, encoding="utf-8")
        context.load_cert_chain(chain, key)
    return context


def kubeconfig(url: str, token: str, authority: str) -> str:
    """A kubeconfig (JSON is YAML too) for one user of one cluster."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority.encode()).decode()}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "user"}}],
        "current-context": "sandbox",
    }
    return json.dumps(config, indent=1)


async def run(options: argparse.Namespace) -> None:
    """Serve until cancelled; prints the address once it listens."""
    tokens = Tokens()
    tokens.issue("system:admin", (MASTERS,), token=options.token)
    if options.other_token:
        tokens.issue("migration-bot", token=options.other_token)
    server = KubernetesServer("alone", Journal(), Faults(), tokens, options.version)
    certificates = make_certificates() if options.kubeconfig else None
    served = await serve(server.app(), options.port, server_context(certificates) if certificates else None)
    try:
        if certificates:
            text = kubeconfig(served.url, options.token, certificates.authority)
            await asyncio.to_thread(Path(options.kubeconfig).write_text, text, encoding="utf-8")
        print(served.url, flush=True)
        await asyncio.Event().wait()
    finally:
        await served.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", required=True, help="token of an administrator")
    parser.add_argument("--other-token", default="", help="token of a user without any rights")
    parser.add_argument("--version", default="v1.36.2", help="git version to give at /version")
    parser.add_argument("--kubeconfig", default="", help="serve TLS and write a kubeconfig here")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
