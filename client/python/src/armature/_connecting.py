"""The reasons why a daemon cannot be reached, in words of this package instead of those of gRPC and TLS."""

from __future__ import annotations

import re
import socket
import ssl
from typing import Optional, Tuple

from ._settings import Tls

_SPEAKS_HTTP = re.compile("HTTP/2|http1|SETTINGS", re.I)

# Texts of gRPC, and what they say of the address.
_REASONS = (
    (re.compile("refused", re.I), "{} refuses the connection: no daemon listens there"),
    (re.compile("No such file", re.I), "no daemon listens at {}: there is no such socket"),
    (re.compile("lookup|resol|not known|not found", re.I), "the name in {} cannot be resolved"),
    (re.compile("timed out|timeout|FD shutdown|deadline", re.I), "{} does not answer a connection in time"),
    (_SPEAKS_HTTP, "{} speaks HTTP/1, and not gRPC"),
    (re.compile("unreachable|no route", re.I), "there is no route to {}"),
)
_HANDSHAKE = re.compile("handshake failed|SSL_ERROR", re.I)
# OpenSSL's reasons for a handshake with a port that has no TLS, or none that this package could use.
_OF_OTHER_PROTOCOLS = (
    "WRONG_VERSION_NUMBER",
    "SSLV3_ALERT_HANDSHAKE_FAILURE",
    "PACKET_LENGTH_TOO_LONG",
    "TLSV1_ALERT_PROTOCOL_VERSION",
    "UNSUPPORTED_PROTOCOL",
    "TLSV1_ALERT_NO_APPLICATION_PROTOCOL",  # in the text alone: the module ssl has no name for it
)
_PROBE_SECONDS = 2.0


def explain(text: str, address: str, tls: Optional[Tls]) -> Tuple[str, bool]:
    """The reason why a connection failed, from gRPC's text, and whether it stays until somebody changes a setting."""
    if tls is not None and _HANDSHAKE.search(text):
        reason = _reason_of_handshake(address, tls)
        return reason or f"the TLS handshake with {address} failed", reason is not None
    for pattern, reason in _REASONS:
        if pattern.search(text):
            return reason.format(address), pattern is _SPEAKS_HTTP
    return f"{address} cannot be reached: {text}", False


def _reason_of_handshake(address: str, tls: Tls) -> Optional[str]:
    """Tries a TLS handshake, because gRPC does not give the reason of a failed one. None: the next one may succeed."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
        context.set_alpn_protocols(["h2"])
        if tls.certificate_file is not None:
            context.load_cert_chain(tls.certificate_file, tls.key_file)
        with socket.create_connection((host, int(port)), _PROBE_SECONDS) as plain:
            with context.wrap_socket(plain, server_hostname=host) as wrapped:
                wrapped.recv(1)  # the daemon's complaint about a missing certificate comes behind the handshake
    except ssl.SSLCertVerificationError as error:
        return f"the certificate of {address} is not trusted: {error.verify_message}"
    except ssl.SSLError as error:
        if "CERTIFICATE" in (error.reason or "") or "UNKNOWN_CA" in (error.reason or ""):
            return f"{address} wants a certificate of the client that it trusts"
        text = str(error).upper().replace(" ", "_")
        if any(name in text for name in _OF_OTHER_PROTOCOLS):
            return f"{address} does not speak TLS"
    except (OSError, ValueError):
        pass  # the connection ended, or somebody else listens now, or nobody, or gRPC alone understands the address
    return None
