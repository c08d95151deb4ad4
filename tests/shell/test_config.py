"""The configuration: read once, everything wrong named at once, each fault with its key and what to write."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.config import LOOK, OFFLINE, Settings, load_settings
from bot.config_faults import faults_of
from bot.config_model import File, read_duration
from state.errors import ConfigError
from state.policy import Durations

SECRETS = {
    "SLACK_BOT_TOKEN": "xoxb-very-secret",
    "SLACK_APP_TOKEN": "xapp-very-secret",
    "IBMCLOUD_API_KEY": "key-very-secret",
    "REDIS_URL": "redis://:pw-very-secret@localhost:6379/0",
}
FILE: Mapping[str, Any] = {
    "defaults": {
        "approvers": ["U0APPROVER1", "W0APPROVER2"],
        "chart": {"repository": "oci://registry.example/nvidia", "version": "26.3.3"},
        "durations": {"poll": "10s", "master": "1h30m"},
    },
    "clusters": {
        "gpu-lab": {"mode": "act", "channel": "C0GPU1234", "operators": ["U0OPERATOR1"]},
        "gpu-prod": {"chart": {"version": "26.7.0"}, "durations": {"poll": 5}, "endpoint_type": "private"},
        "gpu-new": None,
    },
}  # fmt: skip


class Desk:
    """A process environment with one configuration file."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.patch = patch
        for name, value in SECRETS.items():
            patch.setenv(name, value)
        for name in ("SLACK_API_URL", "IKS_URL", "IAM_URL"):
            patch.delenv(name, raising=False)

    def load(self, content: Any, needs: tuple[str, ...] | None = None) -> Settings:
        path = self.folder / "config.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
        self.patch.setenv("GPU_MIGRATE_CONFIG", str(path))
        return load_settings() if needs is None else load_settings(needs)

    def faults(self, content: Any, needs: tuple[str, ...] | None = None) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            self.load(content, needs)
        assert "very-secret" not in str(caught.value)
        found = caught.value.reason.facts["faults"]
        assert isinstance(found, tuple)
        return list(found)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def test_given_a_file_when_loaded_then_clusters_have_what_they_say_over_the_defaults(desk: Desk) -> None:
    settings = desk.load(FILE)
    lab, prod, new = (settings.policies()[name] for name in ("gpu-lab", "gpu-prod", "gpu-new"))

    assert (lab.observe, prod.observe, new.observe) == (False, True, True)
    assert lab.approvers == ("U0APPROVER1", "W0APPROVER2")
    assert (lab.operators, prod.operators) == (("U0OPERATOR1",), ("U0APPROVER1", "W0APPROVER2"))
    assert (lab.chart.version, prod.chart.version) == ("26.3.3", "26.7.0")
    assert prod.chart.repository == "oci://registry.example/nvidia"
    assert lab.durations.poll == timedelta(seconds=10)
    assert (prod.durations.poll, prod.durations.master) == (timedelta(seconds=5), timedelta(minutes=90))
    assert new.durations.drain == Durations().drain
    assert settings.channel_of("gpu-lab") == "C0GPU1234"
    assert settings.channel_of("gpu-new") == settings.channel_of("unknown") == ""
    assert settings.clusters["gpu-prod"].endpoint_type == "private"


def test_given_nothing_but_a_cluster_when_loaded_then_it_is_only_observed(desk: Desk) -> None:
    settings = desk.load({"clusters": {"gpu-lab": {}}})
    policy = settings.policies()["gpu-lab"]

    assert policy.observe
    assert policy.approvers == ()
    assert policy.target_minor == "1.36"
    assert policy.chart.version == "26.7.0"
    assert settings.iks_url == "https://containers.cloud.ibm.com/global"
    assert settings.replica


