"""Helm's complaints as our errors. The rows are the classes recorded from helm 4.3.1; wordings shortened to their core."""

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.helm_failures import LONGEST, failure
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.reasons import Code

HYPHEN = "-"
HELM_3_NAME_IN_USE = f"cannot re{HYPHEN}use a name that is still in use"  # helm 4 spells it as one word
HEAD = "Error: INSTALLATION FAILED: "
CLUSTER = "cluster reachability check failed: kubernetes cluster unreachable: "
REPOSITORY = 'looks like "https://r/x" is not a valid chart repository or cannot be reached: '
OWNED = (
    'unable to continue with install: ClusterRole "gpu-operator" in namespace "" exists and cannot be imported into the '
    "current release: invalid ownership metadata; label validation error: missing key"
)


@pytest.mark.parametrize(
    ("stderr", "kind", "code"),
    [
        (HELM_3_NAME_IN_USE, TransientError, Code.HELM_FAILED),
        ("release name check failed: cannot reuse a name that is still in use", TransientError, Code.HELM_FAILED),
        ("another operation (install/upgrade/rollback) is in progress", TransientError, Code.HELM_FAILED),
        (OWNED, PermanentError, Code.FOREIGN_OPERATOR),
        (f'{CLUSTER}Get "https://h/version": dial tcp: connection refused', TransientError, Code.API_UNREACHABLE),
        (f"{CLUSTER}the server has asked for the client to provide credentials", TransientError, Code.API_LOGIN),
        (f"{CLUSTER}Unauthorized", TransientError, Code.API_LOGIN),
        (
            'secrets is forbidden: User "IAM#x" cannot create resource "secrets" in API group "" in the namespace "y"',
            PermanentError,
            Code.MISSING_RIGHTS,
        ),
        (f"{REPOSITORY}dial tcp: lookup r: no such host", TransientError, Code.HELM_FAILED),
        (f"{REPOSITORY}failed to fetch https://r/x/index.yaml : 404 File not found", PermanentError, Code.HELM_FAILED),
        (
            f"{REPOSITORY}failed to fetch https://r/x/index.yaml : 503 Service Unavailable",
            TransientError,
            Code.HELM_FAILED,
        ),
        ("failed to fetch https://r/x.tgz : 401 Unauthorized", PermanentError, Code.HELM_FAILED),
        ('failed to perform "FetchReference" on source: Get "https://r": timeout', TransientError, Code.HELM_FAILED),
        ('chart "gpu-operator" version "v9.9.9" not found in https://r repository', PermanentError, Code.HELM_FAILED),
        ('path "/nope" not found', PermanentError, Code.HELM_FAILED),
        ("values don't meet the specifications of the schema(s)", PermanentError, Code.HELM_FAILED),
        (".spec.x: field not declared in schema", PermanentError, Code.HELM_FAILED),
        ("context deadline exceeded", OutcomeUnknown, Code.HELM_FAILED),
        ("release gpu-operator failed: context canceled", OutcomeUnknown, Code.HELM_FAILED),
        ("conflict occurred while applying object /gpu-operator", OutcomeUnknown, Code.HELM_FAILED),
        ('Post "https://h/apis": dial tcp: connect: connection refused', OutcomeUnknown, Code.HELM_FAILED),
        ("the server has asked for the client to provide credentials (post secrets)", OutcomeUnknown, Code.HELM_FAILED),
        ("words nobody has seen", OutcomeUnknown, Code.HELM_FAILED),
    ],
)
def test_given_helms_words_when_judged_then_only_what_was_never_recorded_is_no_unknown(
    stderr: str, kind: type, code: Code
) -> None:
    error = failure(1, f"level=WARN msg=x\n{HEAD}{stderr}\n")

    assert type(error) is kind
    assert error.reason.code is code


def test_given_a_foreign_object_when_judged_then_it_is_named() -> None:
    assert failure(1, HEAD + OWNED).reason.text("what") == "ClusterRole gpu-operator"


def test_given_a_missing_right_when_judged_then_verb_and_resource_are_named() -> None:
    words = 'clusterroles.rbac.authorization.k8s.io "x" is forbidden: User "u" cannot get resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope'  # noqa: E501
    error = failure(1, HEAD + words)

    assert error.reason.facts["rights"] == ("get clusterroles.rbac.authorization.k8s.io",)


def test_given_a_signal_when_judged_then_nobody_knows() -> None:
    error = failure(-signal.SIGKILL, "")

    assert isinstance(error, OutcomeUnknown)
    assert "signal 9" in error.reason.text("detail")


@given(st.integers(-64, 255), st.text(max_size=1200))
def test_given_anything_when_judged_then_it_is_one_of_ours_in_one_line(exit_code: int, stderr: str) -> None:
    error = failure(exit_code, stderr)

    assert isinstance(error, TransientError | PermanentError | OutcomeUnknown)
    assert "\n" not in str(error)
    assert len(error.reason.text("detail")) <= LONGEST
