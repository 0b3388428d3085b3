#!/usr/bin/python3
"""A continuous archive through the real daemon and the command line: restores to random moments, kills, damage.

Run by CTest; by hand: continuous_archive_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import datetime
import json
import pathlib
import random
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import DIFFERENCES, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon, has_fault_points  # noqa: E402
from indexed_orders import TABLE, order  # noqa: E402
from known_history import History, contents, moment, now_ms  # noqa: E402


class ArchiveTest(CliTest):
    maxDiff = 2000

    def setUp(self):
        super().setUp()
        self.archive = self.directory / "archive"
        self.chance = random.Random(20261130)
        self.history = History()

    def open_daemon(self, *flags):
        daemon = Daemon(PATHS.armatured, f"--archive_dir={self.archive}", "--archive_interval=200ms",
                        "--metrics_listen=127.0.0.1:0", *flags, data_dir=self.directory / "data")
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None, None, None)
        self.daemon = daemon
        return daemon

    def await_base(self):
        while self.daemon.metric("armature_archive_last_base_timestamp_seconds") == 0:
            self.assertIsNone(self.daemon.process.poll())

    def await_archived(self, ms):
        """Returns when all that was answered before that time is in the archive."""
        while now_ms() - 1000 * self.daemon.metric("armature_archive_lag_seconds") <= ms:
            self.assertIsNone(self.daemon.process.poll())

    def write(self, count):
        self.history.write_some(self.daemon, count, self.chance)

    def scan(self, daemon, **members):
        items, start = [], {}
        while True:
            status, page = daemon.json_call("Scan", TableName="Orders", **start, **members)
            self.assertEqual(status, 200, page)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return contents(items)
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def listed(self, archive=None):
        return self.cli("archive", "list", "--dir", archive or self.archive)

    def restore(self, name, *options, archive=None):
        return self.cli("archive", "restore", "--dir", archive or self.archive, "--data-dir", self.directory / name,
                        *options)

    def check_restored(self, name, ms):
        """A daemon on the directory has a state that was possible then; its indexes agree, and it accepts writes."""
        checked = self.cli("verify", "--data-dir", self.directory / name)
        self.assertEqual(checked["Differences"], [])
        with Daemon(PATHS.armatured, data_dir=self.directory / name) as daemon:
            found = self.scan(daemon, ConsistentRead=True)
            possible = self.history.possible(ms)
            self.assertLess(len(possible), 10)
            self.assertIn(found, possible, moment(ms))
            self.assertEqual(self.scan(daemon, IndexName="by_state"), found)
            self.assertEqual(daemon.ask("PutItem", TableName="Orders", Item=order(1_000_000, "new")), 200)
            self.assertEqual(daemon.stop(), 0)
        shutil.rmtree(self.directory / name)

    def begin(self):
        """A table, and an archive with a base."""
        self.open_daemon()
        self.create(TABLE)
        self.write(100)
        self.await_base()
        return now_ms()

    def test_any_moment_is_restored_after_a_kill_and_the_loss_of_the_data(self):
        begin = self.begin()
        self.write(400)
        self.daemon.kill()
        self.open_daemon()
        self.write(400)
        self.daemon.kill()
        self.open_daemon()
        self.write(200)
        end = now_ms()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(len(self.listed()["Chains"]), 1)
        self.assertEqual(self.cli("archive", "verify", "--dir", self.archive)["Breaks"], [])
        shutil.rmtree(self.directory / "data")
        # The moments just behind an answer are the hard ones.
        answered = [ms for ms in self.history.answered if ms >= begin]
        moments = [self.chance.randint(begin, end) for _ in range(4)] + self.chance.sample(answered, 4)
        for ms in moments:
            self.restore("restored", "--at", moment(ms))
            self.check_restored("restored", ms)
        self.restore("restored", "--at", "latest")
        self.check_restored("restored", end)

    def test_a_kill_at_any_step_leaves_no_gap(self):
        if not has_fault_points(PATHS.armatured):
            self.skipTest("the daemon has no fault points")
        # A backup that no chain knows yet.
        self.open_with("archive.base_made:1").process.wait(WAIT_S)
        begin = self.begin()
        self.daemon.kill()
        for point in ("archive.before_segment:2", "archive.after_segment:2", "archive.log_kept:1",
                      "committer.after_write:20"):
            # Large items fill the log, so that it is deleted before it is archived.
            is_kept = "kept" in point
            daemon = self.open_with(point, interval="1h" if is_kept else "100ms")
            repeats = 20_000 if is_kept else 40
            try:
                for i in range(2000):
                    self.history.write(daemon, order(self.chance.randrange(50), f"{point} {i}", repeats), False)
            except OSError:
                pass
            except Exception as error:  # an answer that was cut off
                self.assertIn("http.client", type(error).__module__)
            # A write that was not answered may be there or not.
            daemon.process.wait(WAIT_S)
            self.settle()
        self.open_daemon()
        self.write(50)
        end = now_ms()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(len(self.listed()["Chains"]), 1)
        for ms in [self.chance.randint(begin, end) for _ in range(3)] + [end]:
            self.restore("restored", "--at", moment(ms))
            self.check_restored("restored", ms)

    def open_with(self, point, interval="100ms"):
        """A daemon that is killed at a fault point, with a short log."""
        daemon = Daemon(PATHS.armatured, f"--archive_dir={self.archive}", f"--archive_interval={interval}",
                        "--wal_max_mb=16", "--memtables_mb=16", data_dir=self.directory / "data",
                        env={"ARMATURE_FAULT_POINT": point})
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None, None, None)
        return daemon

    def settle(self):
        """Takes up what the database has, when a write was not answered."""
        with Daemon(PATHS.armatured, f"--archive_dir={self.archive}", "--archive_interval=100ms",
                    data_dir=self.directory / "data") as daemon:
            found = self.scan(daemon, ConsistentRead=True)
            daemon.kill()
        if found != self.history.states[-1]:
            self.history.sent.append(self.history.answered[-1])
            self.history.answered.append(now_ms())
            self.history.states.append(found)

    def test_damage_is_refused_by_name_with_what_can_be_restored(self):
        self.begin()
        for _ in range(5):
            self.write(20)
            self.await_archived(now_ms())
        end = now_ms()
        self.await_archived(end)
        self.assertEqual(self.daemon.stop(), 0)
        base = self.listed()["Chains"][0]["Bases"][0]
        last = self.listed()["Chains"][0]["LastSegment"]
        victim = (base["FirstSegment"] + last) // 2 + 1

        def flip(path):
            raw = bytearray(path.read_bytes())
            raw[len(raw) // 2] ^= 1
            path.write_bytes(raw)

        damages = {"is missing": lambda path: path.unlink(),
                   "has a body of": lambda path: path.write_bytes(path.read_bytes()[:-3]),
                   "checksum": flip}
        for words, damage in damages.items():
            archive = self.directory / "damaged"
            shutil.copytree(self.archive, archive)
            path = archive / "chains/00000001" / f"{victim:012}.segment"
            damage(path)
            refused = self.failing(USAGE_ERROR, "archive", "restore", "--dir", archive, "--data-dir",
                                   self.directory / "restored", "--at", moment(end))
            self.assertIn(str(path), refused)
            self.assertIn(words, refused)
            self.assertIn("this archive can restore from ", refused)
            self.assertFalse((self.directory / "restored").exists())
            until = refused.split(" until ")[-1].split("Z")[0] + "Z"
            checked = self.run_cli("archive", "verify", "--dir", archive)
            self.assertEqual(checked.returncode, DIFFERENCES)
            report = json.loads(checked.stdout)
            self.assertIn(str(path), report["Breaks"][0])
            self.assertEqual(report["Windows"][0]["Until"], until)
            done = self.restore("restored", "--at", moment(end), "--up-to-break", archive=archive)
            self.assertIn(str(path), done["Broken"])
            at = datetime.datetime.fromisoformat(max(until, done["LastWrite"]).replace("Z", "+00:00"))
            self.check_restored("restored", round(at.timestamp() * 1000))
            shutil.rmtree(archive)

    def test_an_archive_that_is_away_holds_nothing_up_and_goes_on_by_itself(self):
        begin = self.begin()
        away = self.directory / "away"
        self.archive.rename(away)
        self.write(100)
        while self.daemon.metric("armature_archive_paused") == 0:
            pass
        self.assertIn("archive: paused", self.daemon.log())
        self.write(100)
        away.rename(self.archive)
        while self.daemon.metric("armature_archive_paused") == 1:
            pass
        self.assertIn("archive: resumed", self.daemon.log())
        self.write(10)
        end = now_ms()
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(len(self.listed()["Chains"]), 1)
        for ms in (self.chance.randint(begin, end), end):
            self.restore("restored", "--at", moment(ms))
            self.check_restored("restored", ms)

    def test_moments_and_directories_that_cannot_be_are_refused(self):
        self.begin()
        self.write(5)
        self.assertEqual(self.daemon.stop(), 0)
        restore = ["archive", "restore", "--dir", self.archive, "--data-dir", self.directory / "restored"]
        self.assertIn("one of them", self.failing(USAGE_ERROR, *restore))
        self.assertIn("must be a time", self.failing(USAGE_ERROR, *restore, "--at", "yesterday"))
        self.assertIn("no base is from before it", self.failing(USAGE_ERROR, *restore, "--at", "2020-01-01 00:00:00"))
        self.assertIn("ends before it", self.failing(USAGE_ERROR, *restore, "--at", "2200-01-01T00:00:00Z"))
        self.assertIn("holds no archive",
                      self.failing(USAGE_ERROR, "archive", "list", "--dir", self.directory / "data"))
        self.assertIn("is not empty", self.failing(
            USAGE_ERROR, "archive", "restore", "--dir", self.archive, "--data-dir", self.directory / "data", "--at", "latest"))
        shown = self.run_cli("--output", "table", "archive", "list", "--dir", self.archive).stdout.decode()
        self.assertIn("Restorable: from ", shown)


if __name__ == "__main__":
    run_tests()
