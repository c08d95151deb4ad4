"""Run the `helm` command so that it can be ended, sees no secret in its arguments and leaves nothing on disk.

Each call has a private folder for kubeconfig (0600), values and helm's own caches, deleted afterwards, and a process
group of its own. Nothing is waited for but hooks: what the chart brings up is watched by looking at the cluster.
SIGTERM lets helm mark its release as failed; SIGKILL would leave it pending for ever, so it comes last.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.helm_failures import failure, last_sentence
from state.errors import OutcomeUnknown, PermanentError, TransientError
from state.orders import InstallChart
from state.reasons import Code, Reason, reason

PASSED_ON = (
    "PATH",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HELM_REGISTRY_CONFIG",
)
GRACE_SECONDS = 5.0
FOLDER = "gpu-migrate-helm-"
LEFT_OVER_SECONDS = 900.0  # no call of ours takes that long
VERSION_SECONDS = 15.0
CHART_SECONDS = 10.0  # kept back from the whole for ending the process
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+[\w.+-]*)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a helm process ended."""

    exit_code: int
    stdout: str
    stderr: str


class HelmCli:
    """The port `Helm`.

    Args:
        binary: path or name of helm 4 (3 works too).
        timeout: seconds for a whole install, download of the chart included.
        ca_bundle: PEM file for chart repositories, "" for the system's trust.
        proxy: URL for chart and API server, "" for what the environment says.
    """

    def __init__(
        self,
        binary: str,
        timeout: float = 180.0,
        *,
        ca_bundle: str = "",
        proxy: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._binary = binary
        self._timeout = timeout
        self._ca_bundle = ca_bundle
        proxies = {name: proxy for name in ("HTTP_PROXY", "HTTPS_PROXY") if proxy}
        self._environment = {**(os.environ if environment is None else environment), **proxies}

    async def install(self, order: InstallChart, kubeconfig: bytes) -> None:
        """`helm install` under the order's fixed name.

        Raises PermanentError or TransientError where nothing was recorded, OutcomeUnknown otherwise.
        """
        folder = await asyncio.to_thread(_prepare, kubeconfig, order.values)
        try:
            chart, options = _source(order, self._ca_bundle)
            arguments = ["install", order.release, chart, "--namespace", order.namespace, "--create-namespace"]
            patience = max(self._timeout - CHART_SECONDS, 1.0)
            limits = ["--timeout", f"{patience:.0f}s", "--values", str(folder / "values.json")]
            outcome = await self._run([*arguments, *options, *limits], folder, self._timeout)
        except TimeoutError as error:
            raise OutcomeUnknown(_failed(f"no end within {self._timeout:.0f} s", -signal.SIGTERM)) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if outcome.exit_code != 0:
            raise failure(outcome.exit_code, outcome.stderr)

    async def version(self) -> str:
        """`4.3.1`. PermanentError(HELM_MISSING, HELM_FAILED), TransientError when it does not answer."""
        folder = await asyncio.to_thread(_prepare, b"", {})
        try:
            outcome = await self._run(["version", "--template", "{{.Version}}"], folder, VERSION_SECONDS)
        except TimeoutError as error:
            raise TransientError(_failed(f"no version within {VERSION_SECONDS:.0f} s")) from error
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        found = _VERSION.search(outcome.stdout)
        if outcome.exit_code != 0 or found is None:
            detail = last_sentence(outcome.stderr or outcome.stdout)
            raise PermanentError(reason(Code.HELM_FAILED, exit=outcome.exit_code, detail=detail))
        return found[1]

    async def _run(self, arguments: list[str], folder: Path, seconds: float) -> Outcome:
        """Run to the end. However this is left, no process of the call is left behind. TimeoutError past `seconds`."""
        process = await self._start(arguments, folder)
        try:
            async with asyncio.timeout(seconds):
                stdout, stderr = await process.communicate()
        finally:
            await _end(process)
        code = process.returncode
        return Outcome(-1 if code is None else code, _decoded(stdout), _decoded(stderr))

    async def _start(self, arguments: list[str], folder: Path) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                self._binary,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._surroundings(folder),
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise PermanentError(reason(Code.HELM_MISSING, path=self._binary)) from error

    def _surroundings(self, folder: Path) -> dict[str, str]:
        """Only what helm needs: none of our tokens are in its environment."""
        kept = {name: self._environment[name] for name in PASSED_ON if name in self._environment}
        homes = {f"HELM_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        return {**kept, **homes, "HOME": str(folder), "TMPDIR": str(folder), "KUBECONFIG": str(folder / "kubeconfig")}


def _source(order: InstallChart, ca_bundle: str) -> tuple[str, list[str]]:
    """Chart argument and options for a repository URL, a registry or a folder. Versions are spelled with v upstream."""
    version = ["--version", f"v{order.version.removeprefix('v')}"]
    trust = ["--ca-file", ca_bundle] if ca_bundle else []
    place = order.repository.rstrip("/")
    if place.startswith("oci://"):
        return (place if place.endswith(f"/{order.chart}") else f"{place}/{order.chart}"), [*version, *trust]
    if place.startswith(("http://", "https://")):
        return order.chart, ["--repo", place, *version, *trust]
    return _local(Path(place.removeprefix("file://")), order), []


def _local(place: Path, order: InstallChart) -> str:
    plain = order.version.removeprefix("v")
    candidates = (
        place / f"{order.chart}-v{plain}.tgz",
        place / f"{order.chart}-{plain}.tgz",
        place / order.chart,
        place,
    )
    for candidate in candidates:
        if candidate.is_file() or (candidate / "Chart.yaml").is_file():
            return str(candidate.resolve())
    raise PermanentError(_failed(f"no chart {order.chart} {order.version} in {place}"))


def forget_leftovers(now: float) -> int:
    """Remove folders of calls whose process was killed: they hold a kubeconfig. How many; younger ones may be in use."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if found.st_uid == os.getuid() and now - found.st_mtime > LEFT_OVER_SECONDS:
                shutil.rmtree(folder)
                removed += 1
    return removed


def _prepare(kubeconfig: bytes, values: Mapping[str, object]) -> Path:
    """Make the private folder of one call (0700) and its files (0600)."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    for name, content in (("kubeconfig", kubeconfig), ("values.json", json.dumps(values).encode())):
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    return folder


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process group: asked first, killed after the grace; children that outlive their parent too."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.communicate()
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, which: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)


def _decoded(raw: bytes) -> str:
    return raw[-100_000:].decode("utf-8", "replace")


def _failed(detail: str, exit_code: int = 1) -> Reason:
    return reason(Code.HELM_FAILED, exit=exit_code, detail=detail)
