"""A certificate authority and a server certificate for 127.0.0.1, made anew for each world.

Real clients send a bearer token over TLS only, so the pretend API servers need certificates, and a fresh machine may
have no tool to make them. ECDSA on P-256 (FIPS 186-5, SEC 1) and X.509 (RFC 5280), as much of them as this needs; the
arithmetic is not hardened against anybody: keys made here must never leave a sandbox.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_A = _P - 3
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_SIZE = 32

_EC_KEY, _P256, _ECDSA_SHA256 = "1.2.840.10045.2.1", "1.2.840.10045.3.1.7", "1.2.840.10045.4.3.2"
_COMMON_NAME, _SERVER = "2.5.4.3", "1.3.6.1.5.5.7.3.1"
_SUBJECT_KEY, _KEY_USAGE, _ALT_NAME, _CONSTRAINTS = "2.5.29.14", "2.5.29.15", "2.5.29.17", "2.5.29.19"
_AUTHORITY_KEY, _EXTENDED_USAGE = "2.5.29.35", "2.5.29.37"
_SIGNS_CERTIFICATES, _SIGNS = b"\x01\x06", b"\x07\x80"  # bits of key usage, preceded by the number of unused ones

Point = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM texts: the authority that clients trust, the server's certificate and its key."""

    authority: str
    server: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Key:
    secret: int
    public: bytes  # uncompressed point

    @property
    def identifier(self) -> bytes:
        return hashlib.sha1(self.public, usedforsecurity=False).digest()


def make_certificates(life: timedelta = timedelta(days=365)) -> Certificates:
    """Make a new authority and a certificate of it for 127.0.0.1 and localhost."""
    authority, server = _new_key(), _new_key()
    until = datetime.now(UTC) + life
    signing = [
        _extension(_CONSTRAINTS, _sequence(_tagged(0x01, b"\xff")), critical=True),
        _extension(_KEY_USAGE, _tagged(0x03, _SIGNS_CERTIFICATES), critical=True),
        _extension(_SUBJECT_KEY, _tagged(0x04, authority.identifier)),
    ]
    names = _sequence(_tagged(0x87, bytes((127, 0, 0, 1))), _tagged(0x82, b"localhost"))
    serving = [
        _extension(_CONSTRAINTS, _sequence(), critical=True),
        _extension(_KEY_USAGE, _tagged(0x03, _SIGNS), critical=True),
        _extension(_EXTENDED_USAGE, _sequence(_oid(_SERVER))),
        _extension(_ALT_NAME, names),
        _extension(_SUBJECT_KEY, _tagged(0x04, server.identifier)),
        _extension(_AUTHORITY_KEY, _sequence(_tagged(0x80, authority.identifier))),
    ]
    root = _certificate("gpu-migrate sandbox authority", authority, authority, until, signing)
    leaf = _certificate("127.0.0.1", server, authority, until, serving)
    return Certificates(_pem("CERTIFICATE", root), _pem("CERTIFICATE", leaf), _pem("EC PRIVATE KEY", _private(server)))


def _certificate(name: str, subject: _Key, issuer: _Key, until: datetime, extensions: list[bytes]) -> bytes:
    algorithm = _sequence(_oid(_ECDSA_SHA256))
    issued_by = "gpu-migrate sandbox authority"
    body = _sequence(
        _tagged(0xA0, _integer(2)),
        _integer(secrets.randbits(63) | 1),
        algorithm,
        _name(issued_by),
        _sequence(_time(datetime.now(UTC) - timedelta(days=1)), _time(until)),
        _name(name),
        _sequence(_sequence(_oid(_EC_KEY), _oid(_P256)), _tagged(0x03, b"\x00" + subject.public)),
        _tagged(0xA3, _sequence(*extensions)),
    )
    return _sequence(body, algorithm, _tagged(0x03, b"\x00" + _sign(issuer, body)))


def _new_key() -> _Key:
    secret = secrets.randbelow(_N - 1) + 1
    point = _times(secret, _G)
    assert point is not None
    return _Key(secret, b"\x04" + point[0].to_bytes(_SIZE, "big") + point[1].to_bytes(_SIZE, "big"))


def _sign(key: _Key, message: bytes) -> bytes:
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    while True:
        nonce = secrets.randbelow(_N - 1) + 1
        point = _times(nonce, _G)
        assert point is not None
        r = point[0] % _N
        s = pow(nonce, -1, _N) * (digest + r * key.secret) % _N
        if r and s:
            return _sequence(_integer(r), _integer(s))


def _times(factor: int, point: Point) -> Point:
    """Multiply a point of the curve by doubling and adding."""
    result: Point = None
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return other if one is None else one
    if one[0] == other[0] and (one[1] + other[1]) % _P == 0:
        return None
    if one == other:
        slope = (3 * one[0] * one[0] + _A) * pow(2 * one[1], -1, _P) % _P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P) % _P
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _private(key: _Key) -> bytes:
    secret = _tagged(0x04, key.secret.to_bytes(_SIZE, "big"))
    public = _tagged(0xA1, _tagged(0x03, b"\x00" + key.public))
    return _sequence(_integer(1), secret, _tagged(0xA0, _oid(_P256)), public)


def _tagged(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def _sequence(*parts: bytes) -> bytes:
    return _tagged(0x30, b"".join(parts))


def _integer(value: int) -> bytes:
    return _tagged(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    encoded = bytearray()
    for number in (first * 40 + second, *rest):
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        encoded += bytes(reversed(groups))
    return _tagged(0x06, bytes(encoded))


def _name(common: str) -> bytes:
    return _sequence(_tagged(0x31, _sequence(_oid(_COMMON_NAME), _tagged(0x0C, common.encode()))))


def _time(moment: datetime) -> bytes:
    return _tagged(0x17, moment.strftime("%y%m%d%H%M%SZ").encode())


def _extension(oid: str, value: bytes, *, critical: bool = False) -> bytes:
    mark = (_tagged(0x01, b"\xff"),) if critical else ()
    return _sequence(_oid(oid), *mark, _tagged(0x04, value))


def _pem(label: str, der: bytes) -> str:
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"
