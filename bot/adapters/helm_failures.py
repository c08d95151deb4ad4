"""What a failed `helm install` says, as our errors. Texts are those of helm 4.3 and 3.21, matched in small letters.

Permanent or transient only where helm gives up before it has recorded a release (name, ownership, chart, rights,
login, network); everything else, unknown words included, is an unknown outcome: the release and the cluster tell
(B088). Nothing but the last sentence of helm's stderr is passed on, shortened.
"""

import re
from collections.abc import Callable
from datetime import timedelta

from state.errors import GpuMigrateError, OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code, Reason, reason

LONGEST = 400
AGAIN = timedelta(seconds=30)

_OBJECT = re.compile(r'(\w+) "([^"]+)" in namespace "([^"]*)"')
_FORBIDDEN = re.compile(r'cannot (\w+) resource "([^"]+)"(?: in API group "([^"]*)")?')


def failure(exit_code: int, stderr: str) -> GpuMigrateError:
    """Make the error of a call that ended with `exit_code`; negative: the signal that ended it."""
    words = stderr.lower()
    detail = last_sentence(stderr)
    if exit_code < 0:
        return OutcomeUnknown(_failed(exit_code, f"ended by signal {-exit_code}"))
    for pattern, make in _KNOWN:
        if re.search(pattern, words):
            return make(exit_code, stderr, detail)
    return OutcomeUnknown(_failed(exit_code, detail))


def last_sentence(stderr: str) -> str:
    """Helm's own error line, else its last line: printable, bounded, without warnings."""
    lines = [" ".join(line.split()) for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:")]
    line = (errors or lines or ["helm said nothing"])[-1]
    line = "".join(sign for sign in line if sign.isprintable()).removeprefix("Error:").strip()
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _failed(exit_code: int, detail: str) -> Reason:
    return reason(Code.HELM_FAILED, exit=exit_code, detail=detail)


def _foreign(_exit: int, stderr: str, detail: str) -> GpuMigrateError:
    """Something else owns an object of the chart. Nothing was recorded."""
    found = _OBJECT.search(stderr)
    what = f"{found[1]} {found[3]}{'/' if found[3] else ''}{found[2]}" if found else detail
    return PermanentError(reason(Code.FOREIGN_OPERATOR, what=what))


def _rights(exit_code: int, stderr: str, detail: str) -> GpuMigrateError:
    found = tuple(f"{verb} {name}{'.' if group else ''}{group}" for verb, name, group in _FORBIDDEN.findall(stderr))
    if not found:
        return PermanentError(_failed(exit_code, detail))
    return PermanentError(reason(Code.MISSING_RIGHTS, rights=tuple(dict.fromkeys(found))))


def _login(_exit: int, _stderr: str, _detail: str) -> GpuMigrateError:
    return TransientError(reason(Code.API_LOGIN, status=401), timedelta(seconds=1))


def _unreachable(_exit: int, _stderr: str, detail: str) -> GpuMigrateError:
    return TransientError(reason(Code.API_UNREACHABLE, detail=detail), AGAIN)


def _later(exit_code: int, _stderr: str, detail: str) -> GpuMigrateError:
    return TransientError(_failed(exit_code, detail), AGAIN)


def _never(exit_code: int, _stderr: str, detail: str) -> GpuMigrateError:
    return PermanentError(_failed(exit_code, detail))


def _unknown(exit_code: int, _stderr: str, detail: str) -> GpuMigrateError:
    return OutcomeUnknown(_failed(exit_code, detail))


_KNOWN: tuple[tuple[str, Callable[[int, str, str], GpuMigrateError]], ...] = (
    (
        r"cannot re-?use a name that is still in use|another operation \(install/upgrade/rollback\) is in progress",
        _later,
    ),
    (r"invalid ownership metadata|cannot be imported into the current release", _foreign),
    (r"context canceled|context deadline exceeded|timed out waiting|not ready\. status", _unknown),
    (r"kubernetes cluster unreachable.*(unauthorized|provide credentials|oidc|id-token)", _login),
    (r"kubernetes cluster unreachable", _unreachable),
    (r"is forbidden: user|is forbidden", _rights),
    (r"(repository|fetch|\.tgz|index\.yaml|oci://|head \").*4\d\d (unauthorized|forbidden|not found)", _never),
    (r"chart .* not found|no chart (version|name) found|path .* not found|improper constraint", _never),
    (r"unknown flag|invalid chart reference|non-absolute urls|failed to parse|parse error at|cannot unmarshal", _never),
    (r"meet the specifications of the schema|field not declared in schema|unknown field", _never),
    (r"is not a valid chart repository or cannot be reached|index\.yaml|\.tgz\"?:|failed to fetch", _later),
    (r"failed to (do request|perform \"|resolve|authorize)|pulling from|oci://", _later),
)
"""First match wins, so order counts: texts that may quote others stand before those they quote.

Network errors count as transient only beside the words of fetching a chart: in the middle of an install the same words
mean that part of it may have been recorded.
"""
