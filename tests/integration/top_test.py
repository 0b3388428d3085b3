#!/usr/bin/python3
"""armature top and armature status --follow, against a real daemon.

Run by CTest; by hand: top_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import PATHS, UNREACHABLE, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon  # noqa: E402


class Terminal:
    """A command on a terminal."""

    def __init__(self, command, lines=24, columns=100, term="xterm"):
        self.ours, theirs = pty.openpty()
        self.resize(lines, columns, theirs)
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                        env={**os.environ, "TERM": term})
        os.close(theirs)
        self.seen = ""

    def resize(self, lines, columns, terminal=None):
        fcntl.ioctl(terminal or self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def wait_for(self, pattern):
        """Reads until the pattern is seen, and forgets what was seen. Escape sequences are left out."""
        end = time.monotonic() + WAIT_S
        while not re.search(pattern, re.sub(r"\x1b[\[(][0-9;?]*[A-Za-z]", "", self.seen)):
            ready = select.select([self.ours], [], [], max(0, end - time.monotonic()))[0]
            try:
                chunk = os.read(self.ours, 65536) if ready else b""
            except OSError:  # the other end is closed
                chunk = b""
            if not chunk:
                raise AssertionError(f"{pattern!r} is not in {self.seen[-2000:]!r}")
            self.seen += chunk.decode(errors="replace")
        seen, self.seen = self.seen, ""
        return seen

    def type(self, text):
        os.write(self.ours, text.encode())

    def end(self):
        try:
            while os.read(self.ours, 65536):
                pass
        except OSError:
            pass
        os.close(self.ours)
        return self.process.wait(WAIT_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class TopTest(CliTest):
    FLAGS = ("--metrics_listen=127.0.0.1:0",)

    def setUp(self):
        super().setUp()
        if not self.cli("table", "list")["TableNames"]:
            self.cli("create", "orders", "--key", "id", "--index", "ByState=state|at:N")
            self.cli("hot-keys", "orders", "--enable")
        self.cli("item", "put", "orders", "--item", '{"id": {"S": "1"}, "state": {"S": "new"}, "at": {"N": "1"}}')

    def terminal(self, *arguments, **options):
        terminal = Terminal(self.command(*arguments), **options)
        self.addCleanup(terminal.kill)
        return terminal

    def once(self, *arguments):
        done = self.run_cli("top", "--once", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_one_frame(self):
        text = self.once("--metrics", self.daemon.metrics)
        self.assertRegex(text, r"(?m)^armatured .*  up .* pid \d+$")
        self.assertRegex(text, r"(?m)^cpu +\d+\.\d\d cores, memory ")
        self.assertRegex(text, r"(?m)^writes +ok, ")
        self.assertRegex(text, r"(?m)^commits +\d")
        self.assertRegex(text, r"(?m)^caches +blocks ")
        self.assertRegex(text, r"(?m)^clients +\d")
        self.assertRegex(text, r"(?m)^admin:GetServerInfo +\d")
        self.assertRegex(text, r"(?m)^ByState +orders +ACTIVE +[01] +\d+ +\d+$")
        self.assertRegex(text, r"(?m)^orders +1 +\d+ B +0 .*id=1 100 %$")

    def test_without_metrics_the_rest_is_shown(self):
        text = self.once("--interval", "0.1")
        # Another daemon may be at the documented port.
        self.assertRegex(text, r"No operations, commits and caches: .*start the daemon with --metrics_listen")
        self.assertRegex(text, r"(?m)^orders +1 ")
        with Daemon(PATHS.armatured, "--metrics_listen=127.0.0.1:0") as other:
            text = self.once("--interval", "0.1", "--metrics", other.http)
        self.assertIn(f"no metrics from {other.http}: it has no metrics page: status", text)

    def test_it_needs_a_terminal(self):
        self.assertEqual(self.failing(USAGE_ERROR, "top"), "armature: top needs a terminal; --once prints one frame\n")
        terminal = self.terminal("top", term="no-such-terminal")
        terminal.wait_for(r"cannot draw on this terminal \(TERM=no-such-terminal\)")
        self.assertEqual(terminal.end(), USAGE_ERROR)

    def test_keys(self):
        terminal = self.terminal("top", "--interval", "0.2", "--metrics", self.daemon.metrics)
        terminal.wait_for(r"\[s\]ort: rate")
        terminal.wait_for(r"cores")
        # ncurses sends what has changed. Ctrl-L makes it send whole lines.
        terminal.type("s\x0c")
        terminal.wait_for(r"\[s\]ort: latency")
        terminal.type("p\x0c")
        terminal.wait_for(r"PAUSED")
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)

    def test_sizes_of_the_terminal(self):
        for lines, columns in ((1, 1), (2, 5), (24, 100)):
            terminal = self.terminal("top", "--interval", "0.1", lines=lines, columns=columns)
            terminal.wait_for("a")
            terminal.resize(5, 60)
            os.kill(terminal.process.pid, signal.SIGWINCH)
            terminal.wait_for(r"cpu")
            terminal.type("q")
            self.assertEqual(terminal.end(), 0)

    def test_the_terminal_is_given_back(self):
        terminal = self.terminal("top")
        terminal.wait_for("armatured")
        before = termios.tcgetattr(terminal.ours)
        self.assertFalse(before[3] & termios.ECHO)
        terminal.type("\x03")
        terminal.process.wait(WAIT_S)
        self.assertTrue(termios.tcgetattr(terminal.ours)[3] & termios.ECHO)
        terminal.end()


class LostDaemonTest(CliTest):
    """The daemon goes away and comes back, on the same address."""

    def setUp(self):
        super().setUp()
        self.address = f"unix:{self.directory}/socket"

    def command(self, *arguments):
        return [PATHS.armature, "--endpoint", self.address, *map(str, arguments)]

    def start(self):
        daemon = Daemon(PATHS.armatured, f"--grpc_listen={self.address}", data_dir=self.directory / "data")
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None, None, None)
        return daemon

    def test_top_waits_for_it(self):
        self.failing(UNREACHABLE, "top", "--once")
        daemon = self.start()
        terminal = Terminal(self.command("top", "--interval", "0.1"))
        self.addCleanup(terminal.kill)
        terminal.wait_for("armatured")
        self.assertEqual(daemon.stop(), 0)
        terminal.wait_for("no answer from")
        again = self.start()
        self.addCleanup(again.kill)
        while True:  # until the frame that Ctrl-L draws is that of the new process
            terminal.type("\x0c")
            if f"pid {again.process.pid}" in terminal.wait_for(r"pid \d+  "):
                break
        terminal.type("q")
        self.assertEqual(terminal.end(), 0)

    def test_status_follows_it(self):
        daemon = self.start()
        follow = subprocess.Popen(self.command("status", "--follow", "--interval", "0.1"), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(follow.kill)
        for _ in range(3):
            self.assertEqual(json.loads(follow.stdout.readline())["Server"]["Pid"], daemon.process.pid)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(follow.wait(WAIT_S), UNREACHABLE)
        follow.stdout.close()
        self.assertIn("no answer from", follow.stderr.read())
        follow.stderr.close()
        terminal = Terminal(self.command("--timeout", "1", "status", "--follow", "--interval", "0.1"))
        self.addCleanup(terminal.kill)
        terminal.wait_for("no answer from")
        self.start()
        terminal.wait_for("armatured")
        terminal.type("\x03")
        terminal.end()


if __name__ == "__main__":
    run_tests()
