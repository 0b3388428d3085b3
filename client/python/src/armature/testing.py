"""A daemon for tests.

    with armature.testing.start() as daemon, daemon.connect() as client:
        ...

With pytest:

    @pytest.fixture(scope="session")
    def daemon():
        with armature.testing.start() as daemon:
            yield daemon
"""

from __future__ import annotations

import atexit
import os
import pathlib
import selectors
import shutil
import signal as signals
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Optional, Sequence, Set

from ._sync.client import Client, connect

_START_SECONDS = 60
_STOP_SECONDS = 60

# Daemons that the end of the program must close.
_open: Set[Daemon] = set()


@atexit.register
def _close_all() -> None:
    for daemon in list(_open):
        if daemon._owner == os.getpid():  # not in a fork of the program
            daemon.close()


def find_daemon(binary: Optional[str] = None) -> str:
    """The program: the given one, that of the environment variable ARMATURED, or `armatured` on the path.

    Errors: FileNotFoundError.
    """
    found = binary or os.environ.get("ARMATURED") or shutil.which("armatured")
    if found is None:
        raise FileNotFoundError(
            "no armatured: name it in the argument or in the variable ARMATURED, or put it on the path"
        )
    return os.path.abspath(found)


class Daemon:
    """A daemon on loopback, free ports and a temporary directory, which is removed at the end. A context manager.

    The end of the program closes it, too.

    target: address for `connect`. http: host and port of the original protocol. Addresses and data stay the same when
    it is killed or stopped and started again.
    """

    def __init__(self, binary: Optional[str] = None, flags: Sequence[str] = ()) -> None:
        self._binary = find_daemon(binary)
        self._flags = list(flags)
        self._process: Optional["subprocess.Popen[str]"] = None
        # Not a TemporaryDirectory, which a fork of the program would remove at its end.
        self._directory = tempfile.mkdtemp(prefix="armature_")
        self.target = "127.0.0.1:0"
        self.http = "127.0.0.1:0"
        self._owner = os.getpid()
        _open.add(self)
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Starts the daemon unless it runs; returns when it serves. Errors: RuntimeError with its messages."""
        if self._process is not None:
            return
        command: List[str] = [
            self._binary,
            f"--data_dir={self._directory}/data",
            f"--grpc_listen={self.target}",
            f"--http_listen={self.http}",
            *self._flags,
        ]
        with open(self._log, "ab") as log:
            # With close_fds the process may be made by fork, which disturbs the threads of gRPC. Files of Python and of
            # gRPC are not inherited anyway.
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, close_fds=False)
        line = self._first_line()
        if line is None or not line.startswith("ready "):
            self.kill()
            state = "does not serve" if line is not None else f"does not serve within {_START_SECONDS} seconds"
            raise RuntimeError(f"the daemon {state}: {line or ''}\n{self.log()}")
        addresses: Dict[str, str] = dict(word.split("=", 1) for word in line.split()[1:])
        self.target = addresses["grpc"]
        self.http = addresses["http"]

    def _first_line(self) -> Optional[str]:
        """The first line that the daemon writes, empty if it has ended; None if it takes too long."""
        assert self._process is not None and self._process.stdout is not None
        output = self._process.stdout.fileno()
        text = b""
        deadline = time.monotonic() + _START_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while b"\n" not in text:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    return None
                part = os.read(output, 4096)
                if not part:
                    break
                text += part
        return text.decode(errors="replace").partition("\n")[0]

    @property
    def _log(self) -> str:
        return f"{self._directory}/log"

    def log(self) -> str:
        """The messages of the daemon so far."""
        return pathlib.Path(self._log).read_text(errors="replace")

    @property
    def process_id(self) -> int:
        """Number of the running process."""
        assert self._process is not None, "the daemon does not run"
        return self._process.pid

    def signal(self, number: signals.Signals) -> None:
        """Sends a signal to the running daemon."""
        assert self._process is not None, "the daemon does not run"
        self._process.send_signal(number)

    def _end(self, number: signals.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(_STOP_SECONDS)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def kill(self) -> None:
        """Ends the daemon at once, as a crash does."""
        self._end(signals.SIGKILL)

    def stop(self) -> None:
        """Ends the daemon cleanly."""
        self._end(signals.SIGTERM)

    def connect(self, **options: Any) -> Client:
        """A client of this daemon, with the options of `armature.connect`."""
        return connect(self.target, **options)

    def close(self) -> None:
        """Ends the daemon and removes its directory."""
        _open.discard(self)
        try:
            self.kill()
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def start(binary: Optional[str] = None, flags: Sequence[str] = ()) -> Daemon:
    """Starts a daemon. binary: see `find_daemon`. flags: such as "--durability=os"."""
    return Daemon(binary, flags)
