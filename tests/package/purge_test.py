#!/usr/bin/python3
"""The script that purges the Debian package, with directories of the test in place of those of the system.

`debian_test` purges the package itself; here are links and mounts, which that root does not have.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "packaging/debian/armature-server.postrm"
DEBCONF = """db_version() { :; }
db_input() { :; }
db_go() { :; }
db_get() { RET=$ANSWER; }
"""
# A mount namespace of our own; as another user than root also one of users.
NAMESPACE = (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount"))


def namespace():
    """The command that runs another one where it may mount; None if there is none here."""
    for command in NAMESPACE:
        if shutil.which(command[0]) is None:
            continue
        if subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode == 0:
            return command
    return None


class Purge(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.data = self.folder / "lib/armature"
        self.log = self.folder / "log/armature"
        for place in (self.data, self.log):
            self.fill(place)
        (self.folder / "confmodule").write_text(DEBCONF, encoding="ascii")
        text = SCRIPT.read_text(encoding="utf-8")
        for old, new in (("/usr/share/debconf/confmodule", "confmodule"), ("/var/lib/armature", "lib/armature"),
                         ("/var/log/armature", "log/armature")):
            self.assertIn(old, text)
            text = text.replace(old, str(self.folder / new))
        self.assertNotIn("/var/", text)
        (self.folder / "postrm").write_text(text, encoding="utf-8")

    @staticmethod
    def fill(place):
        (place / "db").mkdir(parents=True)
        (place / "db/000001.sst").write_text("x", encoding="ascii")
        (place / ".hidden").write_text("x", encoding="ascii")

    def purge(self, answer="true"):
        return subprocess.run(["sh", str(self.folder / "postrm"), "purge"], capture_output=True, text=True, check=False,
                              env={**os.environ, "DEBCONF_REDIR": "1", "ANSWER": answer})

    def test_all_goes_if_the_operator_says_so(self):
        done = self.purge()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(self.data.exists() or self.log.exists())
        # Once more, when nothing is left.
        self.assertEqual(self.purge().returncode, 0)

    def test_tables_stay_without_an_answer(self):
        done = self.purge("false")
        self.assertEqual(done.returncode, 0)
        self.assertIn("are kept", done.stderr)
        self.assertTrue((self.data / "db/000001.sst").exists())
        self.assertFalse(self.log.exists())

    def test_links_below_are_not_followed(self):
        elsewhere = self.folder / "elsewhere"
        self.fill(elsewhere)
        for place in (self.data, self.log):
            (place / "link").symlink_to(elsewhere)
        done = self.purge()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(self.data.exists() or self.log.exists())
        self.assertTrue((elsewhere / "db/000001.sst").exists())

    def test_directories_may_be_elsewhere(self):
        for place in (self.data, self.log):
            other = self.folder / f"other-{place.parent.name}"
            place.rename(other)
            place.symlink_to(other)
        done = self.purge()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for place in (self.data, self.log):
            self.assertEqual(list(place.iterdir()), [])

    def test_other_file_systems_stay(self):
        prefix = namespace()
        if prefix is None:
            self.skipTest("nothing can be mounted here")
        mounts = "\n".join(f'mkdir "{place}/mounted"\nmount -t tmpfs none "{place}/mounted"\ntouch "{place}/mounted/kept"'
                           for place in (self.data, self.log))
        after = f'status=$?; cd "{self.folder}"; ls lib/armature/mounted log/armature/mounted; ls -A lib/armature; exit $status'
        done = subprocess.run([*prefix, "sh", "-c", f'{mounts}\nDEBCONF_REDIR=1 ANSWER=true sh "{self.folder}/postrm" purge; {after}'],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["lib/armature/mounted:", "kept", "log/armature/mounted:", "kept", "mounted"])
        self.assertIn("Not everything", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
