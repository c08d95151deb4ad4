"""One post for one piece of news: what happened to which worker, why, and what comes next."""

from bot.messages.layout import Block, assemble, footer, sections
from bot.messages.marks import news_mark
from bot.messages.markup import code, harmless, moment
from bot.messages.parts import here, plain_name, times
from bot.messages.speech import Speech
from handlers.ports import Message
from state.reasons import Code, reason
from state.run import Note, Run, StepKind, StepPhase


def note(speech: Speech, run: Run, told: Note) -> Message:
    """The post of one note."""
    first, *causes = speech.told(told.reason, here(run))
    mark = news_mark(told.reason.code)
    blocks: list[Block] = [*sections((f"{mark} {first}", *causes))]
    blocks += sections(_more(speech, run, told.reason.code))
    blocks.append(footer(f"{code(run.cluster)} · {moment(told.at)} · `{harmless(run.id)}`"))
    return assemble(f"{mark} {harmless(plain_name(run))}: {first}", blocks)


def stays(speech: Speech, run: Run) -> tuple[str, ...]:
    """What an aborted run leaves as it is, in lines."""
    done = {step.kind for step in run.steps if step.phase is StepPhase.DONE}
    replaced = tuple(step.worker_id for step in run.steps if _replaced(step.kind, step.phase, step.worker_id))
    lines = []
    if StepKind.UPDATE_MASTER in done:
        lines.append(speech.phrase("stay:master", version=code(run.target_version)))
    if StepKind.INSTALL_OPERATOR in done:
        lines.append(speech.phrase("stay:release"))
    if replaced:
        lines.append(speech.phrase("stay:workers", workers=speech.names(replaced)))
    return (*(f"• {line}" for line in lines), *pools_left(speech, run))


def pools_left(speech: Speech, run: Run) -> tuple[str, ...]:
    """Temporary pools that are there as the run ends: what to do about each."""
    left = (note.reason for note in run.notes if note.reason.code is Code.TEMPORARY_POOL_LEFT)
    return tuple(f"• {speech.sentence(why, here(run))}" for why in left)


def _more(speech: Speech, run: Run, news: Code) -> tuple[str, ...]:
    match news:
        case Code.MIGRATION_DONE:
            return (*times(speech, run), *pools_left(speech, run), speech.sentence(reason(Code.NEXT_STEPS)))
        case Code.PREPARED:
            return times(speech, run)
        case Code.RUN_ABORTED:
            kept = stays(speech, run)
            return (speech.phrase("stays"), *kept) if kept else ()
        case _:
            return ()


def _replaced(kind: StepKind, phase: StepPhase, worker: str) -> bool:
    return kind is StepKind.REPLACE_WORKER and phase is StepPhase.DONE and bool(worker)
