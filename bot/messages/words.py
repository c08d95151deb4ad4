"""Everything the product says, in one language: what the edge and the shell ask for words."""

from bot.messages import card, lists, news, progress, report
from bot.messages.layout import assemble, sections
from bot.messages.speech import speech
from handlers.ports import Clusters, Message
from state.reasons import Reason
from state.run import Approval, Note, Run


class Words:
    """Runs and reasons become messages. Pure: no clock, no network; the same input gives the same message.

    Attributes:
        language: "en" or "de"; anything else is English.
    """

    def __init__(self, language: str = "en") -> None:
        self._speech = speech(language)

    def progress(self, run: Run) -> Message:
        """The living message of a run."""
        return progress.progress(self._speech, run)

    def card(self, run: Run, approval: Approval) -> Message:
        """A question with its buttons, or how it was answered."""
        return card.card(self._speech, run, approval)

    def note(self, run: Run, note: Note) -> Message:
        """The post of one piece of news."""
        return news.note(self._speech, run, note)

    def answer(self, reason: Reason, here: str = "") -> Message:
        """One reason to one person. `here`: the cluster, for commands to type."""
        told = self._speech.told(reason, here)
        return assemble(" ".join(told), sections(told))

    def sentence(self, reason: Reason, here: str = "") -> str:
        """One reason with its causes as text. `here`: the cluster, for commands to type."""
        return " ".join(self._speech.told(reason, here))

    def help(self, reason: Reason | None = None) -> Message:
        return lists.help_text(self._speech, reason)

    def clusters(self, clusters: Clusters, runs: tuple[Run, ...]) -> Message:
        return lists.clusters(self._speech, clusters, runs)

    def status(self, run: Run) -> Message:
        """Where a run stands, for one person."""
        return progress.status(self._speech, run)

    def runs(self, runs: tuple[Run, ...], brake: Reason | None = None) -> Message:
        return lists.runs(self._speech, runs, brake)

    def report(self, run: Run) -> Message:
        return report.report(self._speech, run)

    def plan(self, run: Run) -> Message:
        """A dry run."""
        return report.plan(self._speech, run)
