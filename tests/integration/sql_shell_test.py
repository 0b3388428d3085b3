#!/usr/bin/python3
"""The interactive form of `armature sql`, on a terminal of its own.

Run by CTest; by hand: sql_shell_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import argparse
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import tempfile
import termios
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import WAIT_S, Daemon  # noqa: E402

PATHS = argparse.Namespace()
PROMPT = "armature=> "
MORE = "       -> "
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?")


class Shell:
    """A program on a pseudo-terminal; a context manager."""

    def __init__(self, endpoint, home, *options):
        self.command = [PATHS.armature, f"--endpoint={endpoint}", "--timeout=5", "sql", *options]
        if options == ("alone",):
            self.command = [PATHS.armature]
        self.environment = {**os.environ, "HOME": home, "TERM": "xterm", "COLUMNS": "200", "LC_ALL": "C.UTF-8"}
        self.environment["ARMATURE_ENDPOINT"] = endpoint
        self.environment.pop("ARMATURE_HISTORY", None)

    def __enter__(self):
        self.terminal, slave = pty.openpty()
        self.process = subprocess.Popen(self.command, stdin=slave, stdout=slave, stderr=slave, env=self.environment,
                                        start_new_session=True, preexec_fn=self.take_terminal)
        os.close(slave)
        self.raw = b""
        return self

    @staticmethod
    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def expect(self, text):
        """Reads until the screen's text contains `text`. Returns what stood before it."""
        deadline = time.monotonic() + WAIT_S
        while text not in (shown := ESCAPES.sub("", self.raw.decode(errors="replace"))):
            if time.monotonic() > deadline or not self.read(deadline - time.monotonic()):
                raise AssertionError(f"no {text!r} in {shown!r}")
        before, _, after = shown.partition(text)
        self.raw = after.encode()
        return before

    def read(self, seconds):
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # the program has ended
            return False
        self.raw += data
        return bool(data)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def run(self, line):
        """Types a line. Returns what is printed until the next prompt."""
        self.await_editing(True)
        self.type(line + "\r")
        return self.expect(PROMPT)

    def await_editing(self, is_editing):
        """Waits until the shell edits a line, or executes something: then the terminal edits lines itself."""
        deadline = time.monotonic() + WAIT_S
        while bool(termios.tcgetattr(self.terminal)[3] & termios.ICANON) == is_editing:
            if time.monotonic() > deadline:
                raise AssertionError(f"editing is not {is_editing}")
            self.read(0.02)

    def leave(self):
        """Types Ctrl-D. Returns the exit status."""
        self.await_editing(True)
        self.type("\x04")
        return self.end()

    def end(self):
        """Waits for the end of the program. Returns its exit status."""
        while self.read(WAIT_S):
            pass
        return self.process.wait(WAIT_S)


