"""The closing report of a run, and the dry run before one."""

from datetime import datetime

from bot.messages.layout import Block, assemble, footer, header, sections
from bot.messages.marks import STEP, news_mark, run_mark
from bot.messages.markup import code, harmless, moment, user
from bot.messages.news import stays
from bot.messages.parts import decided, here, plain_name, small_print, step_title, times, title
from bot.messages.speech import Speech
from handlers.ports import Message
from state.reasons import Code, Reason
from state.run import Note, Run, RunPhase, StepKind, StepPhase, StepRun

NEWS_LINES = 30


def report(speech: Speech, run: Run) -> Message:
    """Result, time per step, decisions, GPU workers old and new, workloads, news. Of a run under way: so far."""
    minor = run.policy.target_minor
    goal = speech.phrase(f"goal:{run.goal.value}", minor=minor)
    name = speech.phrase("report:title", cluster=plain_name(run), goal=goal)
    result = speech.phrase(
        "report:result", phase=speech.word("phase", run.phase.value), time=moment(run.ended_at or run.created_at)
    )
    ending = speech.told(run.ending, here(run)) if run.ending else ()
    kept = stays(speech, run) if run.phase is RunPhase.ABORTED else ()
    blocks: list[Block] = [header(f"{run_mark(run)} {name}"), *sections((result, *ending))]
    blocks += sections((speech.phrase("stays"), *kept) if kept else ())
    blocks += sections(times(speech, run))
    blocks += sections(_decisions(speech, run))
    blocks += sections(_workers(speech, run))
    blocks += sections(_workloads(speech, run))
    blocks += sections(_news(speech, run))
    blocks.append(footer(*small_print(speech, run)))
    return assemble(f"{run_mark(run)} {harmless(name)}. {result}", blocks)


def plan(speech: Speech, run: Run) -> Message:
    """What a run would do, what each step touches, what forbids it. Nothing is stored for it."""
    name = speech.phrase("plan:title", cluster=plain_name(run))
    blocks: list[Block] = [
        header(f"🔎 {name}"),
        *sections((speech.phrase("plan:nothing"), f"*{harmless(title(speech, run))}*")),
    ]
    blocks += sections(_touched(speech, run))
    blocks += sections(_forbidden(speech, run))
    if run.warnings:
        blocks += sections((speech.phrase("card:warnings"), *_told(speech, run, "⚠️", run.warnings)))
    blocks.append(footer(*small_print(speech, run)[1:]))
    return assemble(f"🔎 {harmless(name)}", blocks)


def _touched(speech: Speech, run: Run) -> tuple[str, ...]:
    lines = [
        f"{number}. {STEP[step.phase] if step.phase is StepPhase.DONE else ''} {step_title(speech, step)}: "
        f"{speech.word('touches', step.kind.value)}".replace(".  ", ". ")
        for number, step in enumerate(run.steps[:40], 1)
    ]
    if len(run.steps) > len(lines):
        lines.append(speech.phrase("more", count=len(run.steps) - len(lines)))
    return tuple(lines) or (speech.phrase("plan:no-steps"),)


def _forbidden(speech: Speech, run: Run) -> tuple[str, ...]:
    if any(why.code is Code.ALREADY_MIGRATED for why in run.blockers):
        return _told(speech, run, "✅", run.blockers)
    reasons = run.blockers or ((run.trouble,) if run.trouble else ())
    if reasons:
        return (speech.phrase("plan:blocked"), *_told(speech, run, "⛔", reasons))
    return (speech.phrase("plan:free", here=here(run)),) if run.steps else ()


def _decisions(speech: Speech, run: Run) -> tuple[str, ...]:
    lines = []
    for approval in run.approvals:
        answer = decided(approval)
        if answer is None or not approval.decided_by:
            continue
        word = speech.word("decision", answer[0].value)
        step, who, time = speech.question(approval.step_key), user(approval.decided_by), moment(answer[1])
        lines.append(f"• {speech.phrase('report:decision', step=step, decision=word, who=who, time=time)}")
    return (speech.phrase("report:decisions"), *lines) if lines else ()


def _workers(speech: Speech, run: Run) -> tuple[str, ...]:
    """Old worker → its successor: the one that became Ready while the old one's step ran, where that is only one."""
    if run.baseline is None:
        return ()
    old = {worker.worker_id for worker in run.baseline.workers}
    ready = tuple(note for note in run.notes if note.reason.code is Code.NODE_READY and _worker(note) not in old)
    paired: dict[str, str] = {}
    for step in (step for step in run.steps if step.kind is StepKind.REPLACE_WORKER):
        candidates = {_worker(note) for note in ready if _during(step, note.at)} - set(paired.values())
        if len(candidates) == 1:
            paired[step.worker_id] = candidates.pop()
    lines = [_old_new(speech, worker, paired.get(worker, "")) for worker in sorted(old)]
    others = tuple(_worker(note) for note in ready if _worker(note) not in paired.values())
    if others:
        lines.append(f"• {speech.phrase('report:new', new=speech.names(others))}")
    if run.baseline.others:
        lines.append(speech.phrase("report:others", workers=speech.names(run.baseline.others)))
    return (speech.phrase("report:workers"), *lines)


def _old_new(speech: Speech, old: str, new: str) -> str:
    return f"• {speech.phrase('report:old-new', old=code(old), new=code(new))}" if new else f"• {code(old)}"


def _worker(note: Note) -> str:
    return note.reason.text("worker")


def _during(step: StepRun, at: datetime) -> bool:
    return (
        step.started_at is not None and step.started_at <= at and (step.finished_at is None or at <= step.finished_at)
    )


def _workloads(speech: Speech, run: Run) -> tuple[str, ...]:
    if run.baseline is None or not run.baseline.workloads:
        return ()
    lines = [
        "• "
        + speech.phrase(
            "report:workload", workload=code(str(load.owner)), available=load.available, desired=load.desired
        )
        for load in run.baseline.workloads[:NEWS_LINES]
    ]
    hidden = len(run.baseline.workloads) - len(lines)
    more = (speech.phrase("more", count=hidden),) if hidden > 0 else ()
    return (speech.phrase("report:workloads"), *lines, *more)


def _news(speech: Speech, run: Run) -> tuple[str, ...]:
    """What happened, without the decisions, which have a list of their own."""
    notes = tuple(note for note in run.notes if note.reason.code is not Code.DECIDED)[-NEWS_LINES:]
    lines = [
        f"{news_mark(note.reason.code)} {moment(note.at)} {speech.sentence(note.reason, here(run))}" for note in notes
    ]
    return (speech.phrase("report:news"), *lines) if lines else ()


def _told(speech: Speech, run: Run, mark: str, reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    return tuple(f"{mark} {' '.join(speech.told(why, here(run)))}" for why in reasons)
