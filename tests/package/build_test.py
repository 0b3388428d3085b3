#!/usr/bin/python3
"""Packages of tools/package: the same bytes in a second run, no complaints of lintian, and a version that sorts.

    build_test.py --packages DIR [unittest arguments]     DIR has the output of `tools/package --image`
"""

import argparse
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARGS = argparse.Namespace()
BUILD_S = 3600


def run(*command, **options):
    ended = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=BUILD_S, check=False, **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def digests(directory):
    """Digests of packages and image by name. The .buildinfo, and so .changes, tells about the machine."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in directory.iterdir() if path.suffix in (".deb", ".tar")}


class BuildTest(unittest.TestCase):
    def test_a_second_run_makes_the_same_bytes(self):
        with tempfile.TemporaryDirectory(prefix="armature_packages_") as again:
            old_umask = os.umask(0o077)
            try:
                run(ROOT / "tools/package", "--image", "--output", again,
                    env={**os.environ, "TZ": "Pacific/Auckland", "LC_ALL": "C"})
            finally:
                os.umask(old_umask)
            expected = digests(ARGS.packages)
            self.assertGreaterEqual(len(expected), 5)
            self.assertEqual(digests(pathlib.Path(again)), expected)

    def test_lintian_has_no_complaint(self):
        (changes,) = ARGS.packages.glob("*.changes")
        run("lintian", "--fail-on=error,warning", "--tag-display-limit=0", changes)

    def test_a_version_before_its_release_sorts_before_it(self):
        (server,) = ARGS.packages.glob("armature-server_*.deb")
        version = run("dpkg-deb", "--field", server, "Version").strip()
        project = re.search(r"^project\(armature VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        self.assertRegex(version, rf"^{re.escape(project)}(~\d{{14}}(\.g[0-9a-f]+)?)?-\d+$")
        run("dpkg", "--compare-versions", version, "le", f"{project}-1")

    def test_all_packages_are_there(self):
        names = {path.name.split("_")[0] for path in ARGS.packages.glob("*.deb")}
        self.assertLessEqual({"armature-server", "armature-client", "libarmature-client0.1", "libarmature-client-dev",
                              "armature-server-dbgsym", "armature-client-dbgsym", "libarmature-client0.1-dbgsym"}, names)

    def test_wrong_arguments_are_refused(self):
        for arguments, text in ((["--revision", "0"], "wants a number, not '0'"), (["--revision=x"], "not 'x'"),
                                (["--nothing"], "unknown option '--nothing'")):
            ended = subprocess.run([ROOT / "tools/package", *arguments], capture_output=True, text=True, timeout=60,
                                   check=False)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(text, ended.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
