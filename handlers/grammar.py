"""What people type after /gpu-migrate, read tolerantly: case, quotes, links, German words and slips of the finger.

Tolerant in spelling, strict in meaning: words that are not understood refuse the whole command, since `start x --dry-run`
must never start anything. Pure; who may do it is another module's question.
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from enum import StrEnum

from state.reasons import Code, Reason, reason


class Verb(StrEnum):
    """The commands."""

    HELP = "help"
    CLUSTERS = "clusters"
    PLAN = "plan"
    PREPARE = "prepare"
    START = "start"
    STATUS = "status"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    ABORT = "abort"
    RUNS = "runs"
    REPORT = "report"
    STOP_ALL = "stop-all"
    RESUME_ALL = "resume-all"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was understood. `target`: cluster as configured, else the word as typed (a run); "" for none."""

    verb: Verb
    target: str = ""


_ALONE = frozenset({Verb.HELP, Verb.CLUSTERS, Verb.RUNS, Verb.STOP_ALL, Verb.RESUME_ALL})
_OPTIONAL = frozenset({Verb.STATUS, Verb.REPORT})
_KNOWN_ONLY = frozenset({Verb.PLAN, Verb.PREPARE, Verb.START})
_ALIASES = {
    Verb.HELP: ("?", "hilfe", "usage", "-h", "--help"),
    Verb.CLUSTERS: ("cluster", "list", "ls", "liste"),
    Verb.PLAN: ("dry-run", "check", "planen", "probelauf", "prüfen", "pruefen"),
    Verb.PREPARE: ("prep", "vorbereiten"),
    Verb.START: ("begin", "migrate", "starten", "beginnen", "umstellen", "los"),
    Verb.STATUS: ("state", "progress", "stand", "zustand", "fortschritt"),
    Verb.PAUSE: ("hold", "pausieren", "anhalten"),
    Verb.RESUME: ("continue", "unpause", "fortsetzen", "weiter", "weitermachen"),
    Verb.RETRY: ("again", "wiederholen", "nochmal", "erneut"),
    Verb.ABORT: ("cancel", "stop", "abbrechen", "abbruch", "halt"),
    Verb.RUNS: ("history", "läufe", "laeufe", "verlauf"),
    Verb.REPORT: ("summary", "bericht", "abschlussbericht"),
    Verb.STOP_ALL: ("stopall", "pause-all", "alles-anhalten", "alle-anhalten", "not-aus", "notaus"),
    Verb.RESUME_ALL: ("resumeall", "continue-all", "alle-fortsetzen", "alles-weiter"),
}
_WORDS = {word: verb for verb, words in _ALIASES.items() for word in (verb.value, *words)}
_FILLERS = frozenset({"cluster", "c", "run", "lauf", "on", "for", "the", "den", "für"})

_LINK = re.compile(r"<[^<>|\s]*\|([^<>|]*)>|<(?:https?://|mailto:|[@#!])?([^<>|]*)>")
_DASHES = re.compile(r"[‐-―−]")  # phones turn -- into a dash
_WRAPPING = "\"'`“”„‚‘’«»‹›*~.,;:!()[]{}"


def parse(text: str, known: Iterable[str] = ()) -> Command | Reason:
    """Understand a command, or say why not. `known`: configured clusters."""
    clusters = tuple(known)
    words = _words(text)
    if not words:
        return Command(Verb.HELP)
    verb, rest = _verb(words)
    if verb is None:
        return _unknown(words[0])
    if verb is Verb.HELP:
        return Command(verb)
    target, extra = _target(rest, clusters)
    if verb in _ALONE:
        target, extra = "", rest
    if extra:
        return reason(Code.EXTRA_WORDS, command=verb.value, words=extra)
    return _command(verb, target, clusters)


def _words(text: str) -> tuple[str, ...]:
    """Bare words, without Slack's markup, quotes and invisible characters."""
    plain = _LINK.sub(lambda match: f" {match[1] or match[2] or ''} ", html.unescape(text))
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", plain))
    plain = "".join(" " if unicodedata.category(char) == "Cc" else char for char in plain if not _invisible(char))
    return tuple(word for word in (raw.strip(_WRAPPING) for raw in plain.split()) if word)


def _invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf"


def _verb(words: tuple[str, ...]) -> tuple[Verb | None, tuple[str, ...]]:
    """The verb, of two words (`stop all`) or of one, and what follows it."""
    folded = [word.casefold().removeprefix("/") for word in words]
    if folded[0] == "gpu-migrate" and len(words) > 1:
        return _verb(words[1:])
    if len(words) > 1 and (two := _WORDS.get(f"{folded[0]}-{folded[1]}")):
        return two, words[2:]
    return _WORDS.get(folded[0]), words[1:]


def _target(words: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The word that names the cluster or run, and what is left over."""
    rest = [word for word in (_value(word, known) for word in words) if word]
    if not rest:
        return "", ()
    return _configured(rest[0], known) or rest[0], tuple(rest[1:])


def _value(word: str, known: tuple[str, ...]) -> str:
    """`--cluster=x` is x; a filler word is nothing unless a cluster is called so."""
    name, equals, value = word.partition("=")
    bare = name.lstrip("-").casefold()
    if equals and bare in _FILLERS:
        return value.strip(_WRAPPING)
    return "" if bare in _FILLERS and not _configured(word, known) else word


def _configured(word: str, known: tuple[str, ...]) -> str:
    """The configured spelling of a cluster; "" for one that is not configured or could be several."""
    if word in known:
        return word
    same = [name for name in known if name.casefold() == word.casefold()]
    return same[0] if len(same) == 1 else ""


def _command(verb: Verb, target: str, known: tuple[str, ...]) -> Command | Reason:
    if not target and verb not in _ALONE | _OPTIONAL:
        return reason(Code.MISSING_CLUSTER, command=verb.value, known=tuple(sorted(known)))
    if verb in _KNOWN_ONLY and target not in known:
        return unknown_cluster(target, known)
    return Command(verb, target)


def unknown_cluster(word: str, known: Iterable[str]) -> Reason:
    """That no such cluster is configured; the most similar ones come first."""
    ordered = sorted(known, key=lambda name: -SequenceMatcher(None, word.casefold(), name.casefold()).ratio())
    return reason(Code.UNKNOWN_CLUSTER, cluster=word, known=tuple(ordered))


def _unknown(word: str) -> Reason:
    """The nearest command; German and other spellings count only where no command itself is near."""
    folded = word.casefold()
    close = get_close_matches(folded, list(Verb), n=1, cutoff=0.6) or get_close_matches(folded, _WORDS, n=1, cutoff=0.7)
    return reason(Code.UNKNOWN_COMMAND, word=word, suggestion=_WORDS[close[0]].value if close else "")
