"""Logs as JSON lines on stdout for `serve`, as text on stderr for people's commands. Set up once, at a command's start.

No line may hold a secret: tracebacks come without local variables, and whatever looks like a token, a bearer or the
user information of a URL is blotted out at the very end.
"""

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from typing import Any

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import Processor

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_SECRET = re.compile(
    r"xox[a-z]-[\w-]+|xapp-[\w-]+|eyJ[\w-]{10,}\.[\w-]+\.[\w-]*|(?<=Bearer )[\w.~+/=-]+|(?<=://)[^/@\s\"]*:[^/@\s\"]*(?=@)"
)


def log_json(level: str) -> None:
    """One JSON object a line, for the platform; libraries' own warnings come in the same shape."""
    render: Processor = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
    ]
    _configure([*processors, render, blot], LEVELS[level], sys.stdout)
    plain = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    names: Callable[..., Any] = structlog.stdlib.add_logger_name
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[plain, render, blot], foreign_pre_chain=[*processors, names]
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def log_text() -> None:
    """Warnings and worse, where they do not get into a command's output."""
    render = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    _configure([structlog.processors.add_log_level, render, blot], logging.WARNING, sys.stderr)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, force=True)


def blot(_logger: Any, _method: str, line: MutableMapping[str, Any] | str) -> str:
    """The last processor: a rendered line without what looks like a secret."""
    return _SECRET.sub("***", str(line))


def _configure(processors: list[Any], level: int, target: Any) -> None:
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(target),
        cache_logger_on_first_use=True,
    )
