"""Read a kubeconfig: where the API server is and how to prove who we are.

Understood is what IKS and ordinary clusters write: a bearer token, an OIDC id-token (IKS's non-admin form), a client
certificate. Programs (`exec`) are not run: a file that came over the network must not start anything here.
"""

import base64
import binascii
import contextlib
import ipaddress
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from bot.adapters.kubernetes.fields import Json, flag, rows, table, text
from state.errors import PermanentError
from state.reasons import Code, reason


@dataclass(frozen=True, slots=True)
class Access:
    """What a connection needs. PEM texts are bytes; secrets never show in `repr`."""

    server: str
    token: str = field(default="", repr=False)
    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    server_name: str = ""
    proxy: str = ""

    @property
    def endpoint(self) -> tuple[str, bytes, bytes, bytes, str, str]:
        """All but the token: what a pool of connections is bound to."""
        return (self.server, self.authority, self.certificate, self.key, self.server_name, self.proxy)


def read_access(raw: bytes) -> Access:
    """Read the current context. PermanentError(API_UNREACHABLE) names what is missing, never a value."""
    try:
        parsed = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe loaders)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _unusable("it is no YAML") from None
    if not isinstance(parsed, dict):
        raise _unusable("it is no mapping")
    context = table(_named(parsed, "contexts", _current(parsed)), "context")
    cluster = table(_named(parsed, "clusters", text(context, "cluster")), "cluster")
    user = table(_named(parsed, "users", text(context, "user")), "user")
    return Access(
        server=_server(cluster),
        token=_token(user),
        authority=_pem(cluster, "certificate-authority"),
        certificate=_pem(user, "client-certificate"),
        key=_pem(user, "client-key"),
        server_name=text(cluster, "tls-server-name"),
        proxy=text(cluster, "proxy-url"),
    )


def tls(access: Access) -> ssl.SSLContext | None:
    """Make the TLS context; None for plain HTTP on loopback. Reads and writes small files: call it in a thread."""
    if access.server.startswith("http:"):
        return None
    try:
        context = ssl.create_default_context(cadata=access.authority.decode("ascii") if access.authority else None)
        if access.certificate:
            _load_client(context, access)
    except (ssl.SSLError, UnicodeDecodeError, ValueError):
        raise _unusable("its certificates cannot be read") from None
    return context


def _load_client(context: ssl.SSLContext, access: Access) -> None:
    """Load certificate and key; the library takes them only from a file, which lives for this call (mode 0600)."""
    with tempfile.NamedTemporaryFile(prefix="gpu-migrate-", suffix=".pem") as file:
        file.write(access.certificate + b"\n" + access.key)
        file.flush()
        context.load_cert_chain(file.name)


def _current(parsed: Json) -> str:
    """Name the current context; a file with a single one needs no word for it."""
    contexts = rows(parsed, "contexts")
    return text(parsed, "current-context") or (text(contexts[0], "name") if len(contexts) == 1 else "")


def _named(parsed: Json, kind: str, name: str) -> Json:
    for row in rows(parsed, kind):
        if name and text(row, "name") == name:
            return row
    raise _unusable(f"its current context has no entry in {kind}")


def _server(cluster: Json) -> str:
    server = text(cluster, "server").rstrip("/")
    try:
        parts = urlsplit(server)
        _ = parts.port
    except ValueError:
        raise _unusable("its server is no URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _unusable("it names no server")
    plain = parts.scheme == "http"
    if plain and not _loopback(parts.hostname):
        raise _unusable("plain HTTP is allowed on loopback only")
    if flag(cluster, "insecure-skip-tls-verify") and not plain:
        raise _unusable("insecure-skip-tls-verify is refused")
    return server


def _loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _token(user: Json) -> str:
    if "exec" in user:
        raise _unusable("credentials from a program (exec) are refused")
    provider = table(table(user, "auth-provider"), "config")
    found = text(user, "token") or text(provider, "id-token") or text(provider, "access-token")
    if not found and (file := text(user, "tokenFile")):
        found = _file(file, "tokenFile").decode("ascii", "replace").strip()
    if any(sign.isspace() or not sign.isprintable() or not sign.isascii() for sign in found):
        raise _unusable("its token has signs that no header can carry")
    return found


def _pem(entry: Json, key: str) -> bytes:
    """Take `<key>-data` (base64) or the file that `<key>` names."""
    if data := text(entry, f"{key}-data"):
        try:
            return base64.b64decode(data, validate=False)
        except (binascii.Error, ValueError):
            raise _unusable(f"{key}-data is no base64") from None
    return _file(path, key) if (path := text(entry, key)) else b""


def _file(path: str, key: str) -> bytes:
    if not Path(path).is_absolute():
        raise _unusable(f"{key} is a relative path, and relative to what is not known")
    try:
        return Path(path).read_bytes()
    except OSError:
        raise _unusable(f"the file of {key} cannot be read") from None


def _unusable(what: str) -> PermanentError:
    return PermanentError(reason(Code.API_UNREACHABLE, detail=f"kubeconfig: {what}"))
