#!/usr/bin/python3
"""Colours, the pager and the progress of the command line, on a terminal and elsewhere.

Run by CTest; by hand: terminal_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import INPUT_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S  # noqa: E402
from on_terminal import Terminal, on_terminal  # noqa: E402


class TerminalTest(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls("create")
        made.cli("create", "orders", "--key", "id")
        lines = "".join(json.dumps({"id": f"K{i:03}", "amount": i, "note": "x" * 50}) + "\n" for i in range(200))
        made.cli("load", "orders", "-", input=lines.encode())

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "TERM": "xterm"}
        for name in ("PAGER", "ARMATURE_PAGER", "NO_COLOR", "LESS"):
            self.environment.pop(name, None)

    def create(self):
        """So that setUpClass can make a test that only lends its methods."""

    def on_terminal(self, *arguments, **environment):
        return on_terminal(self.command(*arguments), env={**self.environment, "PAGER": "", "NO_COLOR": "", **environment})[0]

    def terminal(self, *arguments, rows=24, columns=80, **environment):
        return Terminal(self.command(*arguments), rows, columns, env={**self.environment, **environment})


class ColorsTest(TerminalTest):
    BLUE, GREEN, BOLD, RED = "\x1b[34m", "\x1b[32m", "\x1b[1m", "\x1b[1;31m"

    def test_a_terminal_has_colours(self):
        self.assertIn(self.BOLD + "id", self.on_terminal("scan", "orders", "-n", "2"))
        self.assertIn(f'{self.BLUE}"id"\x1b[0m: {self.GREEN}"K', self.on_terminal("scan", "orders", "-n", "2", "--output", "jsonl"))
        self.assertIn(self.BLUE + '"Table"', self.on_terminal("table", "describe", "orders", "--output", "json"))
        self.assertIn(self.BOLD + "TABLE", self.on_terminal("ls"))
        seen = self.on_terminal("get", "nowhere", "x")
        self.assertTrue(seen.startswith(self.RED + "ResourceNotFoundException\x1b[0m: "), seen)
        self.assertIn("\x1b[33mhint\x1b[0m: ", seen)

    def test_no_colours_elsewhere_or_if_they_are_not_wanted(self):
        for arguments in (("scan", "orders"), ("describe", "orders")):
            self.assertNotIn(b"\x1b", self.run_cli(*arguments).stdout)
            self.assertNotIn(b"\x1b", self.run_cli(*arguments, "--output", "table").stdout)
        self.assertNotIn(b"\x1b", self.run_cli("get", "nowhere", "x").stderr)
        self.assertNotIn("\x1b", self.on_terminal("scan", "orders", NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_terminal("scan", "orders", TERM="dumb"))
        self.assertNotIn("\x1b", self.on_terminal("scan", "orders", "--color", "never"))
        self.assertNotIn("\x1b", self.on_terminal("scan", "orders", "--output", "csv"))

    def test_colours_can_be_forced(self):
        done = self.run_cli("scan", "orders", "-n", "1", "--color=always", env={**self.environment, "NO_COLOR": "1"})
        self.assertIn(self.BLUE.encode(), done.stdout)
        self.assertIn(self.RED.encode(), self.run_cli("get", "nowhere", "x", "--color=always").stderr)
        self.assertIn("--color", self.failing(2, "ls", "--color=blue"))

    def test_control_characters_of_items_are_no_colours(self):
        self.cli("put", "orders", r'{"id": "evil", "note": "\u001b[31mred\u009b"}')
        self.addCleanup(self.cli, "del", "orders", "evil")
        for output in ("table", "json", "jsonl", "yaml", "csv"):
            self.assertNotIn("\x1b[31m", self.on_terminal("get", "orders", "evil", "--output", output), output)
        seen = self.on_terminal("sql", "SELECT * FROM orders WHERE id = 'evil'", "--format", "json")
        self.assertNotIn("\x1b[31m", seen)


class PagerTest(TerminalTest):
    def test_less_shows_what_is_longer_than_the_screen(self):
        for columns in (80, 200):
            with self.terminal("scan", "orders", columns=columns) as terminal:
                first = terminal.wait_for(lambda text: text.count("\n") >= 23 and text.rstrip(" ").endswith(":"), "prompt of less")
                self.assertNotIn("200 items", first)
                terminal.type("G")
                terminal.wait_for("(END)")
                terminal.type("q")
                text, code = terminal.end()
                self.assertEqual((code, text.rstrip().endswith("200 items")), (0, True), text[-300:])

    def test_what_fits_needs_no_pager(self):
        with self.terminal("scan", "orders", "-n", "5", PAGER=f"touch {self.directory}/paged; cat") as terminal:
            text, code = terminal.end()
        self.assertEqual((code, text.count("K")), (0, 5), text)
        self.assertFalse((self.directory / "paged").exists())

    def test_a_pager_that_is_quit_ends_the_command_quietly(self):
        for pager in ("head -n 1", "true", "sh -c 'exit 3'"):
            with self.terminal("scan", "orders", "--all", PAGER=pager) as terminal:
                text, code = terminal.end()
            self.assertEqual(code, 0, text)
            self.assertNotIn("armature", text)
        with self.terminal("scan", "orders") as terminal:
            terminal.wait_for(lambda text: text.count("\n") >= 23, "a screen")
            terminal.type("q")
            self.assertEqual(terminal.end()[1], 0)

    def test_a_pager_that_is_missing_is_left_out(self):
        for environment in ({"PAGER": "no-such-pager"}, {"PAGER": ""}, {"PAGER": "cat"}, {"ARMATURE_PAGER": "", "PAGER": "less"},
                            {"TERM": "dumb"}):
            with self.terminal("scan", "orders", **environment) as terminal:
                text, code = terminal.end()
            self.assertEqual((code, text.count("\nK")), (0, 200), environment)
        with self.terminal("scan", "orders", "--no-pager") as terminal:
            self.assertEqual(terminal.end()[0].count("\nK"), 200)

    def test_only_a_terminal_has_a_pager(self):
        done = self.run_cli("scan", "orders", env={**self.environment, "PAGER": f"touch {self.directory}/paged; cat"})
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 200))
        with self.terminal("count", "orders", rows=1, PAGER=f"touch {self.directory}/paged; cat") as terminal:
            self.assertTrue(terminal.end()[0].endswith("200\n"))
        self.assertFalse((self.directory / "paged").exists())

    def test_ctrl_c_is_the_pagers(self):
        with self.terminal("scan", "orders", LESS="RSX") as terminal:
            terminal.wait_for(lambda text: text.rstrip(" ").endswith(":"), "prompt of less")
            terminal.type("\x03")
            # Keys that are typed before its prompt is back are lost.
            terminal.wait_for(lambda text: b"\x07" in terminal.raw and text.rstrip(" ").endswith(":"), "the prompt again")
            terminal.type("G")
            terminal.wait_for("(END)")
            terminal.type("q")
            self.assertEqual(terminal.end()[1], 0)

    def test_help_is_paged(self):
        with self.terminal("query", "--help") as terminal:
            terminal.wait_for(lambda text: text.count("\n") >= 23, "a screen")
            terminal.type("q")
            self.assertEqual(terminal.end()[1], 0)

    def test_the_shell_has_a_switch(self):
        paged = self.directory / "paged"
        pager = f"tee {paged}"
        with self.terminal("sql", PAGER=pager, HOME=str(self.directory), LC_ALL="C.UTF-8") as terminal:
            terminal.wait_for("armature=>")
            terminal.type("SELECT * FROM orders;\n")
            terminal.wait_for("(200 items)")
            self.assertEqual(paged.read_text().count(" K"), 200)
            terminal.type("\\pager off\n")
            terminal.wait_for("The pager is off.")
            paged.unlink()
            terminal.type("SELECT * FROM orders;\n")
            terminal.wait_for(lambda text: text.count("(200 items)") == 2)
            self.assertFalse(paged.exists())
            terminal.type("\\pager no-such-pager\n")
            terminal.wait_for("there is no such pager")
            terminal.type("\\pager\n")
            terminal.wait_for(f"The pager is {pager}.")
            terminal.type("\\q\n")
            self.assertEqual(terminal.end()[1], 0)


class OutputTest(TerminalTest):
    def test_an_output_that_cannot_be_written_is_an_error(self):
        for arguments in (("scan", "orders"), ("export", "orders", "--to", "-"), ("describe", "orders"), ("man", )):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(self.command(*arguments), stdout=full, stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (INPUT_ERROR, b"armature: the output cannot be written to its end\n"), arguments)

    def test_reads_into_files_show_their_progress(self):
        out = self.directory / "out"
        for words in ("scan orders", "export orders --to -", "export orders --to - --where 'amount > 5'"):
            line = f"{' '.join(self.command())} {words} >{out}"
            seen, code = on_terminal(["bash", "-c", line], env=self.environment)
            self.assertEqual(code, 0, seen)
            self.assertRegex(seen, r"orders[^\n]*\[#+\]  100 %  200 of 200")

    def test_progress_lines_fit_the_terminal(self):
        """A line that wraps would be left on the screen by the next one."""
        line = f"{' '.join(self.command())} scan orders >{self.directory}/out"
        seen, code = on_terminal(["bash", "-c", line], columns=40, env=self.environment)
        lines = seen.replace("\r", "\n").split("\n")
        self.assertEqual(code, 0, seen)
        self.assertEqual(max(map(len, lines)), 39, lines)
        self.assertIn("reading orders  [####################]", seen)


if __name__ == "__main__":
    run_tests()
