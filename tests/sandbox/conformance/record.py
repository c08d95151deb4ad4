"""Record anew what a real server answers: `python -m tests.sandbox.conformance.record`.

Needs the binaries of a control plane (KUBEBUILDER_ASSETS, or `make control-plane`); writes the data file that the
pretend server is held to.
"""

import asyncio
import base64
import json
from typing import Any

import aiohttp

from tests.sandbox.conformance.asking import Server
from tests.sandbox.conformance.comparing import RECORDED
from tests.sandbox.conformance.running import all_checks, client, run_check
from tests.sandbox.control_plane import ControlPlane, control_plane

KEPT = ("check", "pass", "exchanges", "facts")
SETTLED = 5.0  # seconds after readiness until the bootstrap roles are all there


def main() -> None:
    """Run all checks against a control plane of its own and write the file."""
    server, results = asyncio.run(_results())
    rows = [{key: result[key] for key in KEPT if key in result} for result in results]
    lines = [json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for row in rows]
    head = f'{{"server": {json.dumps(server)}, "controllers": false, "checks": [\n'
    RECORDED.write_text(head + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
    failed = [result["check"] for result in results if result["pass"] is False]
    print(f"{len(results)} checks recorded from {server}, failed: {failed}")  # noqa: T201


async def _results() -> tuple[str, list[dict[str, Any]]]:
    async with control_plane() as plane, client() as http:
        await asyncio.sleep(SETTLED)
        server = asked(http, plane)
        results = [await run_check(server, name, function) for name, function in all_checks().items()]
        async with http.get(f"{plane.url}/version", headers={"Authorization": f"Bearer {plane.admin}"}) as answer:
            return (await answer.json())["gitVersion"], results


def asked(http: aiohttp.ClientSession, plane: ControlPlane) -> Server:
    """The control plane as the checks see it."""

    async def compact() -> bool:
        return await compacted(http, plane.etcd)

    return Server(http, plane.url, plane.admin, plane.other, compact=compact)


async def compacted(http: aiohttp.ClientSession, etcd: str) -> bool:
    """Compact etcd as a second API server would, which tells the first by a key."""

    async def ask(path: str, **body: Any) -> Any:
        async with http.post(f"{etcd}/v3/kv/{path}", json=body) as answer:
            return await answer.json(content_type=None)

    def coded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    revision = (await ask("range", key=coded("x")))["header"]["revision"]
    await ask("put", key=coded("compact_rev_key"), value=coded(revision))
    return "header" in await ask("compaction", revision=revision, physical=True)


if __name__ == "__main__":
    main()
