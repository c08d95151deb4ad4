"""The Job controller: runs pods until enough have succeeded or too many have failed.

Finished pods are counted by way of `uncountedTerminatedPods` and the tracking finalizer, so that a restart of this
part counts none twice. Indexed completion and success policies are not played.
"""

import time

from sandbox.controllers import pods
from sandbox.controllers.desk import Desk, stamp
from sandbox.controllers.job_counts import (
    FINALIZER,
    Tally,
    counted,
    exhausted,
    finish_reason,
    tracked,
    wanted_active,
)
from sandbox.controllers.resources import JOBS, PODS
from sandbox.controllers.templates import pod_from
from sandbox.kubernetes_client import Json

SPEAKER = "job-controller"
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 600.0  # seconds as in life
COUNTS = ("active", "ready", "terminating", "succeeded", "failed", "uncountedTerminatedPods", "startTime")


class Jobs:
    """All Jobs."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._jobs = desk.mirror(JOBS)
        self._pods = desk.mirror(PODS)
        self._failures: dict[str, tuple[int, float]] = {}  # uid -> failures seen and when the last was

    async def reconcile(self) -> float | None:
        """Bring every Job one step further; returns the seconds until a backoff ends."""
        everything = self._pods.objects()
        waits = [
            await self._desk.guard(self._reconcile(job, pods.owned(everything, job)))
            for job in self._jobs.objects()
            if not pods.deleting(job)
        ]
        return min((wait for wait in waits if wait is not None), default=None)

    async def _reconcile(self, job: Json, mine: list[Json]) -> float | None:
        tally = counted(job, mine)
        wait = None
        finished = finish_reason(job) != ""
        if finished or job["spec"].get("suspend") or exhausted(job, tally):
            for pod in mine:
                if pods.active(pod):
                    await self._desk.delete(PODS, pod)
        else:
            wait = await self._fill(job, mine, tally)
        await self._tell(job, tally, mine, finished=finished)
        for pod in mine:
            if tracked(pod) and (pod["metadata"]["uid"] in tally.settled):
                kept = [one for one in pod["metadata"]["finalizers"] if one != FINALIZER]
                await self._desk.patch(PODS, pod, {"metadata": {"finalizers": kept}})
        return wait

    async def _fill(self, job: Json, mine: list[Json], tally: Tally) -> float | None:
        now, uid = time.monotonic(), job["metadata"]["uid"]
        seen, at = self._failures.get(uid, (tally.failed, now - LONGEST_BACKOFF))
        if tally.failed > seen:
            at = now
        self._failures[uid] = (tally.failed, at)
        lasting = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** max(0, tally.failed - 1)) if tally.failed else 0.0
        missing = wanted_active(job, tally) - sum(pods.active(pod) for pod in mine)
        if missing > 0 and now < at + self._desk.scaled(lasting):
            return at + self._desk.scaled(lasting) - now
        for _ in range(missing):
            pod = pod_from(job, {"batch.kubernetes.io/job-name": job["metadata"]["name"]})
            pod["metadata"]["finalizers"] = [FINALIZER]
            pod["spec"].setdefault("restartPolicy", "Never")
            await self._desk.create_pod(job, pod, SPEAKER)
        return None

    async def _tell(self, job: Json, tally: Tally, mine: list[Json], *, finished: bool) -> None:
        have = job.get("status") or {}
        alive = [pod for pod in self._pods.objects() if pods.controller_uid(pod) == job["metadata"]["uid"]]
        status: Json = {
            "active": sum(pods.active(pod) for pod in alive) or None,
            "ready": sum(pods.ready(pod) and pods.active(pod) for pod in alive),
            "terminating": sum(pods.deleting(pod) and not pods.finished(pod) for pod in mine),
            "succeeded": tally.succeeded or None,
            "failed": tally.failed or None,
            "uncountedTerminatedPods": {"succeeded": list(tally.wins) or None, "failed": list(tally.losses) or None},
            "startTime": have.get("startTime") or stamp(),
        }
        if not finished and not tally.wins and not tally.losses:
            status |= await self._verdict(job, tally, alive)
        if "conditions" in status or _changed(status, have):
            await self._desk.patch(JOBS, job, {"status": status}, sub="status")

    async def _verdict(self, job: Json, tally: Tally, alive: list[Json]) -> Json:
        """Conditions of a Job that is over: when everything is counted and no pod is left running."""
        goal = job["spec"].get("completions") or 1
        if tally.succeeded >= goal and not any(map(pods.active, alive)):
            await self._desk.event(job, "Completed", "Job completed", component=SPEAKER)
            text = "Reached expected number of succeeded pods"
            rows = [_row(kind, "CompletionsReached", text) for kind in ("SuccessCriteriaMet", "Complete")]
            return {"conditions": rows, "completionTime": stamp()}
        if exhausted(job, tally) and not any(map(pods.active, alive)):
            text = "Job has reached the specified backoff limit"
            await self._desk.event(job, "BackoffLimitExceeded", text, component=SPEAKER, type="Warning")
            rows = [_row(kind, "BackoffLimitExceeded", text) for kind in ("FailureTarget", "Failed")]
            return {"conditions": rows}
        return {}


def _row(kind: str, reason: str, message: str) -> Json:
    at = stamp()
    row = {"type": kind, "status": "True", "reason": reason, "message": message}
    return row | {"lastProbeTime": at, "lastTransitionTime": at}


def _changed(status: Json, have: Json) -> bool:
    return any(_bare(have.get(key)) != _bare(status[key]) for key in COUNTS if key in status)


def _bare(value: object) -> object:
    """The value without empty parts; nothing and zero are the same."""
    if isinstance(value, dict):
        return {key: part for key, part in value.items() if part} or 0
    return value or 0
