"""Keep a run's messages in Slack what the run says now: level-triggered, so that restarts and failures tell nothing twice.

Wanted messages are computed from the run: the living progress message, a card per question, a post per note. What is
known of each stands in the journal beside the run (where, and a digest of its content): the intent to post is stored
before the post, and a message whose answer was lost is looked for by its key before it is posted again (B097, B098).
Cards go before news, news before progress (B067). Nothing is decided here.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from bot.ports import Chat, Clock, Place, RunStore
from handlers.ports import Message
from state.errors import PermanentError
from state.journal import MessageRecord
from state.reasons import Code
from state.run import Approval, Note, Run

PROGRESS = "progress"
FRESH = timedelta(minutes=10)
_LOUD = frozenset(
    {Code.STEP_STUCK, Code.STEP_FAILED, Code.MIGRATION_DONE, Code.RUN_ABORTED, Code.PREPARED}
    | {Code.POSSIBLE_DOUBLE, Code.STRANGER, Code.OPERAND_ON_OLD_NODE, Code.GPUS_LOST}
    | {Code.BRAKE, Code.STORE_REWOUND, Code.OTHER_RUN_IN_CLUSTER, Code.TEMPORARY_POOL_LEFT}
)
_SILENT = frozenset({Code.RUN_BEGAN, Code.DECIDED})  # the card and the progress message say it already
_LOST = ("message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch")


class RunWords(Protocol):
    """Messages of a run; implemented by bot/messages."""

    def progress(self, run: Run) -> Message: ...

    def card(self, run: Run, approval: Approval) -> Message: ...

    def note(self, run: Run, note: Note) -> Message: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """A message as it shall be.

    Attributes:
        threaded: belongs into the run's thread.
        final: never rewritten once posted.
        anew: written even if it is thought to stand there already.
    """

    key: str
    message: Message
    threaded: bool = False
    final: bool = False
    anew: bool = False


class Teller:
    """Brings the messages of one run up to date."""

    def __init__(self, chat: Chat, store: RunStore, words: RunWords, clock: Clock) -> None:
        self._chat = chat
        self._store = store
        self._words = words
        self._clock = clock

    async def tell(self, run: Run, *, anew: bool = False) -> None:
        """Post and rewrite until Slack shows what `run` says. Raises the errors of Chat and RunStore.

        `anew`: write open questions even if they stand there as they should: somebody may have deleted one.
        A message that Slack refuses does not keep the others back; its error is raised at the end.
        """
        records = dict(await self._store.messages(run.id))
        root = await self._root(run, records)
        refused: PermanentError | None = None
        for wanted in self._wanted(run, anew=anew):
            try:
                await self._bring(run, wanted, records, root)
            except PermanentError as error:
                refused = refused or error
        if refused is not None:
            raise refused

    async def retire(self, run: Run, last: Message) -> None:
        """The record of `run` is gone: nobody shall wait for its messages, or press their buttons in vain.

        A card that was answered just now may stand there with its buttons yet. Raises the errors of Chat.
        """
        fresh = self._clock.now() - FRESH
        cards = [q for q in run.approvals if q.decided_at is None or q.decided_at > fresh]
        messages = {f"card:{q.id}": last if q.decision is None else self._words.card(run, q) for q in cards}
        for name, message in {PROGRESS: last, **messages}.items():
            key = f"{run.id}/{name}"
            place = await self._chat.find(run.channel, key, since=run.created_at)
            if place is not None:
                await self._chat.update(place, message, key=key)

    async def _root(self, run: Run, records: dict[str, MessageRecord]) -> str:
        """The progress message has to exist first: its thread holds the news."""
        known = records.get(PROGRESS)
        if known is None or not known.ts:
            await self._bring(run, Wanted(PROGRESS, self._words.progress(run)), records, "")
        return records[PROGRESS].ts

    def _wanted(self, run: Run, *, anew: bool) -> Iterator[Wanted]:
        for approval in run.approvals:
            missed = anew and approval.decision is None
            yield Wanted(f"card:{approval.id}", self._words.card(run, approval), anew=missed)
        for note in run.notes:
            if note.reason.code not in _SILENT:
                threaded = note.reason.code not in _LOUD
                yield Wanted(f"note:{note.key}", self._words.note(run, note), threaded, final=True)
        yield Wanted(PROGRESS, self._words.progress(run))

    async def _bring(self, run: Run, wanted: Wanted, records: dict[str, MessageRecord], root: str) -> None:
        known = records.get(wanted.key)
        digest = _digest(wanted.message)
        if known is not None and known.ts and (wanted.final or known.digest == digest) and not wanted.anew:
            return
        thread = root if wanted.threaded else ""
        if known is None or not known.ts:
            place = await self._find_or_post(run, wanted, known, thread)
        else:
            place = await self._rewrite(run, wanted, Place(known.channel, known.ts, known.thread))
        record = MessageRecord(place.channel, place.ts, digest, self._clock.now(), place.thread)
        await self._store.put_message(run.id, wanted.key, record)
        records[wanted.key] = record

    async def _find_or_post(self, run: Run, wanted: Wanted, known: MessageRecord | None, thread: str) -> Place:
        key = f"{run.id}/{wanted.key}"
        if known is not None:
            found = await self._chat.find(run.channel, key, thread=thread, since=known.since)
            if found is not None:
                await self._chat.update(found, wanted.message, key=key)
                return found
        intent = MessageRecord(run.channel, "", "", self._clock.now(), thread)
        await self._store.put_message(run.id, wanted.key, replace(intent, since=known.since) if known else intent)
        return await self._chat.post(run.channel, wanted.message, key=key, thread=thread)

    async def _rewrite(self, run: Run, wanted: Wanted, place: Place) -> Place:
        key = f"{run.id}/{wanted.key}"
        try:
            await self._chat.update(place, wanted.message, key=key)
        except PermanentError as lost:
            if lost.reason.text("error") not in _LOST:
                raise
            intent = MessageRecord(run.channel, "", "", self._clock.now(), place.thread)
            await self._store.put_message(run.id, wanted.key, intent)
            return await self._chat.post(run.channel, wanted.message, key=key, thread=place.thread)
        return place


def _digest(message: Message) -> str:
    content = json.dumps([message.text, list(message.blocks)], sort_keys=True, default=dict)
    return hashlib.sha256(content.encode()).hexdigest()[:20]
