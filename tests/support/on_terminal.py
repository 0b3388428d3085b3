"""Runs a program on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from armature_daemon import WAIT_S


def on_terminal(command, answer="", columns=80, env=None):
    """Types the answer. Returns the text on the screen, and the exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
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
