#!/usr/bin/python3
"""Backups through the real daemon and the command line: drill, damage, kills, schedule.

Run by CTest; by hand: backup_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import (  # noqa: E402
    API_ERROR, DIFFERENCES, INPUT_ERROR, PATHS, UNREACHABLE, USAGE_ERROR, CliTest, run_tests)
from armature_daemon import WAIT_S, Daemon, open_to_others  # noqa: E402
from indexed_orders import TABLE, key_of, order  # noqa: E402


def contents(items):
    return {key_of(item): item for item in items}


class BackupTest(CliTest):
    maxDiff = 2000

    def setUp(self):
        super().setUp()
        self.backups = self.directory / "backups"

    def open_daemon(self, *flags, data="data"):
        """Starts a daemon on a directory of the test, which the commands then call."""
        daemon = Daemon(PATHS.armatured, *flags, data_dir=self.directory / data)
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None, None, None)
        self.daemon = daemon
        return daemon

    def load(self, orders, table="Orders"):
        lines = "".join(json.dumps(each) + "\n" for each in orders)
        self.cli("load", "--table-name", table, "-", input=lines.encode())

    def scan(self, table="Orders", daemon=None, **members):
        """All items, read over the JSON protocol."""
        items = []
        start = {}
        while True:
            status, page = (daemon or self.daemon).json_call("Scan", TableName=table, **start, **members)
            self.assertEqual(status, 200, page)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return contents(items)
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def create_backup(self, *options):
        return self.cli("backup", "create", "--to", self.backups, *options)

    def listed(self):
        return self.cli("backup", "list", "--dir", self.backups)["Backups"]

    def restore(self, backup_id, name):
        done = self.run_cli("backup", "restore", "--dir", self.backups, "--id", backup_id, "--data-dir", self.directory / name)
        # stderr has no log lines.
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout)["Id"], backup_id)

    def check_restored(self, name, expected):
        """A daemon on the restored directory has these items, its indexes agree, and it accepts writes."""
        checked = self.cli("verify", "--data-dir", self.directory / name)
        self.assertEqual(checked["Differences"], [])
        with Daemon(PATHS.armatured, data_dir=self.directory / name) as daemon:
            self.assertEqual(self.scan(daemon=daemon, ConsistentRead=True), expected)
            self.assertEqual(self.scan(daemon=daemon, IndexName="by_state"), expected)
            status, answer = daemon.json_call("PutItem", TableName="Orders", Item=order(1_000_000))
            self.assertEqual(status, 200, answer)
            self.assertEqual(daemon.stop(), 0)

    def test_the_drill(self):
        """Makes two backups while clients write. Each holds the table's state of a quiet moment and verifies."""
        self.open_daemon()
        self.create(TABLE)
        first = [order(number) for number in range(3000)]
        self.load(first)
        made = self.create_backup()
        self.assertEqual((made["Id"], made.get("Damage", "")), (1, ""))
        self.assertGreater(made["SizeBytes"], 0)
        second = [order(number, state="sent") for number in range(0, 3000, 3)] + [order(n) for n in range(3000, 4000)]
        self.load(second)
        made = self.create_backup()
        self.assertEqual(made["Id"], 2)
        self.load([order(number, state="late") for number in range(500)])
        model_1 = contents(first)
        model_2 = {**model_1, **contents(second)}
        self.assertEqual([each["Id"] for each in self.listed()], [1, 2])
        checked = self.cli("backup", "verify", "--dir", self.backups)["Backups"]
        self.assertEqual([(each["Id"], each.get("Damage", "")) for each in checked], [(1, ""), (2, "")])
        # Simulates the loss of the database.
        self.daemon.kill()
        shutil.rmtree(self.directory / "data")
        self.restore(1, "one")
        self.restore(2, "two")
        self.check_restored("one", model_1)
        self.check_restored("two", model_2)
        # Writes to a restored database do not affect the backups.
        self.assertEqual(self.run_cli("backup", "verify", "--dir", self.backups).returncode, 0)

    def test_a_backup_under_writes_holds_all_that_was_acknowledged(self):
        self.open_daemon()
        self.create(TABLE)
        acknowledged = collections.deque()
        stop = threading.Event()

        def write(which):
            number = which
            while not stop.is_set():
                status, _ = self.daemon.json_call("PutItem", TableName="Orders", Item=order(number))
                if status == 200:
                    acknowledged.append(number)
                number += 4

        writers = [threading.Thread(target=write, args=(which,)) for which in range(4)]
        for writer in writers:
            writer.start()
        before = []
        for _ in range(3):
            while len(acknowledged) < 200 * (len(before) + 1):
                stop.wait(0.001)
            before.append(list(acknowledged))
            self.create_backup()
        stop.set()
        for writer in writers:
            writer.join()
        self.daemon.stop()
        for number, there in enumerate(before, 1):
            self.restore(number, f"copy{number}")
            with Daemon(PATHS.armatured, data_dir=self.directory / f"copy{number}") as daemon:
                have = self.scan(daemon=daemon, ConsistentRead=True)
                self.assertEqual([n for n in there if key_of(order(n)) not in have], [])
                # The items of each writer are a prefix of its writes.
                for which in range(4):
                    numbers = sorted(n for _, n in have if n % 4 == which)
                    self.assertEqual(numbers, [which + 4 * i for i in range(len(numbers))])

    def test_a_kill_during_a_backup_takes_nothing_from_the_earlier_ones(self):
        self.open_daemon()
        self.create(TABLE)
        first = [order(number) for number in range(2000)]
        self.load(first)
        self.create_backup()
        self.load([order(number, state="sent") for number in range(5000)])
        # The rate is so low that the backup runs for long.
        job = self.create_backup("--rate-mb", 1, "--no-wait")
        self.assertIn(job["State"], ("WAITING", "RUNNING"))
        self.wait_for_files()
        self.daemon.kill()
        self.assertEqual([each["Id"] for each in self.listed()], [1])
        self.assertEqual(self.run_cli("backup", "verify", "--dir", self.backups).returncode, 0)
        self.restore(1, "copy")
        self.check_restored("copy", contents(first))
        # The next backup cleans up and is complete.
        self.open_daemon()
        self.create_backup()
        self.assertEqual(len(self.cli("backup", "verify", "--dir", self.backups)["Backups"]), 2)

    def wait_for_files(self):
        """Waits until a file of the second backup exists."""
        private = self.backups / "private"
        while not any(each.name not in ("1",) for each in private.iterdir()):
            self.assertIsNone(self.daemon.process.poll())

    def test_a_kill_during_a_restore_leaves_nothing_that_serves(self):
        self.open_daemon()
        self.create(TABLE)
        orders = [order(number) for number in range(20_000)]
        self.load(orders)
        self.create_backup()
        target = self.directory / "copy"
        command = self.command("backup", "restore", "--dir", self.backups, "--id", 1, "--data-dir", target)
        killed = 0
        while killed == 0:
            shutil.rmtree(target, ignore_errors=True)
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as restoring:
                while restoring.poll() is None and not (target / "db").exists():
                    pass
                restoring.kill()
                restoring.wait()
                killed = restoring.returncode
        refused = subprocess.run([PATHS.armatured, f"--data_dir={target}", "--grpc_listen=127.0.0.1:0", "--http_listen=off"],
                                 capture_output=True, timeout=WAIT_S, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("did not finish", refused.stderr.decode())
        self.restore(1, "copy")
        self.check_restored("copy", contents(orders))

    def test_damage_is_told_with_the_name_of_the_file(self):
        self.open_daemon()
        self.create(TABLE)
        self.load([order(number) for number in range(2000)])
        self.create_backup()
        files = sorted(path for path in self.backups.rglob("*")
                       if path.is_file() and path.stat().st_size > 0 and path.name not in ("LOCK", "armature.backups"))
        self.assertGreater(len(files), 4)
        for path in files:
            whole = path.read_bytes()
            for name, damage in (("flipped", lambda data: self.flip(path, data)), ("missing", lambda _: path.unlink())):
                with self.subTest(file=str(path.relative_to(self.backups)), damage=name):
                    damage(whole)
                    done = self.run_cli("backup", "verify", "--dir", self.backups)
                    if path.parent.name == "manifests" and name == "missing":
                        # Without its manifest the backup does not exist.
                        self.assertEqual(json.loads(done.stdout)["Backups"], [])
                    else:
                        self.assertEqual(done.returncode, DIFFERENCES, done.stdout + done.stderr)
                        self.assertIn(path.name, json.loads(done.stdout)["Backups"][0]["Damage"])
                        error = self.failing(INPUT_ERROR, "backup", "restore", "--dir", self.backups, "--id", 1,
                                             "--data-dir", self.directory / "copy")
                        self.assertIn(path.name, error)
                        self.assertFalse((self.directory / "copy" / "db").exists())
                    path.write_bytes(whole)
        self.assertEqual(self.run_cli("backup", "verify", "--dir", self.backups).returncode, 0)

    @staticmethod
    def flip(path, data):
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:])

    def test_keep_notes_and_delete(self):
        self.open_daemon()
        self.create(TABLE)
        self.load([order(1)])
        self.create_backup()
        self.create_backup("--note", "before the migration")
        self.create_backup()
        self.create_backup("--keep", 1)
        self.assertEqual([(each["Id"], each.get("Note", "")) for each in self.listed()],
                         [(2, "before the migration"), (4, "")])
        self.assertIn("--yes", self.failing(USAGE_ERROR, "backup", "delete", "--dir", self.backups, "--id", 2))
        self.cli("backup", "delete", "--dir", self.backups, "--id", 2, "--yes")
        self.assertIn("2", self.failing(USAGE_ERROR, "backup", "delete", "--dir", self.backups, "--id", 2, "--yes"))
        missing = self.directory / "missing"
        self.failing(USAGE_ERROR, "backup", "delete", "--dir", missing, "--id", 1, "--yes")
        self.assertFalse(missing.exists())
        self.create_backup()
        self.assertEqual([each["Id"] for each in self.listed()], [4, 5])
        self.restore(5, "copy")
        self.check_restored("copy", contents([order(1)]))

    def test_a_stopped_daemon_is_backed_up_without_it(self):
        self.open_daemon()
        self.create(TABLE)
        self.load([order(number) for number in range(50)])
        error = self.failing(USAGE_ERROR, "backup", "create", "--data-dir", self.directory / "data", "--to", self.backups)
        self.assertIn("in use", error)
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(self.create_backup("--data-dir", self.directory / "data")["Id"], 1)
        error = self.failing(USAGE_ERROR, "backup", "restore", "--dir", self.backups, "--id", 1, "--data-dir",
                             self.directory / "data")
        self.assertIn("not empty", error)
        self.restore(1, "copy")
        self.check_restored("copy", contents(order(number) for number in range(50)))

    def test_what_cannot_work_says_so(self):
        daemon = self.open_daemon()
        self.assertIn("--backup_dir", self.failing(API_ERROR, "backup", "create"))
        self.assertIn("--backup_dir", self.failing(API_ERROR, "backup", "list"))
        other = self.directory / "other"
        other.mkdir()
        (other / "letter.txt").write_text("dear")
        self.assertIn(str(other), self.failing(INPUT_ERROR, "backup", "create", "--to", other))
        self.failing(USAGE_ERROR, "backup", "list", "--dir", other)
        self.failing(USAGE_ERROR, "backup", "list", "--dir", self.directory / "nowhere")
        self.create_backup()
        self.assertIn("7", self.failing(USAGE_ERROR, "backup", "restore", "--dir", self.backups, "--id", 7,
                                        "--data-dir", self.directory / "copy"))
        # The backups of another database.
        self.open_daemon(data="second")
        self.assertIn("another database", self.failing(INPUT_ERROR, "backup", "create", "--to", self.backups))
        self.assertEqual(self.daemon.stop(), 0)
        self.failing(UNREACHABLE, "--timeout", "0.2", "backup", "create", "--to", self.backups)
        self.assertIsNone(daemon.process.poll())

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer

    def status_of(self, table):
        status, answer = self.daemon.json_call("DescribeTable", TableName=table)
        return answer["Table"]["TableStatus"] if status == 200 else answer["__type"].split("#")[1]

    def test_what_commands_write_is_for_its_owner_only(self):
        with Daemon(PATHS.armatured, data_dir=self.directory / "data") as daemon:
            daemon.create_table("Items")
            self.assertEqual(daemon.stop(), 0)
        self.cli("backup", "create", "--data-dir", self.directory / "data", "--to", self.backups, umask=0)
        restored = self.directory / "restored"
        self.cli("backup", "restore", "--dir", self.backups, "--id", 1, "--data-dir", restored, umask=0)
        self.cli("verify", "--data-dir", restored, umask=0)
        for directory in (self.backups, restored):
            self.assertEqual(open_to_others(directory), [])

    def test_a_kill_during_the_restore_of_a_table_leaves_no_half_of_it(self):
        # Without waits, a restore can be killed before its end.
        flags = (f"--backup_dir={self.backups}", "--describe_wait=0")
        self.open_daemon(*flags)
        self.create(TABLE)
        orders = [order(number) for number in range(20_000)]
        self.load(orders)
        arn = self.call("CreateBackup", TableName="Orders", BackupName="first")["BackupDetails"]["BackupArn"]
        while self.call("DescribeBackup", BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] != "AVAILABLE":
            pass
        self.load([order(number, state="sent") for number in range(100)])
        restore = {"TargetTableName": "Copy", "BackupArn": arn}
        self.assertEqual(self.call("RestoreTableFromBackup", **restore)["TableDescription"]["TableStatus"], "CREATING")
        self.assertEqual(self.status_of("Copy"), "CREATING")
        self.daemon.kill()
        self.open_daemon(*flags)
        while (status := self.status_of("Copy")) != "ResourceNotFoundException":
            self.assertEqual(status, "DELETING")
        self.call("RestoreTableFromBackup", **restore)
        while (status := self.status_of("Copy")) != "ACTIVE":
            self.assertEqual(status, "CREATING")
        self.assertEqual(self.scan("Copy", ConsistentRead=True), contents(orders))
        self.assertEqual(self.scan("Copy", IndexName="by_state"), contents(orders))
        self.assertEqual(self.cli("verify", "--table-name", "Copy")["Differences"], [])
        shown = self.run_cli("--output", "table", "backup", "list", "--dir", self.backups).stdout.decode()
        self.assertRegex(shown, r"table backup first of Orders +whole")
        self.call("DeleteBackup", BackupArn=arn)
        self.assertEqual(self.listed(), [])

    def test_a_table_of_any_backup_is_restored(self):
        self.open_daemon()
        self.create(TABLE)
        orders = [order(number) for number in range(600)]
        self.load(orders)
        self.create_backup()
        self.load([order(number, state="sent") for number in range(300)])
        restore = ["backup", "restore-table", "--dir", self.backups, "--id", 1, "--table-name", "Orders",
                   "--target-table-name"]
        made = self.cli(*restore, "Then", "--wait")
        self.assertEqual((made["TableStatus"], made["ItemCount"]), ("ACTIVE", 600))
        self.assertEqual(self.scan("Then", IndexName="by_state"), contents(orders))
        self.assertIn("TableAlreadyExists", self.failing(API_ERROR, *restore, "Then"))
        self.assertIn("targetTableName", self.failing(API_ERROR, *restore, "no"))
        restore[5] = 7
        self.assertIn("no backup 7", self.failing(API_ERROR, *restore, "Later"))
        restore[5] = 1
        restore[7] = "Nothing"
        self.assertIn("has no table Nothing", self.failing(API_ERROR, *restore, "Later"))

    def test_the_schedule(self):
        daemon = self.open_daemon(f"--backup_dir={self.backups}", "--backup_interval=1s", "--backup_keep=2",
                                  "--metrics_listen=127.0.0.1:0")
        self.create(TABLE)
        while not self.backups.exists() or [each["Id"] for each in self.listed()][-1:] < [4]:
            self.assertIsNone(daemon.process.poll())
        self.assertLessEqual(len(self.cli("backup", "list")["Backups"]), 3)
        _, text = daemon.get_text("/metrics")
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("armature_backup"))
        self.assertGreaterEqual(float(values['armature_backups_total{result="ok"}']), 4)
        self.assertGreater(float(values["armature_backup_last_success_timestamp_seconds"]), 1.7e9)
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(self.run_cli("backup", "verify", "--dir", self.backups).returncode, 0)


if __name__ == "__main__":
    run_tests()
