"""How far a pod has come on its node, and what must be so for it to get further. Pure: time comes in as a number.

Rendering as a PodStatus is in `pod_status`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.controllers.scripts import Crash, Gate, Script, Work

SANDBOX = -1
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0  # seconds as in life, of crashing containers


@dataclass(frozen=True, slots=True)
class Troubles:
    """What afflicts a pod now.

    Attributes:
        image: stage -> the registry's message, "" when the image can be pulled.
        crash: stage -> how its container fails, None when it does not.
        never_starts: no sandbox can be made.
        not_ready: the main containers run without getting ready.
    """

    image: Callable[[int], str] = lambda _: ""
    crash: Callable[[int], Crash | None] = lambda _: None
    never_starts: bool = False
    not_ready: bool = False


@dataclass(slots=True)
class Progress:
    """One pod's way through its script.

    Attributes:
        stage: SANDBOX, then 0… for init containers, then one for all main containers.
        since: when the gate of the stage opened (monotonic seconds).
        running: whether the containers of the stage run; since `started`.
        pulling_since: when the image was first missed; None when it was not.
        backoff_until: when a failed container is started again.
        restarts: failures by stage. `last`: the newest one.
        ready_since: since when the main containers are ready.
        ended: the main containers have succeeded, or `failed` for good.
    """

    stage: int = SANDBOX
    since: float | None = None
    running: bool = False
    started: float = 0.0
    pulling_since: float | None = None
    backoff_until: float = 0.0
    restarts: Counter[int] = field(default_factory=Counter)
    last: Crash | None = None
    ready_since: float | None = None
    ended: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Circumstances:
    """All that decides about the next stage, besides the progress itself."""

    script: Script
    gates: frozenset[Gate]
    troubles: Troubles
    now: float
    speed: float
    restarts: bool = True  # whether failed main containers are started again


def advance(progress: Progress, case: Circumstances) -> float | None:
    """Go as far as possible; the moment of the next change that needs no other change, None when there is none."""
    while not (progress.ended or progress.failed):
        wake = _step(progress, case)
        if wake != _GO_ON:
            return None if wake == _NEVER else wake
    return None


_GO_ON = -1.0
_NEVER = float("inf")


def _step(progress: Progress, case: Circumstances) -> float:
    if progress.stage == SANDBOX:
        if case.troubles.never_starts:
            progress.since = None
            return _NEVER
        return _pass(progress, case, case.script.sandbox)
    if not progress.running and (wake := _start(progress, case)) != _GO_ON:
        return wake
    crash = case.troubles.crash(progress.stage) or _work(progress, case).crash
    if crash is not None:
        return _crash(progress, case, crash)
    if progress.stage < len(case.script.inits):
        return _pass(progress, case, _work(progress, case))
    return _main(progress, case)


def _start(progress: Progress, case: Circumstances) -> float:
    """Pull the image and start the containers of the stage."""
    if case.troubles.image(progress.stage):
        if progress.pulling_since is None:
            progress.pulling_since = case.now
        backing_off = progress.pulling_since + FIRST_BACKOFF / case.speed
        return backing_off if case.now < backing_off else _NEVER
    progress.pulling_since = None
    if case.now < progress.backoff_until:
        return progress.backoff_until
    progress.running, progress.started, progress.since = True, case.now, None
    return _GO_ON


def _crash(progress: Progress, case: Circumstances, crash: Crash) -> float:
    due = progress.started + crash.after
    progress.ready_since = None
    if case.now < due:
        return due
    tries = progress.restarts[progress.stage]
    progress.running, progress.last = False, crash
    if not case.restarts:
        progress.failed = True
        return _GO_ON
    progress.restarts[progress.stage] += 1
    progress.backoff_until = case.now + min(LONGEST_BACKOFF, FIRST_BACKOFF * 2**tries) / case.speed
    return progress.backoff_until


def _main(progress: Progress, case: Circumstances) -> float:
    if case.troubles.not_ready:
        progress.ready_since = None
        return _NEVER
    if progress.ready_since is None:
        wake = _wait(progress, case, case.script.main)
        if wake != _GO_ON:
            return wake
        progress.ready_since = case.now
    if case.script.ends is None:
        return _NEVER
    due = progress.ready_since + case.script.ends
    if case.now < due:
        return due
    progress.ended, progress.running = True, False
    return _GO_ON


def _pass(progress: Progress, case: Circumstances, work: Work) -> float:
    """Finish the stage when its time has come, and go to the next."""
    wake = _wait(progress, case, work)
    if wake == _GO_ON:
        progress.stage += 1
        progress.since, progress.running = None, False
    return wake


def _wait(progress: Progress, case: Circumstances, work: Work) -> float:
    if work.gate is not None and work.gate not in case.gates:
        progress.since = None
        return _NEVER
    if progress.since is None:
        progress.since = case.now
    due = progress.since + work.seconds
    return due if case.now < due else _GO_ON


def _work(progress: Progress, case: Circumstances) -> Work:
    inits = case.script.inits
    return inits[progress.stage] if progress.stage < len(inits) else case.script.main
