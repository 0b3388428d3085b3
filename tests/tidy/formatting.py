"""The format of the sources, where clang-format is installed (tools/setup --checks). Other versions format otherwise."""

import os
import shutil
import subprocess
import unittest

from tree import ROOT, code_files, name_of


def has_clang_format():
    if shutil.which("clang-format") is None:
        return False
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    return " version 14." in version


class FormattingTest(unittest.TestCase):
    @unittest.skipUnless(has_clang_format(), "clang-format 14 is not installed")
    def test_sources_are_formatted(self):
        names = [name_of(path) for path in code_files()]
        parts = [names[i :: os.cpu_count() or 1] for i in range(os.cpu_count() or 1)]
        runs = [
            subprocess.Popen(["clang-format", "--dry-run", "-Werror", *part], cwd=ROOT, stderr=subprocess.PIPE, text=True)
            for part in parts
            if part
        ]
        messages = "".join(run.communicate()[1] for run in runs)
        self.assertTrue(all(run.returncode == 0 for run in runs), f"run `clang-format -i`:\n{messages}")


if __name__ == "__main__":
    unittest.main()
