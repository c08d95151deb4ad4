"""The living message of a run: where it stands, what it waits for, and what is needed from whom.

It is rewritten as the run goes on, so it holds no clock: running steps say since when, finished ones how long.
"""

from bot.messages.layout import Block, assemble, footer, header, sections
from bot.messages.marks import STEP, run_mark
from bot.messages.markup import channel, clock_time, harmless
from bot.messages.parts import answerers, here, open_approvals, operators, small_print, step_title, title, took
from bot.messages.spans import duration
from bot.messages.speech import Speech
from handlers.ports import Message
from state.braking import waits_for_people
from state.reasons import Code, reason
from state.run import Run, RunPhase, StepKind, StepPhase, StepRun

STEP_LINES = 24  # lines of steps; what is over it is counted
NOTED = 6  # waits told in full


def status(speech: Speech, run: Run) -> Message:
    """The same for one person, who may have asked elsewhere: with the channel in which the run speaks."""
    where = (speech.phrase("footer:where", channel=channel(run.channel)),) if run.channel else ()
    return progress(speech, run, where)


def progress(speech: Speech, run: Run, small: tuple[str, ...] = ()) -> Message:
    """The message of the run as it is now. `small`: more for the small print."""
    phase = speech.word("phase", run.phase.value)
    name = title(speech, run)
    blocks: list[Block] = [header(f"{run_mark(run)} {name} · {phase}")]
    blocks += sections(_banners(speech, run))
    blocks += sections(_blockers(speech, run))
    if run.steps:
        blocks += sections((speech.phrase("steps"), *step_lines(speech, run.steps)))
    blocks += sections(_waits(speech, run))
    blocks += sections(_needed(speech, run))
    blocks.append(footer(*small_print(speech, run), *small))
    return assemble(f"{run_mark(run)} {harmless(name)}: {_now(speech, run) or phase}", blocks)


def step_lines(speech: Speech, steps: tuple[StepRun, ...]) -> tuple[str, ...]:
    """A line for each step; of many, those around the present."""
    before, shown, after = _window(steps)
    head = (f"{STEP[StepPhase.DONE]} {speech.phrase('earlier', count=before)}",) if before else ()
    tail = (f"{STEP[StepPhase.DUE]} {speech.phrase('later', count=after)}",) if after else ()
    return (*head, *(_line(speech, step) for step in shown), *tail)


def _banners(speech: Speech, run: Run) -> tuple[str, ...]:
    found = [speech.phrase("banner:observe")] if run.policy.observe else []
    if run.brake and not run.phase.ended:
        found.append(speech.phrase("banner:paused", sentence=" ".join(speech.told(run.brake, here(run)))))
    if run.pause and not run.phase.ended:
        why = run.pause.reason if run.pause.reason.code is not Code.PAUSED else reason(Code.PAUSED, by=run.pause.by)
        found.append(speech.phrase("banner:paused", sentence=" ".join(speech.told(why, here(run)))))
    if run.trouble and not run.phase.ended:
        since = clock_time(run.trouble_since) if run.trouble_since else speech.phrase("unknown")
        told = " ".join(speech.told(run.trouble, here(run)))
        found.append(speech.phrase("banner:trouble", sentence=told, time=since))
    if run.ending:
        found.append(f"{run_mark(run)} {' '.join(speech.told(run.ending, here(run)))}")
    return tuple(found)


def _blockers(speech: Speech, run: Run) -> tuple[str, ...]:
    if run.phase not in (RunPhase.PLANNING, RunPhase.PLANNED) or not run.blockers:
        return ()
    return (speech.phrase("card:blocked"), *(f"⛔ {speech.sentence(why, here(run))}" for why in run.blockers))


def _window(steps: tuple[StepRun, ...]) -> tuple[int, tuple[StepRun, ...], int]:
    """How many done steps before, the steps to show, how many due ones after."""
    if len(steps) <= STEP_LINES:
        return 0, steps, 0
    first = next((i for i, step in enumerate(steps) if step.phase is not StepPhase.DONE), len(steps))
    start = max(0, min(first - 3, len(steps) - STEP_LINES))
    return start, steps[start : start + STEP_LINES], len(steps) - start - STEP_LINES


def _line(speech: Speech, step: StepRun) -> str:
    text = f"{STEP[step.phase]} {step_title(speech, step)}"
    if (span := took(step)) is not None:
        return f"{text} · {duration(span)}"
    if step.phase is StepPhase.AWAITING_APPROVAL:
        return f"{text} · {speech.phrase('approve-wait')}"
    if step.started_at and step.phase is not StepPhase.DUE:
        return f"{text} · {speech.phrase('since', time=clock_time(step.started_at))}"
    return text


def _noted(run: Run) -> tuple[StepRun, ...]:
    if run.phase.ended:
        return ()
    return tuple(step for step in run.steps if step.note and step.phase is not StepPhase.DONE)


def _waits(speech: Speech, run: Run) -> tuple[str, ...]:
    """What each step waits for, is blocked by or failed of."""
    lines = []
    for step in _noted(run)[:NOTED]:
        told = speech.told(step.note, here(run)) if step.note else ()
        lines += [f"{STEP[step.phase]} *{step_title(speech, step)}*", *(f">{line}" for line in told)]
    hidden = len(_noted(run)) - NOTED
    return (*lines, speech.phrase("more", count=hidden)) if hidden > 0 else tuple(lines)


def _needed(speech: Speech, run: Run) -> tuple[str, ...]:
    """What is needed from whom; nothing when the run has ended."""
    if run.phase.ended:
        return ()
    wants = [
        speech.phrase(
            "needs:answer", step=speech.question(approval.step_key), who=speech.people(answerers(run, approval))
        )
        for approval in open_approvals(run)[:NOTED]
    ]
    wants += [
        speech.phrase("needs:retry", step=step_title(speech, step), here=here(run))
        for step in run.steps
        if step.phase is StepPhase.FAILED
    ][:NOTED]
    if run.phase is RunPhase.ABORTING and any(_keeps_pool(step) for step in run.steps):
        wants.append(speech.phrase("needs:leave", here=here(run), who=speech.people(operators(run))))
    if run.brake:
        wants.append(speech.phrase("needs:resume-all", who=speech.people(operators(run))))
    if run.pause:
        wants.append(speech.phrase("needs:resume", here=here(run), who=speech.people(operators(run))))
    if run.phase is RunPhase.PREPARED:
        wants.append(speech.phrase("needs:start", here=here(run), who=speech.people(operators(run))))
    return tuple(speech.phrase("needed", what=want) for want in wants or [speech.phrase("needs:nothing")])


def _keeps_pool(step: StepRun) -> bool:
    """The removal of the temporary pool cannot be offered now."""
    return step.kind is StepKind.REMOVE_TEMPORARY_POOL and waits_for_people(step)


def _now(speech: Speech, run: Run) -> str:
    """The present wait in one sentence, for notifications."""
    if run.ending:
        return speech.sentence(run.ending, here(run))
    if run.brake:
        return speech.sentence(run.brake, here(run))
    if run.pause:
        return speech.sentence(run.pause.reason, here(run))
    noted = _noted(run)
    return speech.sentence(noted[0].note, here(run)) if noted and noted[0].note else ""
