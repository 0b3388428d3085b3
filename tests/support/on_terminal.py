"""Runs a program on a terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from armature_daemon import WAIT_S

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x1b\][^\x07]*\x07")


def plain(environment):
    """The environment with neither colours nor a pager, unless it names one."""
    return {"PAGER": "", "NO_COLOR": "1", **environment}


def on_terminal(command, answer="", columns=80, env=None):
    """Types the answer. Returns the text on the screen, and the exit code. There are no colours and no pager, unless `env`
    says so."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=plain(env or os.environ)) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # the other end of the terminal is closed
            pass
        os.close(ours)
        return seen.decode().replace("\r\n", "\n"), process.wait(WAIT_S)


class Terminal:
    """A program with a terminal of its own, which is watched and typed into; a context manager."""

    def __init__(self, command, rows=24, columns=80, **popen_options):
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        # The programs that the program starts ask for the controlling terminal, too.
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **popen_options)
        os.close(theirs)
        self.raw = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def text(self):
        """Everything that was printed, without the terminal's escape sequences."""
        return ESCAPES.sub("", self.raw.decode(errors="replace")).replace("\r\n", "\n")

    def read(self, seconds):
        """Reads what comes within the time. False at the end."""
        if not select.select([self.terminal], [], [], max(seconds, 0))[0]:
            return True
        try:
            chunk = os.read(self.terminal, 65536)
        except OSError:  # the other end of the terminal is closed
            return False
        self.raw += chunk
        return bool(chunk)

    def wait_for(self, condition, what=""):
        """Reads until the condition, a text or a function of the text, is true. Returns the text."""
        holds = condition if callable(condition) else lambda text: condition in text
        deadline = time.monotonic() + WAIT_S
        while not holds(self.text()):
            if time.monotonic() > deadline or not self.read(deadline - time.monotonic()):
                raise AssertionError(f"no {what or condition!r} in {self.text()!r}")
        return self.text()

    def end(self):
        """Reads to the end of the program. Returns the text and the exit code."""
        deadline = time.monotonic() + WAIT_S
        while self.read(deadline - time.monotonic()):
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end: {self.text()!r}")
        return self.text(), self.process.wait(WAIT_S)