class SqlShellTest(unittest.TestCase):
    def setUp(self):
        self.home = self.enterContext(tempfile.TemporaryDirectory(prefix="armature_home_"))
        self.daemon = self.enterContext(Daemon(PATHS.armatured))
        self.daemon.create_table("Orders", more_attributes=[{"AttributeName": "state", "AttributeType": "S"}],
                                 GlobalSecondaryIndexes=[{
                                     "IndexName": "ByState", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                     "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}]}])

    def shell(self, *options):
        shell = self.enterContext(Shell(self.daemon.grpc, self.home, *options))
        shell.expect(PROMPT)
        shell.await_editing(True)
        return shell

    def put(self, key, **more):
        status, answer = self.daemon.json_call("PutItem", TableName="Orders", Item={"id": {"S": key}, **more})
        self.assertEqual(status, 200, answer)

    def test_statements_of_one_line_and_of_several(self):
        shell = self.shell()
        self.assertIn("ok", shell.run("INSERT INTO Orders VALUE {'id': 'a', 'state': 'open'};"))
        shell.type("SELECT id\r")
        shell.expect(MORE)
        shell.type("FROM Orders WHERE note = 'x\r")
        shell.expect("      '> ")
        self.assertIn("(0 items)", shell.run("y' AND id = 'a';"))
        printed = shell.run("SELECT * FROM Orders; SELECT id FROM Orders;")
        self.assertEqual(printed.count("(1 item)"), 2)
        self.assertIn("open", printed)
        shell.type("\\q\r")
        self.assertEqual(shell.end(), 0)

    def test_errors_are_printed_and_the_shell_goes_on(self):
        shell = self.shell()
        printed = shell.run("SELEC; INSERT INTO Orders VALUE {'id': 'b'};")
        self.assertIn("ValidationException", printed)
        self.assertNotIn("ok", printed.replace("token", ""))
        self.assertIn("there is no command", shell.run("\\nonsense"))
        self.assertIn("(0 items)", shell.run("SELECT * FROM Orders WHERE id = 'b';"))
        self.daemon.kill()
        self.assertIn("no answer from", shell.run("SELECT * FROM Orders;"))
        self.assertEqual(shell.leave(), 0)

    def test_commands(self):
        self.put("a", state={"S": "open"})
        shell = self.shell()
        self.assertRegex(shell.run("\\d"), r"Orders\s+id\s+1\s+1")
        printed = shell.run("\\d Orders")
        self.assertRegex(printed, r"ByState\s+global index\s+state\s+KEYS_ONLY")
        self.assertIn("not found", shell.run("\\d Missing"))
        self.assertIn("Expanded display is on", shell.run("\\x"))
        self.assertRegex(shell.run("SELECT * FROM Orders;"), r"- item 1 -[^\x00]*id\s+a\r?\n\s*state\s+open")
        self.assertIn("Timing is on", shell.run("\\timing"))
        self.assertRegex(shell.run("SELECT * FROM Orders;"), r"Time: \d+\.\d+ ms")
        self.assertIn("Explain is on", shell.run("\\explain on"))
        self.assertIn("Scan", shell.run("SELECT * FROM Orders;"))
        self.assertIn("Explain is off", shell.run("\\explain off"))
        self.assertIn("\\d [TABLE]", shell.run("\\?"))
        for key in "bcd":
            self.put(key)
        shell.run("\\limit 2")
        self.assertIn("(2 items; there are more", shell.run("SELECT * FROM Orders;"))
        shell.run("\\limit 0")
        self.assertIn("(4 items)", shell.run("SELECT * FROM Orders;"))

    def test_words_that_help_and_leave(self):
        shell = self.shell()
        for word in ("help", "HELP;", "\\?"):
            self.assertIn("\\d [TABLE]", shell.run(word))
        shell.type("SELECT *\r")
        shell.expect(MORE)
        shell.type("quit\r")
        shell.expect("A statement is being typed")
        shell.type("\x03")
        shell.expect(PROMPT)
        shell.await_editing(True)
        shell.type("quit;\r")
        self.assertEqual(shell.end(), 0)
        shell = self.shell("alone")
        self.assertIn("Orders", shell.run("\\d"))
        shell.type("exit\r")
        self.assertEqual(shell.end(), 0)

    def test_errors_have_carets(self):
        shell = self.shell()
        printed = shell.run("SELECT * FROM Orders WHERE id = 'a' b;")
        self.assertRegex(printed, "ValidationException[^\\r]*\r\nLINE 1: [^\\r]*\r\n {44}\\^\r\n")
        self.assertIn("'x' is a text", shell.run("SELECT * FROM Orders WHERE id = \"x\";"))

    def test_questions(self):
        self.put("a")
        shell = self.shell()
        shell.type("DELETE FROM Orders;\r")
        shell.expect("1 item of Orders will be deleted. Go on? [y/N]")
        shell.type("n\r")
        self.assertIn("nothing was done", shell.expect(PROMPT))
        shell.await_editing(True)
        shell.type("DELETE FROM Orders;\r")
        shell.expect("[y/N]")
        shell.type("\x04")
        self.assertIn("nothing was done", shell.expect(PROMPT))
        shell.await_editing(True)
        shell.type("DROP TABLE Orders;\r")
        shell.expect("[y/N]")
        shell.type("y\r")
        self.assertIn("was deleted", shell.expect(PROMPT))

    def test_transactions_are_in_the_prompt(self):
        shell = self.shell()
        shell.type("BEGIN;\r")
        shell.expect("armature*=> ")
        shell.await_editing(True)
        shell.type("INSERT INTO Orders VALUE {'id': 'a'};\r")
        shell.expect("Statement 1 of the transaction")
        shell.expect("armature*=> ")
        shell.await_editing(True)
        self.assertIn("1 statement committed", shell.run("COMMIT;"))
        shell.type("BEGIN;\r")
        shell.expect("armature*=> ")
        self.assertEqual(shell.leave(), 0)

    def test_editor_and_buffer(self):
        editor = pathlib.Path(self.home, "editor.sh")
        editor.write_text("#!/bin/sh\ncat \"$1\" >'%s/before'\n"
                          "echo \"INSERT INTO Orders VALUE {'id': 'edited'};\" >\"$1\"\n" % self.home)
        editor.chmod(0o755)
        os.environ["VISUAL"] = str(editor)
        self.addCleanup(os.environ.pop, "VISUAL")
        shell = self.shell()
        shell.type("SELECT *\r")
        shell.expect(MORE)
        self.assertIn("ok", shell.run("\\e"))
        self.assertEqual(pathlib.Path(self.home, "before").read_text(), "SELECT *\n")
        self.assertIn("(1 item)", shell.run("SELECT * FROM Orders WHERE id = 'edited' \\g"))
        self.assertIn("id = 'edited'", shell.run("\\p"))

    def test_watches_repeat_until_an_interrupt(self):
        shell = self.shell()
        shell.type("SELECT * FROM Orders \\watch 0.05\r")
        for _ in range(3):
            shell.expect("(every 0.05 s)")
            shell.expect("(0 items)")
        shell.type("\x03")
        shell.expect(PROMPT)
        self.assertIn("ok", shell.run("INSERT INTO Orders VALUE {'id': 'a'};"))
        self.assertIn("needs a number", shell.run("\\watch never"))

    def test_formats(self):
        self.put("a", n={"N": "1.50"})
        shell = self.shell()
        shell.run("\\format jsonl")
        self.assertIn('{"id": "a", "n": 1.5}', shell.run("SELECT * FROM Orders;"))
        shell.run("\\format csv")
        self.assertRegex(shell.run("SELECT * FROM Orders;"), "id,n\r\na,1.5\r\n")
        self.assertIn("\\format is", shell.run("\\format nothing"))

    def test_completion(self):
        self.put("a", quantity={"N": "1"})
        shell = self.shell()
        self.assertIn("(1 item)", shell.run("sel\t* FROM Or\tWHERE qua\t= 1;"))
        shell.type("SELECT * FROM Orders WHERE \t")
        shell.expect("BETWEEN")
        shell.expect("quantity")
        shell.expect(PROMPT)
        self.assertIn("(1 item)", shell.run("id = 'a';"))
        shell.type("\\d O\t")
        self.assertIn("ByState", shell.run(""))

    def test_interrupts_drop_the_input_and_do_not_end_the_shell(self):
        shell = self.shell()
        shell.type("SELECT * FROM\r")
        shell.expect(MORE)
        shell.type("nonsense\x03")
        shell.expect(PROMPT)
        self.assertIn("(0 items)", shell.run("SELECT * FROM Orders;"))
        os.killpg(shell.process.pid, signal.SIGINT)
        shell.expect(PROMPT)
        self.assertEqual(shell.leave(), 0)

    def test_an_interrupt_ends_a_call_that_does_not_return(self):
        shell = self.shell()
        os.kill(self.daemon.process.pid, signal.SIGSTOP)
        shell.type("SELECT * FROM Orders;\r")
        shell.await_editing(False)
        shell.type("\x03")
        # Two signals that arrive before the first one is handled are one.
        shell.expect("Ctrl-C again")
        shell.type("\x03")
        self.assertEqual(shell.end(), 130)
        os.kill(self.daemon.process.pid, signal.SIGCONT)

    def test_the_history_is_kept_for_its_owner_only(self):
        shell = self.shell()
        shell.run("SELECT id FROM Orders WHERE id = 'first';")
        shell.leave()
        history = pathlib.Path(self.home, ".armature_history")
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)
        shell = self.shell()
        shell.type("\x1b[A")
        shell.expect("'first';")
        self.assertIn("(0 items)", shell.run(""))

    def test_data_does_not_control_the_terminal(self):
        self.put("a", note={"S": "x\x1b]0;title\x07\x1b[2Jy"})
        shell = self.shell()
        shell.type("SELECT note FROM Orders;\r")
        shell.expect("(1 item)")
        raw = subprocess.run([PATHS.armature, f"--endpoint={self.daemon.grpc}", "--output=table", "sql",
                              "SELECT note FROM Orders"], capture_output=True, check=True).stdout
        self.assertNotIn(b"\x1b", raw)

    def test_letters_beyond_ascii(self):
        shell = self.shell()
        self.assertIn("ok", shell.run("INSERT INTO Orders VALUE {'id': 'größe', 'n': '日本'};"))
        self.assertIn("日本", shell.run("SELECT n FROM Orders WHERE id = 'größe';"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature", required=True)
    _, rest = parser.parse_known_args(namespace=PATHS)
    unittest.main(argv=[sys.argv[0], *rest])
