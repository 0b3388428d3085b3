#!/usr/bin/python3
"""The unit of systemd, and the drop-in for secrets that docs/operate/credentials.md has."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

WAIT_S = 60
ARGS = None
CREDENTIALS = """{"access_keys": [{"id": "AKOPS", "secret": "a-secret-of-some-length", "policy": "ops"}],
"policies": {"ops": {"allow": [{"operations": ["*"], "tables": ["*"]}]}}}"""


def secrets_drop_in():
    text = (ROOT / "docs/operate/credentials.md").read_text()
    return text.split("## Secrets from systemd", 1)[1].split("```ini\n", 1)[1].split("```", 1)[0]


@unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
class UnitFile(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="armature_unit_")))

    def verify(self, drop_in=""):
        """Has systemd read the unit, with a drop-in beside it. Returns the exit status and the complaints about it."""
        unit = self.directory / "armatured.service"
        unit.write_text((ROOT / "packaging/armatured.service").read_text().replace("/usr/bin/armatured", ARGS.armatured))
        more = self.directory / "armatured.service.d"
        more.mkdir(exist_ok=True)
        (more / "more.conf").write_text(drop_in.replace("/usr/bin/armatured", ARGS.armatured))
        run = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)],
                             capture_output=True, text=True, timeout=WAIT_S, check=False)
        return run.returncode, [line for line in run.stderr.splitlines() if "armatured.service" in line]

    def test_the_unit_is_valid(self):
        self.assertEqual(self.verify(), (0, []))

    def test_the_drop_in_for_secrets_is_valid(self):
        self.assertTrue(self.verify("[Service]\nLoadCredentials=a:/b\n")[1], "drop-ins are not read")
        self.assertEqual(self.verify(secrets_drop_in()), (0, []))

    def test_the_daemon_takes_the_flags_of_the_drop_in(self):
        command = next(line for line in secrets_drop_in().splitlines() if line.startswith("ExecStart=/"))
        # As systemd makes them: in a directory of the service, which reads them and no more.
        secret = self.directory / "credentials"
        secret.write_text(CREDENTIALS)
        secret.chmod(0o400)
        flags = [flag.replace("%d", str(self.directory)) for flag in command.split() if flag.startswith("--credentials_file")]
        with Daemon(ARGS.armatured, *flags, "--insecure") as daemon:
            status, answer = daemon.json_call("ListTables")
            self.assertEqual(status, 400, answer)
            self.assertIn("MissingAuthenticationToken", answer["__type"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
