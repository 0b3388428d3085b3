#!/usr/bin/python3
"""Debian's changelog: the newest section of CHANGELOG.md in the form that dpkg reads."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "packaging/debian_changelog.py"
MAINTAINER = "Some One <some@one.example>"
MARKDOWN = """# Changelog

About versions.

## 1.2.0 (unreleased)

Flags:

- Sizes take units: `--cache_mb=4G`. See [FLAGS](docs/reference/flags.md), where a long line is wrapped at eighty columns of
  text.
- Another.

Some text.

## 1.1.0

- Old.
"""


def convert(markdown, version="1.2.0~1-1"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "CHANGELOG.md"
        path.write_text(markdown, encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, "--version", version, "--date", "1764500000", "--maintainer",
                               MAINTAINER, path], capture_output=True, text=True, timeout=60, check=False)


class ChangelogTest(unittest.TestCase):
    def test_the_newest_section_becomes_the_entry(self):
        self.assertEqual(convert(MARKDOWN).stdout, f"""armature (1.2.0~1-1) unstable; urgency=medium

  [ Flags ]
  * Sizes take units: --cache_mb=4G. See FLAGS, where a long line is wrapped at
    eighty columns of text.
  * Another.
  Some text.

 -- {MAINTAINER}  Sun, 30 Nov 2025 10:53:20 -0000
""")

    def test_a_section_without_changes_has_an_entry(self):
        self.assertIn("  * No changes are listed.\n", convert("## 1.0\n\n## 0.9\n\n- Old.\n").stdout)

    def test_a_file_without_sections_is_refused(self):
        ended = convert("# Changelog\n")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("there is no heading", ended.stderr)

    @unittest.skipUnless(shutil.which("dpkg-parsechangelog"), "there is no dpkg-parsechangelog")
    def test_dpkg_reads_that_of_the_tree(self):
        text = convert((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).stdout
        self.assertLessEqual(max(len(line) for line in text.splitlines() if " " in line.strip()), 80)
        parsed = subprocess.run(["dpkg-parsechangelog", "--file=-", "--show-field=Version"], input=text, capture_output=True,
                                text=True, timeout=60, check=True)
        self.assertEqual((parsed.stdout, parsed.stderr), ("1.2.0~1-1\n", ""))


if __name__ == "__main__":
    unittest.main()