def test_given_many_faults_when_loaded_then_all_are_named_at_once(desk: Desk) -> None:
    desk.patch.delenv("SLACK_APP_TOKEN")
    faults = desk.faults(
        {
            "languages": "de",
            "http_port": "eighty",
            "defaults": {"durations": {"poll": "soon"}},
            "clusters": {
                "gpu-lab": {"mode": "act"},
                "gpu-prod": {"mode": "yes", "approvers": ["max", "U0APPROVER1"], "channels": "C0GPU1234"},
            },
        }
    )
    text = "\n".join(faults)

    for expected in (
        "languages: there is no such key; did you mean language?",
        "http_port: 'eighty' has to be a number",
        "defaults.durations.poll: 'soon' is no duration",
        "clusters.gpu-prod.mode: 'yes' is not offered; write 'observe' or 'act'",
        "clusters.gpu-prod.approvers[0]: 'max' is no Slack user id",
        "clusters.gpu-prod.channels: there is no such key; did you mean channel?",
        "SLACK_APP_TOKEN: is not set; set SLACK_APP_TOKEN or SLACK_APP_TOKEN_FILE",
    ):
        assert expected in text
    assert len(faults) == 7


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"clusters": {"a": {"mode": "act"}}}, "clusters.a.approvers: nobody could answer"),
        ({"clusters": {"a": {"mode": "act", "approvers": []}}}, "clusters.a.approvers: nobody could answer"),
        ({}, "clusters: names no cluster"),
        ({"clusters": {}}, "clusters: names no cluster"),
        ({"clusters": ["a"]}, "clusters: has to hold keys"),
        ({"clusters": {"a": "act"}}, "clusters.a: 'act' has to hold keys"),
        ({"clusters": {"a": {"approvers": "U0APPROVER1"}}}, "clusters.a.approvers: 'U0APPROVER1' has to be a list"),
        ({"clusters": {"a": {"channel": "#gpu"}}}, "clusters.a.channel: '#gpu' is no Slack channel id"),
        ({"clusters": {"a": {"target_minor": 1.37}}}, "clusters.a.target_minor"),
        ({"clusters": {"a": {"chart": {"version": 26.7}}}}, "clusters.a.chart.version: 26.7 has to be text"),
        ({"clusters": {"a": {"chart": {"version": "latest"}}}}, "is no chart version"),
        ({"clusters": {"a": {"chart": {"repository": "charts"}}}}, "is no chart source"),
        ({"clusters": {"a": {"chart": {"tested": ["26.7.0"]}}}}, "clusters.a.chart.tested"),
        ({"clusters": {"a": {"chart": {"tested": ["26.7.0", "26.3.0"]}}}}, "the lowest version stands first"),
        ({"clusters": {"a": {"chart": {"release": "GPU Operator"}}}}, "clusters.a.chart.release"),
        ({"clusters": {"a": {"durations": {"drain": 0}}}}, "has to be more than nothing"),
        ({"clusters": {"a": {"durations": {"drian": 5}}}}, "did you mean drain?"),
        ({"clusters": {"a": {"endpoint_type": "vpn"}}}, "write 'public', 'private' or 'vpe'"),
        (
            {"clusters": {"a": {}}, "iks_url": "containers.cloud.ibm.com"},
            "iks_url: 'containers.cloud.ibm.com' is no URL",
        ),
        ({"clusters": {"a": {}}, "ca_bundle": "/nowhere.pem"}, "ca_bundle"),
        ({"clusters": {"a": {}}, "redis_replicas": 10}, "redis_replicas: 10 has to be a number from 0 to 9, or auto"),
        ({"clusters": {"a": {}}, "redis_replicas": "one"}, "redis_replicas: 'one' has to be a number from 0 to 9"),
        ({"clusters": {"a": {}}, "iam_token_file": "/var/run/token"}, "iam_profile: is missing"),
        ({"clusters": {"a": {}}, "slack_bot_token": "xoxb-very-secret"}, "slack_bot_token: there is no such key"),
        ({"clusters": {"a": {}}, "proxy": "user:pw-very-secret@proxy"}, "proxy: is no URL"),
        ("- a\n- b\n", "has to hold keys such as clusters"),
        ("clusters: {a: {}, a: {}}\n", "the key a stands twice"),
        ("clusters: [\n", "is no YAML"),
        ("clusters: !!python/object:os.system {}\n", "is no YAML"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_given_one_fault_when_loaded_then_it_is_named_with_its_key(desk: Desk, content: Any, fault: str) -> None:
    faults = desk.faults(content)

    assert len(faults) == 1
    assert fault in faults[0]


def test_given_no_file_when_loaded_then_it_is_said_how_to_name_one(desk: Desk) -> None:
    desk.patch.delenv("GPU_MIGRATE_CONFIG", raising=False)
    with pytest.raises(ConfigError, match="GPU_MIGRATE_CONFIG: is not set"):
        load_settings()
    desk.patch.setenv("GPU_MIGRATE_CONFIG", "/nowhere/config.yaml")
    with pytest.raises(ConfigError, match=r"/nowhere/config\.yaml cannot be read"):
        load_settings()


def test_given_variables_when_loaded_then_they_win_and_are_named_by_their_own_name(desk: Desk) -> None:
    desk.patch.setenv("SLACK_API_URL", "http://127.0.0.1:1/api/")
    desk.patch.setenv("GPU_MIGRATE_REPLICA", "two")
    desk.patch.setenv("GPU_MIGRATE_HTTP_PORT", "0")
    settings = desk.load({**FILE, "replica": "one", "slack_api_url": "https://other.example"})

    assert (settings.slack_api_url, settings.replica, settings.http_port) == ("http://127.0.0.1:1/api", "two", 0)

    desk.patch.setenv("GPU_MIGRATE_HTTP_PORT", "99999")
    desk.patch.setenv("IKS_URL", "nonsense")
    faults = desk.faults(FILE)

    assert [fault.partition(":")[0] for fault in faults] == ["GPU_MIGRATE_HTTP_PORT", "IKS_URL"]


@pytest.mark.parametrize(("said", "meant"), [("auto", None), (0, 0), ("2", 2), (None, None)])
def test_given_replicas_of_redis_when_loaded_then_auto_is_left_to_what_is_there(
    desk: Desk, said: object, meant: int | None
) -> None:
    assert desk.load({**FILE, "redis_replicas": said}).redis_replicas == meant


def test_given_secrets_in_files_when_rotated_then_the_new_one_is_read(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("first\n")
    desk.patch.delenv("IBMCLOUD_API_KEY")
    desk.patch.setenv("IBMCLOUD_API_KEY_FILE", str(path))
    settings = desk.load(FILE)
    first = settings.secret("IBMCLOUD_API_KEY")
    path.write_text("second\n")
    second = settings.secret("IBMCLOUD_API_KEY")
    path.unlink()

    assert (first, second) == ("first", "second")
    with pytest.raises(ConfigError):
        settings.secret("IBMCLOUD_API_KEY")


@pytest.mark.parametrize("content", ["", "  \n", None], ids=["empty", "blank", "missing"])
def test_given_an_unusable_secret_file_when_loaded_then_it_is_named(
    desk: Desk, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content)
    desk.patch.delenv("SLACK_BOT_TOKEN")
    desk.patch.setenv("SLACK_BOT_TOKEN_FILE", str(path))

    assert desk.faults(FILE)[0].startswith(f"SLACK_BOT_TOKEN_FILE: {path} cannot be used")


def test_given_a_secret_set_twice_when_loaded_then_it_is_refused(desk: Desk) -> None:
    desk.patch.setenv("REDIS_URL_FILE", "/run/secrets/redis")

    assert desk.faults(FILE) == ["REDIS_URL: is set twice; remove REDIS_URL or REDIS_URL_FILE"]


def test_given_a_look_without_slack_when_loaded_then_only_its_own_secrets_are_needed(desk: Desk) -> None:
    for name in SECRETS:
        desk.patch.delenv(name)
    desk.patch.setenv("REDIS_URL", "redis://localhost")

    assert desk.load(FILE, OFFLINE).clusters
    assert desk.faults(FILE, (*OFFLINE, *LOOK)) == [
        "IBMCLOUD_API_KEY: is not set; set IBMCLOUD_API_KEY or IBMCLOUD_API_KEY_FILE"
    ]


def test_given_a_pods_own_identity_when_loaded_then_no_key_is_needed(desk: Desk) -> None:
    desk.patch.delenv("IBMCLOUD_API_KEY")

    assert (
        desk.load({**FILE, "iam_token_file": "/var/run/token", "iam_profile": "Profile-1"}).iam_profile == "Profile-1"
    )


def test_given_settings_when_shown_then_no_secret_is_in_them(desk: Desk) -> None:
    settings = desk.load({**FILE, "proxy": "http://user:pw-very-secret@proxy.example:3128"})

    assert "very-secret" not in repr(settings)


@given(st.timedeltas(timedelta(milliseconds=1), timedelta(days=7)))
def test_given_any_duration_when_written_in_seconds_then_it_is_the_same(duration: timedelta) -> None:
    assert abs(read_duration(duration.total_seconds()) - duration) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("1h30m", 5400), ("1.5m", 90), ("250ms", 0.25), ("1d", 86400), (7, 7)],
)
def test_given_a_duration_when_read_then_units_add_up(text: Any, seconds: float) -> None:
    assert read_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "5", "m5", "5 minutes", "-5m", "1e9d", "9d", True, None, [], "nan", float("nan"), float("inf"), -1]
)
def test_given_no_duration_when_read_then_it_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"duration|nothing"):
        read_duration(text)


KEYS = [
    "clusters",
    "defaults",
    "chart",
    "durations",
    "poll",
    "mode",
    "approvers",
    "values",
    "tested",
    "channel",
    "proxy",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYS), ANYTHING))
def test_given_any_content_when_judged_then_it_is_settings_or_one_line_a_fault(content: Any) -> None:
    try:
        File.model_validate(content)
    except ValidationError as error:
        faults = faults_of(error, {})

        assert faults
        assert all("\n" not in fault and ": " in fault for fault in faults)


def test_given_a_mark_that_ends_before_calls_settle_when_loaded_then_it_is_refused(desk: Desk) -> None:
    faults = desk.faults({"clusters": {"a": {"durations": {"stale": "1m"}}, "b": {"durations": {"stale": 4}}}})

    assert any(line.startswith("clusters.b.durations.stale: ") and "at least 5s" in line for line in faults)
    faults = desk.faults({"clusters": {"a": {"durations": {"stale": "1m"}}}})
    assert any(line.startswith("clusters.a.durations.stale: has to be longer than settle") for line in faults)
