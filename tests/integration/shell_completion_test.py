#!/usr/bin/python3
"""Completion of command lines in bash, zsh and fish, by typing into these shells.

Run by CTest; by hand: shell_completion_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import PATHS, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S  # noqa: E402
from on_terminal import Terminal  # noqa: E402

PROMPT = "ready> "
PATIENCE_S = 3
# How each shell starts without the user's settings, with completion.
BASH = """PS1='ready> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set show-all-if-ambiguous off'
PATH={path}:$PATH; source <(armature completion bash --alias am); set +H; echo be-gin
"""
ZSH = """PS1='ready> '; RPS1=; unsetopt zle_bracketed_paste prompt_cr prompt_sp beep 2>/dev/null; bindkey -e
PATH={path}:$PATH; autoload -Uz compinit; compinit -u -D; source <(armature completion zsh --alias am); echo be-gin
"""
FISH = """function fish_prompt; echo -n 'ready> '; end; set -U fish_greeting; set -g fish_autosuggestion_enabled 0
set PATH {path} $PATH; armature completion fish --alias am | source; echo be-gin
"""


def is_ready(text):
    """True behind the output of the last command of the setup."""
    return "\nbe-gin\n" in text and text.endswith(PROMPT)


class Words:
    """The tests, for each shell: what is typed and completed is the argument of a program then."""

    SHELL, COMMAND, SETUP = "", (), ""
    PRINT = "printf '<%s>\\n' "

    @classmethod
    def setUpClass(cls):
        if shutil.which(cls.SHELL) is None:
            raise unittest.SkipTest(f"no {cls.SHELL}")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        for name in self.cli("table", "list")["TableNames"]:
            self.cli("drop", name, "--yes")
        self.cli("create", "orders", "--key", "id")
        self.trap = self.directory / "trap"
        self.names = [f"d$(touch {self.trap})", "e`touch trap`", "f two words", "g'quote", 'h"double', "x*", "j\x1bescape", "k\u00e9-1.a",
                      "l;touch trap", "m\\back", "n#hash", "o!history", "p(a)[b]{c}", "q\nline", "r~tilde", "s<t>&|"]
        self.cli("put", "orders", json.dumps({"id": "1", **{name: "x" for name in self.names}}))
        (self.directory / "my data.jsonl").write_text("")
        environment = {**os.environ, "HOME": str(self.directory), "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                       "XDG_CONFIG_HOME": str(self.directory / "config"), "XDG_STATE_HOME": str(self.directory / "state"),
                       "XDG_DATA_HOME": str(self.directory / "data"), "ARMATURE_ENDPOINT": self.daemon.grpc, "HISTFILE": ""}
        self.shell = self.enterContext(Terminal(self.COMMAND, 50, 250, env=environment, cwd=self.directory)) \
            if hasattr(self, "enterContext") else self.open(environment)
        self.shell.type(self.SETUP.format(path=pathlib.Path(PATHS.armature).parent).replace("\n", "\r"))
        self.shell.wait_for(lambda text: is_ready(text.replace("\r", "")), "the prompt")

    def open(self, environment):
        shell = Terminal(self.COMMAND, 50, 250, env=environment, cwd=self.directory)
        self.addCleanup(shell.__exit__)
        return shell

    def complete(self, line, shown):
        """Types the line and TAB, waits until `shown` stands on the screen, and returns the arguments of the command."""
        self.shell.raw = b""
        self.shell.type(line)
        deadline = time.monotonic() + WAIT_S
        # The daemon has 100 ms to answer a completion. On a busy machine a person presses TAB again.
        while shown not in self.shell.text():
            self.assertLess(time.monotonic(), deadline, f"no {shown!r} in {self.shell.text()!r}")
            self.shell.type("\t")
            again = time.monotonic() + PATIENCE_S
            while shown not in self.shell.text() and time.monotonic() < again:
                self.shell.read(again - time.monotonic())
        # To the beginning of the line, so that another program gets the arguments. The end of the output is marked.
        self.shell.type("\x01" + self.PRINT + "\x05 'e''nd'\r")
        text = self.shell.wait_for(lambda text: "<end>" in text)
        return [part.removesuffix(">") for part in text.replace("\r", "").split("\n<")[1:-1]]

    def check(self, begin, name, shown=None, quote=""):
        arguments = self.complete(f"armature query orders --projection-expression {quote}{begin}", shown or name[1:4])
        self.assertEqual(arguments[-1], name)
        self.assertFalse(self.trap.exists())
        self.assertFalse((self.directory / "trap").exists())

    def test_commands_tables_and_options(self):
        self.assertEqual(self.complete("armature describe or", "orders"), ["armature", "describe", "orders"])
        self.assertEqual(self.complete("armature query orders --consis", "--consistent")[-1], "--consistent")

    def test_an_alias_is_completed(self):
        self.assertEqual(self.complete("am describe or", "orders")[1:], ["describe", "orders"])

    def test_files(self):
        self.assertEqual(self.complete("armature load orders my", "data")[-1], "my data.jsonl")

    def test_names_are_quoted(self):
        for begin, name in (("d", self.names[0]), ("e", self.names[1]), ("f", self.names[2]), ("g", self.names[3]), ("h", self.names[4]),
                            ("x", self.names[5]), ("k", self.names[7]), ("l", self.names[8]), ("m", self.names[9]), ("n", self.names[10]),
                            ("p", self.names[12]), ("r", self.names[14]), ("s", self.names[15])):
            with self.subTest(name):
                self.check(begin, name, shown={"x": "*", "d": "touch", "e": "touch", "k": "-1.a"}.get(begin, name[-1]))

    def test_quotes_that_were_begun_are_kept(self):
        for quote in "'\"":
            with self.subTest(quote):
                self.check("f t", "f two words", shown="words", quote=quote)
        self.check("d", self.names[0], shown="touch", quote='"')
        self.check("f\\ t", "f two words", shown="words")


class BashTest(Words, CliTest):
    SHELL, COMMAND, SETUP = "bash", ("bash", "--norc", "--noprofile", "-i"), BASH


class ZshTest(Words, CliTest):
    SHELL, COMMAND, SETUP = "zsh", ("zsh", "-f", "-i"), ZSH


class FishTest(Words, CliTest):
    SHELL, COMMAND, SETUP = "fish", ("fish", "--no-config", "-i"), FISH


if __name__ == "__main__":
    run_tests()
