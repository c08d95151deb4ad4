"""A stub API server for `bench/kubernetes.py`: many pods, a fast watch, canned bytes. Run in a process of its own."""

import asyncio
import json
import sys
import time
from typing import Any

from aiohttp import web

PAGE = 500
PATH = "/api/v1/pods"
Json = dict[str, Any]


def pod(number: int, version: int) -> Json:
    """Make a pod as a GPU cluster has them, about 3 KB."""
    name = f"train-{number:05d}-abcde"
    token = {"name": "kube-api-access", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    mounts = [{"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
    amounts = {"nvidia.com/gpu": "1", "cpu": "8", "memory": "64Gi"}
    container = {
        "name": "main",
        "image": "icr.io/ns/train:1.2.3",
        "command": ["python", "train.py"],
        "env": [{"name": f"V{k}", "value": "x" * 12} for k in range(16)],
        "resources": {"limits": amounts, "requests": amounts},
        "volumeMounts": mounts,
    }
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"train-{number // 5}", "uid": f"rs-{number // 5}"}
    return {
        "metadata": {
            "name": name,
            "namespace": f"ns{number % 20}",
            "uid": f"00000000-0000-0000-0000-{number:012d}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-30T10:00:00Z",
            "labels": {"app": "train", "pod-template-hash": f"7c5ddb{number // 5}", "team": f"t{number % 7}"},
            "annotations": {"cni.projectcalico.org/podIP": f"172.30.{number % 250}.{number // 250}/32"},
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {"f:phase": {}}}}],
        },
        "spec": {
            "nodeName": f"10.0.{number % 50}.4",
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "tolerations": tolerations,
            "volumes": [token],
            "containers": [container],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": k, "status": "True", "lastTransitionTime": "2026-11-30T10:00:05Z"} for k in kinds],
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": True,
                    "restartCount": 0,
                    "image": "icr.io/ns/train:1.2.3",
                    "imageID": f"sha256:{'a' * 64}",
                    "containerID": f"containerd://{'b' * 64}",
                    "state": {"running": {"startedAt": "2026-11-30T10:00:04Z"}},
                }
            ],
        },
    }


def stub(pods_wanted: int, events_wanted: int) -> web.Application:
    """Serve canned bytes, so that the server is never the limit. `?watch` gives all events, then silence."""
    pods = [pod(number, 1000 + number) for number in range(pods_wanted)]
    lines = []
    for number in range(events_wanted):
        body = pod(number % pods_wanted, 10_000 + number)
        body["status"]["containerStatuses"][0]["restartCount"] = 1 + number // pods_wanted
        lines.append(json.dumps({"type": "MODIFIED", "object": body}).encode() + b"\n")
    events = [b"".join(lines[begin : begin + 200]) for begin in range(0, events_wanted, 200)]

    def page(begin: int, limit: int) -> bytes:
        metadata = {"resourceVersion": "9999"} | (
            {"continue": str(begin + limit)} if begin + limit < pods_wanted else {}
        )
        return json.dumps({"kind": "PodList", "metadata": metadata, "items": pods[begin : begin + limit]}).encode()

    pages = {str(begin): page(begin, PAGE) for begin in range(0, pods_wanted, PAGE)}
    whole = page(0, pods_wanted)

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            body = pages[request.query.get("continue", "0")] if "limit" in request.query else whole
            return web.Response(body=body, content_type="application/json")
        stream = web.StreamResponse()
        await stream.prepare(request)
        if "late" in request.query:
            await asyncio.sleep(0.5)
            changed = pod(0, 50_000)
            changed["status"]["phase"] = repr(time.time())
            await stream.write(json.dumps({"type": "MODIFIED", "object": changed}).encode() + b"\n")
        else:
            for chunk in events:
                await stream.write(chunk)
        await asyncio.sleep(30)
        return stream

    app = web.Application()
    app.router.add_get(PATH, answer)
    return app


async def serve(pods_wanted: int, events_wanted: int) -> None:
    """Serve until killed; prints the address."""
    runner = web.AppRunner(stub(pods_wanted, events_wanted), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
