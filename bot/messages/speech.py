"""One language: reasons become sentences, keys become words.

It knows how each kind of fact is spelled and nothing about blocks. Whatever a reason carries, a sentence comes out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.messages.catalogue import de, en
from bot.messages.markup import channel, code, harmless, listed, moment, user
from bot.messages.spans import duration
from bot.messages.template import fill
from state.reasons import Code, Fact, Reason

_FIRST = ("LabelNode", "CordonNode", "UncordonNode", "EvictPod", "InstallChart")  # name first, then its uid or version
CAUSES = 3  # causes told behind one sentence
_ADDS = frozenset(
    {Code.MIGRATION_DONE, Code.CARD_CHANGED, Code.RECORDED}
)  # what is behind these is no cause but belongs to them


@dataclass(frozen=True, slots=True)
class Speech:
    """Sentences and words of one language."""

    sentences: Mapping[Code, str]
    phrases: Mapping[str, str]

    def sentence(self, reason: Reason, here: str = "") -> str:
        """The sentence of a reason, without its causes. `here`: cluster, for commands to type."""
        template = self.sentences.get(reason.code)
        if template is None:
            return code(str(reason))
        facts: dict[str, Fact] = {"here": here or "CLUSTER"} | dict(reason.facts)
        return fill(template.replace("{here}", "{here:raw}"), facts, self._spell, self.phrases["unknown"])

    def told(self, reason: Reason, here: str = "") -> tuple[str, ...]:
        """The sentence, then one line for each cause behind it."""
        lines = [self.sentence(reason, here)]
        effect, cause = reason, reason.cause
        while cause is not None and len(lines) <= CAUSES:
            text = self.sentence(cause, here)
            lines.append(text if effect.code in _ADDS else self.phrase("because", cause=text))
            effect, cause = cause, cause.cause
        return tuple(lines)

    def phrase(self, key: str, **values: object) -> str:
        """Words of the catalogue; values are put in as they are."""
        return self.phrases[key].format(**values)

    def word(self, group: str, value: str) -> str:
        """A word of a closed set; one that we do not know is shown verbatim."""
        return self.phrases.get(f"{group}:{value}") or code(value)

    def step(self, key: str) -> str:
        """Title of a step from its key: kind, or kind/target."""
        return self._titled("step", key)

    def question(self, key: str) -> str:
        """The same as it is asked for: one answer covers cordon, drain and replacement of a worker."""
        kind = key.partition("/")[0]
        return self._titled("asked" if f"asked:{kind}" in self.phrases else "step", key)

    def _titled(self, group: str, key: str) -> str:
        kind, _, target = key.partition("/")
        title = self.phrases.get(f"{group}:{kind}")
        return code(key) if title is None else f"{title} {code(target)}".rstrip()

    def order(self, key: str) -> str:
        """What a call was to do, from its natural key: `ReplaceWorker(cluster worker)`, or the kind alone."""
        kind, _, about = key.partition("(")
        facts = about.removesuffix(")").split(" ")
        target = facts[0] if kind in _FIRST else facts[-1]
        title = self.phrases.get(f"order:{kind}")
        return code(key) if title is None else f"{title} {code(target) if target else ''}".rstrip()

    def names(self, items: tuple[str, ...], most: int = 8) -> str:
        return listed(items, self.phrases["more"], most)

    def people(self, ids: tuple[str, ...]) -> str:
        """Mentions, or that nobody is listed."""
        return ", ".join(user(person) for person in ids[:10]) or self.phrases["nobody"]

    def _spell(self, form: str, fact: object) -> str:
        text = ", ".join(_items(fact))
        match form:
            case "n":
                return str(len(_items(fact))) if isinstance(fact, tuple | list) else harmless(text)
            case "user":
                return user(text)
            case "channel":
                return channel(text)
            case "step":
                return self.step(text)
            case "order":
                return self.order(text)
            case "seconds" | "minutes":
                return _span(fact, form)
            case "when":
                return _when(text)
            case "raw":
                return harmless(text)
            case "":
                return self._plain(fact)
            case group:
                return self.word(group, text)

    def _plain(self, fact: object) -> str:
        match fact:
            case tuple() | list():
                return self.names(_items(fact))
            case int() | float():
                return str(fact)
            case _:
                return code(str(fact))


def _items(fact: object) -> tuple[str, ...]:
    return tuple(str(item) for item in fact) if isinstance(fact, tuple | list) else (str(fact),)


def speech(language: str) -> Speech:
    """The catalogue of a language; English for one that we do not speak."""
    catalogue = de if language.lower().startswith("de") else en
    return Speech(catalogue.SENTENCES, catalogue.PHRASES)


def _span(fact: object, unit: str) -> str:
    """A number of seconds or minutes as a duration; anything else verbatim."""
    text = ", ".join(_items(fact))
    if not _number(text) or len(text) > 9:
        return code(text)
    return duration(timedelta(minutes=float(text)) if unit == "minutes" else timedelta(seconds=float(text)))


def _when(text: str) -> str:
    """ISO text or Unix seconds as a moment; anything else verbatim."""
    try:
        at = datetime.fromtimestamp(float(text), UTC) if _number(text) else datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return code(text)
    return moment(at if at.tzinfo else at.replace(tzinfo=UTC))


def _number(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdigit()
