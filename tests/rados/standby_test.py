#!/usr/bin/python3
"""Daemons that wait and could not take over: standby_test.py ARMATURED ARMATURE [SHIM], run by with_cluster.py --cephx.

Each reason is found before the takeover, in the log, at /readyz and in the metrics, and so is its end.
"""

import pathlib
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))
from cluster_tool import DIRECTORY, POOL, ceph, change_cluster, files, place_of, rados  # noqa: E402
from daemon_test import LEASE_SECONDS, RadosTestCase, page  # noqa: E402
from shim_control import ShimControl  # noqa: E402

SHIM = sys.argv[3] if len(sys.argv) > 3 else None
WAIT_SECONDS = 60
ALL_RIGHTS = "profile rbd"
FEW_RIGHTS = "allow r"


class StandbyTest(RadosTestCase):
    def start_owner(self, name):
        owner = self.start(name)
        owner.wait_until("ready")
        self.create_table(owner)
        return owner

    def start_standby(self, name, *flags, **options):
        standby = self.start(name, "--metrics_listen=127.0.0.1:0", *flags, **options)
        standby.wait_until("standby")
        return standby

    def unfit(self, standby):
        """Reasons for which it could not take over, as its metrics have them."""
        with urllib.request.urlopen(f"http://{standby.metrics}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        prefix = 'armature_standby_unfit{reason="'
        return {line[len(prefix):].split('"')[0] for line in lines if line.startswith(prefix) and line.endswith(" 1")}

    def wait_until_unfit(self, standby, *reasons):
        deadline = time.monotonic() + WAIT_SECONDS
        while self.unfit(standby) != set(reasons):
            self.assertLess(time.monotonic(), deadline, f"{self.unfit(standby)}: {standby.log()}")
            self.assertIsNone(standby.process.poll(), standby.log())

    def check_told(self, standby, reason, *texts):
        self.wait_until_unfit(standby, reason)
        for address in (standby.http, standby.metrics):
            status, text = page(address, "/readyz")
            self.assertEqual(status, 503)
            for each in ("standby, cannot take over: ", *texts):
                self.assertIn(each, text)
        for each in (f"reason={reason}", *texts):
            self.assertIn(each, standby.log())

    def set_rights(self, user, rights):
        ceph("auth", "caps", f"client.{user}", "mon", rights, "osd", f"allow rwx pool={POOL}")

    def make_user(self, user, rights):
        ceph("auth", "get-or-create", f"client.{user}", "mon", rights, "osd", f"allow rwx pool={POOL}",
             "-o", f"{DIRECTORY}/client.{user}.keyring")

    def test_a_fit_standby_says_nothing(self):
        owner = self.start_owner("fit")
        standby = self.start_standby("fit")
        # The look at the files follows all others.
        self.wait_until_logged(standby, "waiting for the lease")
        self.wait_until_unfit(standby)
        self.assertEqual(page(standby.http, "/readyz"), (503, "standby\n"))
        self.assertEqual(owner.end(), 0, owner.log())
        standby.wait_until("ready")
        self.assertNotIn("could not take the database over", standby.log())
        self.assertEqual(standby.end(), 0, standby.log())

    def test_the_right_to_block_the_former_owner(self):
        self.make_user("weak", FEW_RIGHTS)
        owner = self.start_owner("rights")
        standby = self.start_standby("rights", "--rados_user=weak")
        self.check_told(standby, "rights", "client.weak may not block", "profile rbd")
        # Given while it waits, they count at once, also for the takeover.
        self.set_rights("weak", ALL_RIGHTS)
        self.wait_until_unfit(standby)
        self.set_rights("weak", FEW_RIGHTS)
        self.wait_until_unfit(standby, "rights")
        self.set_rights("weak", ALL_RIGHTS)
        owner.end(9)
        standby.wait_until("ready")
        self.assertEqual(standby.end(), 0, standby.log())

    def test_an_owner_at_once_looks_as_well(self):
        self.make_user("weak2", FEW_RIGHTS)
        owner = self.start("alone", "--rados_user=weak2")
        owner.wait_until("ready")
        self.wait_until_logged(owner, "client.weak2 may not block")
        self.assertEqual(owner.end(), 0, owner.log())

    def test_the_lease(self):
        owner = self.start_owner("lease")
        standby = self.start_standby("lease", f"--lease_seconds={LEASE_SECONDS + 1}")
        self.check_told(standby, "lease", f"the lease is {LEASE_SECONDS + 1}s here and {LEASE_SECONDS}s at the owner")
        self.assertEqual(owner.end(), 0, owner.log())

    def test_the_version_of_the_data(self):
        owner = self.start_owner("version")
        place = place_of("version")
        standby = self.start_standby("version")
        self.wait_until_unfit(standby)
        # As a newer version raises it.
        object_id = files(place)["/data/armature.format"][0]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "format"
            rados(place, "get", f"{object_id}.0", str(path))
            text = path.read_text()
            newer = text.replace("\nformat: ", "\nformat: 9", 1)[: len(text) - 1] + "\n"
            path.write_text(newer)
            rados(place, "put", f"{object_id}.0", str(path))
        self.check_told(standby, "version", "this build reads formats up to", "use a newer armatured")
        owner.end(9)

    def test_the_version_of_the_volume(self):
        owner = self.start_owner("needs")
        place = place_of("needs")
        standby = self.start_standby("needs")
        rados(place, "setxattr", "directory", "needs", "wings")
        self.check_told(standby, "version", "needs a newer version", "wings")
        rados(place, "setxattr", "directory", "needs", "")
        self.wait_until_unfit(standby)
        self.assertEqual(owner.end(), 0, owner.log())

    def test_the_cluster(self):
        owner = self.start_owner("cluster")
        standby = self.start_standby("cluster")
        self.wait_until_unfit(standby)
        change_cluster("stop-mon")
        try:
            self.check_told(standby, "cluster")
        finally:
            change_cluster("start-mon")
        self.wait_until_unfit(standby)
        self.assertEqual(owner.end(), 0, owner.log())

    @unittest.skipUnless(SHIM, "without the library that moves clocks")
    def test_the_clock(self):
        owner = self.start_owner("clock")
        for ahead, words in ((7200, "ahead of"), (-7200, "behind")):
            directory = tempfile.TemporaryDirectory()
            self.addCleanup(directory.cleanup)
            control = ShimControl(pathlib.Path(directory.name) / "control")
            control.set_clock_offset(ahead)
            environment = control.environment(SHIM, [pathlib.Path(directory.name) / "none"])
            standby = self.start_standby("clock", environment=environment)
            self.check_told(standby, "clock", words, "owner's")
            self.assertEqual(standby.end(), 0, standby.log())
        self.assertEqual(owner.end(), 0, owner.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
