"""Settings of connections."""

from __future__ import annotations

import base64
import pathlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, Union

import grpc

from .errors import InvalidArgument

# A daemon on the same machine restarts within moments; the first pause of gRPC is one second. An address that does not
# answer is given up after five seconds instead of twenty.
_RECONNECT_INITIAL_MS = 50
_RECONNECT_MAX_MS = 1000
_CONNECT_MS_MAX = 5000
_MESSAGE_BYTES_MAX = 64 << 20

Metadata = Tuple[Tuple[str, str], ...]


@dataclass(frozen=True)
class Tls:
    """Names of PEM files.

    ca_file: authorities that sign the daemon's certificate; None: the roots of gRPC.
    certificate_file, key_file: the client's certificate with its intermediates, and its key.
    """

    ca_file: Optional[str] = None
    certificate_file: Optional[str] = None
    key_file: Optional[str] = None

    def credentials(self) -> grpc.ChannelCredentials:
        """The credentials of a channel. Errors: InvalidArgument; OSError for a file that cannot be read."""
        if (self.certificate_file is None) != (self.key_file is None):
            raise InvalidArgument("a certificate of the client and its key come together")
        return grpc.ssl_channel_credentials(
            root_certificates=_read(self.ca_file),
            private_key=_read(self.key_file),
            certificate_chain=_read(self.certificate_file),
        )


def _read(name: Optional[str]) -> Optional[bytes]:
    if name is None:
        return None
    text = pathlib.Path(name).read_bytes()
    if b"-----BEGIN " not in text:
        raise InvalidArgument(f"{name} is no PEM file")
    return text


@dataclass(frozen=True)
class Settings:
    """How a transport connects."""

    addresses: Tuple[str, ...]
    credentials: Optional[grpc.ChannelCredentials]
    tls: Optional[Tls]
    metadata: Metadata
    interceptors: Tuple[Any, ...]

    @property
    def channel_options(self) -> List[Tuple[str, Any]]:
        """Options of each channel."""
        return [
            ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
            ("grpc.max_send_message_length", _MESSAGE_BYTES_MAX),
            ("grpc.initial_reconnect_backoff_ms", _RECONNECT_INITIAL_MS),
            ("grpc.max_reconnect_backoff_ms", _RECONNECT_MAX_MS),
            ("grpc.min_reconnect_backoff_ms", _CONNECT_MS_MAX),
            # Clients do not share connections: closing one ends its calls only.
            ("grpc.use_local_subchannel_pool", 1),
            # This package repeats calls, because it knows which ones may be repeated.
            ("grpc.enable_retries", 0),
        ]


_HOST_AND_PORT = re.compile(r"(?:\[[^\]]*\]|[^:/]*)(?::(\d*))?")


def _check_address(address: Any) -> None:
    """Errors: InvalidArgument for an address that could never be reached."""
    if not isinstance(address, str):
        raise InvalidArgument("an address is a text such as 'localhost:7700'")
    if not address:
        raise InvalidArgument("the address of the daemon is empty")
    if address.lower().startswith(("http:", "https:")):
        raise InvalidArgument(f"{address} is an address of HTTP; give 'host:port' of gRPC, such as 'localhost:7700'")
    # Names with a scheme, such as "dns:///host", are those of gRPC, whose port is 443 by default.
    plain = _HOST_AND_PORT.fullmatch(address)
    if plain is not None and not 1 <= int(plain.group(1) or 0) <= 65535:
        raise InvalidArgument(f"the address {address} has no port; give 'host:port', such as 'localhost:7700'")


def make_settings(
    target: Union[str, Sequence[str]],
    tls: Union[bool, Tls],
    access_key: Optional[Tuple[str, str]],
    metadata: Sequence[Tuple[str, str]],
    interceptors: Sequence[Any],
) -> Settings:
    """Checks the arguments of `connect`. Errors: InvalidArgument."""
    addresses = (target,) if isinstance(target, str) or not isinstance(target, Iterable) else tuple(target)
    if not addresses:
        raise InvalidArgument("the address of the daemon is empty")
    for address in addresses:
        _check_address(address)
    all_metadata = tuple(metadata)
    if access_key is not None:
        if not tls and not all(address.startswith("unix:") for address in addresses):
            raise InvalidArgument("the secret of the access key would be sent in clear text; use TLS")
        pair = base64.b64encode(":".join(access_key).encode()).decode()
        all_metadata += (("authorization", f"Basic {pair}"),)
    files = (Tls() if isinstance(tls, bool) else tls) if tls else None
    credentials = None if files is None else files.credentials()
    return Settings(addresses, credentials, files, all_metadata, tuple(interceptors))
