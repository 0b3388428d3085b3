"""Libraries of others in console/vendor are unchanged: the table of its README has the checksum of every file. The package of
the daemon, which contains them, has their licences."""

import hashlib
import re
import unittest

from tree import ROOT

VENDOR = ROOT / "console/vendor"
ROW = re.compile(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|", re.MULTILINE)


class VendoredTest(unittest.TestCase):
    maxDiff = None

    def test_vendored_files_have_their_checksums(self):
        listed = dict(ROW.findall((VENDOR / "README.md").read_text()))
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.iterdir() if path.name != "README.md"}
        self.assertGreater(len(files), 2, "the files are not found")
        self.assertEqual(files, listed, "console/vendor/README.md has the checksums of other files")

    def test_packages_have_the_licences_of_vendored_files(self):
        copyright_file = (ROOT / "packaging/debian/copyright").read_text()
        for path in VENDOR.iterdir():
            if path.suffix not in (".md", ".txt"):
                self.assertRegex(copyright_file, rf"(?m)^Files:.* ?\bconsole/vendor/{re.escape(path.name)}\b")
        for licence in VENDOR.glob("*.LICENSE.txt"):
            for holder in re.findall(r"(?m)^ *Copyright (?:\(c\) )?\S+ (\w.*)$", licence.read_text()):
                self.assertIn(holder.strip(), copyright_file, licence.name)


if __name__ == "__main__":
    unittest.main()
