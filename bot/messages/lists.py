"""Answers that list something: help, clusters, runs."""

from bot.messages.layout import assemble, footer, header, sections
from bot.messages.marks import run_mark
from bot.messages.markup import code, harmless, moment
from bot.messages.speech import Speech
from handlers.ports import Clusters, Message
from state.reasons import Reason
from state.run import Run

LINES = 40


def help_text(speech: Speech, reason: Reason | None) -> Message:
    """What one can type; above it what was wrong with what somebody typed."""
    above = speech.told(reason) if reason else ()
    blocks = [
        *sections(above),
        header(speech.phrase("help:title")),
        *sections((speech.phrase("help:text"),)),
        footer(speech.phrase("help:note")),
    ]
    return assemble(above[0] if above else speech.phrase("help:title"), blocks)


def clusters(speech: Speech, known: Clusters, runs: tuple[Run, ...]) -> Message:
    """A line for each configured cluster: may the bot act there, and what goes on."""
    active = {run.cluster: run for run in runs if not run.phase.ended}
    lines = []
    for name, policy in sorted(known.policies.items())[:LINES]:
        run = active.get(name)
        mode = speech.phrase("clusters:observe" if policy.observe else "clusters:act")
        state = speech.word("phase", run.phase.value) if run else speech.phrase("clusters:idle")
        mark = run_mark(run) if run else "⚪"
        lines.append(speech.phrase("clusters:line", mark=mark, cluster=code(name), mode=mode, state=state))
    return _list(speech, "clusters", lines, len(known.policies))


def runs(speech: Speech, found: tuple[Run, ...], brake: Reason | None = None) -> Message:
    """A line for each run, newest first; above them why all are stopped, if they are."""
    lines = []
    for run in found[:LINES]:
        goal = speech.phrase(f"goal:{run.goal.value}", minor=run.policy.target_minor)
        phase = speech.word("phase", run.phase.value)
        when = moment(run.ended_at or run.created_at)
        known = {"cluster": code(run.cluster), "goal": goal, "phase": phase, "time": when, "run": harmless(run.id)}
        lines.append(speech.phrase("runs:line", mark=run_mark(run), **known))
    told = speech.phrase("banner:paused", sentence=" ".join(speech.told(brake))) if brake else ""
    return _list(speech, "runs", lines, len(found), told)


def _list(speech: Speech, group: str, lines: list[str], count: int, above: str = "") -> Message:
    top = sections((above,) if above else ())
    if not lines:
        return assemble(speech.phrase(f"{group}:none"), (*top, *sections((speech.phrase(f"{group}:none"),))))
    more = (speech.phrase("more", count=count - len(lines)),) if count > len(lines) else ()
    name = speech.phrase(f"{group}:title")
    return assemble(f"{name}: {count}", (*top, header(name), *sections((*lines, *more))))
