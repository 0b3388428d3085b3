#!/usr/bin/python3
"""Restores of single tables to moments, from the archive of the running daemon: both fronts, kills, damage, errors.

Run by CTest; by hand: point_in_time_test.py --armatured PATH --armature PATH [unittest arguments]
"""

import fcntl
import http.client
import json
import pathlib
import random
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_cli import API_ERROR, PATHS, USAGE_ERROR, CliTest, run_tests  # noqa: E402
from armature_daemon import WAIT_S, Daemon, has_fault_points, wait_for  # noqa: E402
from indexed_orders import TABLE, order  # noqa: E402
from known_history import History, contents, moment, now_ms  # noqa: E402

WRITERS = 3


class Connection:
    """A client of its own."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=WAIT_S)

    def ask(self, operation, **members):
        self.connection.request("POST", "/", json.dumps(members), {
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


class PointInTimeTest(CliTest):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        super().setUp()
        self.archive = self.directory / "archive"
        self.chance = random.Random(20261201)
        self.restored = 0

    def open_daemon(self, *flags, **options):
        daemon = Daemon(PATHS.armatured, f"--archive_dir={self.archive}", "--archive_interval=200ms",
                        "--metrics_listen=127.0.0.1:0", *flags, data_dir=self.directory / "data", **options)
        daemon.__enter__()
        self.addCleanup(daemon.__exit__, None, None, None)
        self.daemon = daemon
        return daemon

    def call(self, operation, **members):
        status, answer = self.daemon.json_call(operation, **members)
        self.assertEqual(status, 200, answer)
        return answer

    def error(self, operation, **members):
        """The name and the text of the error."""
        status, answer = self.daemon.json_call(operation, **members)
        self.assertNotEqual(status, 200, answer)
        return answer["__type"].split("#")[-1], answer.get("message", answer.get("Message"))

    def recovery(self, name="Orders"):
        answer = self.call("DescribeContinuousBackups", TableName=name)
        return answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]

    def enable(self, name="Orders", **members):
        self.call("UpdateContinuousBackups", TableName=name,
                  PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, **members})

    def await_window(self, name="Orders"):
        """Returns when the table can be restored, with the first time."""
        wait_for(lambda: "EarliestRestorableDateTime" in self.recovery(name), "the window")
        return round(self.recovery(name)["EarliestRestorableDateTime"] * 1000)

    def await_latest(self, ms, name="Orders"):
        """Returns when the table can be restored to that time."""
        wait_for(lambda: self.recovery(name).get("LatestRestorableDateTime", 0) * 1000 >= ms, "the time")

    def begin(self, *flags):
        """A table with recovery, and an archive with a base. Returns the first time that can be restored."""
        self.open_daemon(*flags)
        self.create(TABLE)
        self.enable()
        first = self.await_window()
        while now_ms() < first:
            pass
        return first

    def write_at_once(self, histories, count):
        """Each history is written by a client of its own."""
        def write(history, chance):
            with Connection(self.daemon.http) as client:
                history.write_some(client, count, chance)

        threads = [threading.Thread(target=write, args=(history, random.Random(self.chance.random())))
                   for history in histories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for history in histories:
            self.assertEqual(len(history.answered), len(history.sent))

    def write(self, history, count):
        with Connection(self.daemon.http) as client:
            history.write_some(client, count, self.chance)

    def scan(self, name, **members):
        items, start = [], {}
        while True:
            page = self.call("Scan", TableName=name, **start, **members)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return contents(items)
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def status(self, name):
        status, answer = self.daemon.json_call("DescribeTable", TableName=name)
        return answer["Table"]["TableStatus"] if status == 200 else "none"

    def await_restored(self, name):
        wait_for(lambda: self.status(name) != "CREATING", "the restored table")
        self.assertEqual(self.status(name), "ACTIVE", self.daemon.log())

    def restore(self, ms, source="Orders", **overrides):
        """Restores a table by one of the fronts, in turn. Returns the name of the new one."""
        self.restored += 1
        name = f"restored-{self.restored}"
        if overrides or self.restored % 2 == 0:
            answer = self.call("RestoreTableToPointInTime", SourceTableName=source, TargetTableName=name,
                               RestoreDateTime=ms / 1000, **overrides)["TableDescription"]
            self.assertEqual(answer["TableStatus"], "CREATING")
            self.assertEqual(answer["RestoreSummary"], {
                "SourceTableArn": f"arn:aws:dynamodb:local:000000000000:table/{source}",
                "RestoreDateTime": ms / 1000, "RestoreInProgress": True})
            self.await_restored(name)
        else:
            table = self.cli("archive", "restore-table", "--table-name", source, "--target-table-name", name, "--at",
                             moment(ms), "--wait")
            self.assertEqual(table["TableStatus"], "ACTIVE")
        return name

    def check(self, name, ms, histories):
        """The table has what each client can have written until then, and its indexes and totals agree."""
        self.assertEqual(self.cli("verify", "--table-name", name)["Differences"], [])
        found = self.scan(name, ConsistentRead=True)
        for history in histories:
            part = {key: item for key, item in found.items() if key[1] % history.parts == history.part}
            self.assertLess(len(history.possible(ms)), 10)
            self.assertIn(part, history.possible(ms), moment(ms))
        table = self.call("DescribeTable", TableName=name)["Table"]
        self.assertEqual(table["ItemCount"], len(found))
        self.assertNotIn("RestoreSummary", table)
        for index in table.get("GlobalSecondaryIndexes", []):
            self.assertEqual(self.scan(name, IndexName=index["IndexName"]), found)

    def test_a_table_is_restored_to_any_moment_while_clients_write(self):
        first = self.begin()
        self.create({**TABLE, "TableName": "Others"})
        histories = [History(part=part, parts=WRITERS) for part in range(WRITERS)]
        others = History("Others")
        self.write_at_once([*histories, others], 150)
        self.daemon.kill()
        self.open_daemon()
        self.write_at_once([*histories, others], 150)
        end = now_ms()
        self.await_latest(end)
        moments = [self.chance.randint(first, end) for _ in range(3)]
        # The moments just behind an answer are the hard ones.
        moments += self.chance.sample([ms for ms in histories[0].answered if ms >= first], 3)
        # The writes go on meanwhile, and are not in the new tables.
        writer = threading.Thread(target=self.write_at_once, args=([others], 200))
        writer.start()
        for ms in [first, *moments, end]:
            self.check(self.restore(ms), ms, histories)
        writer.join()
        # A restored table is one as any other.
        self.call("PutItem", TableName="restored-1", Item=order(1_000_000, "new"))
        self.assertEqual(self.recovery("restored-1"), {"PointInTimeRecoveryStatus": "DISABLED"})
        self.call("DeleteTable", TableName="restored-1")

    def test_changes_beyond_the_memory_of_a_restore_are_all_there(self):
        self.begin()
        history = History()
        self.write(history, 100)
        self.assertEqual(self.daemon.stop(), 0)
        # A start without the archive ends the chain, so that the next base has rows that are changed later.
        with Daemon(PATHS.armatured, data_dir=self.directory / "data") as daemon:
            self.assertEqual(daemon.stop(), 0)
        self.open_daemon()
        wait_for(lambda: self.daemon.metric("armature_archive_bases_total", 'result="ok"') > 0, "a base")
        with Connection(self.daemon.http) as client:
            for number in range(130):
                history.write(client, order(number, "large", 70_000), False)
            # These rows are in the new table when their changes come.
            for number in range(60):
                history.write(client, order(number, "small"), number % 3 == 0)
        end = now_ms()
        self.await_latest(end)
        self.check(self.restore(end), end, [history])

    def test_indexes_and_settings_are_chosen(self):
        self.begin()
        self.call("PutItem", TableName="Orders", Item=order(1))
        end = now_ms()
        self.await_latest(end)
        name = self.restore(end, GlobalSecondaryIndexOverride=[], LocalSecondaryIndexOverride=[])
        table = self.call("DescribeTable", TableName=name)["Table"]
        self.assertNotIn("GlobalSecondaryIndexes", table)
        self.assertNotIn("LocalSecondaryIndexes", table)
        self.assertEqual(len(self.scan(name)), 1)
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
        index = {**TABLE["GlobalSecondaryIndexes"][0], "IndexName": "other", "ProvisionedThroughput": units}
        name = self.restore(end, BillingModeOverride="PROVISIONED", ProvisionedThroughputOverride=units,
                            GlobalSecondaryIndexOverride=[index], SSESpecificationOverride={"Enabled": True})
        table = self.call("DescribeTable", TableName=name)["Table"]
        self.assertEqual(table["ProvisionedThroughput"]["WriteCapacityUnits"], 6)
        self.assertEqual([each["IndexName"] for each in table["GlobalSecondaryIndexes"]], ["other"])
        self.assertEqual(len(self.scan(name, IndexName="other")), 1)
        restore = {"SourceTableName": "Orders", "TargetTableName": "new", "UseLatestRestorableTime": True}
        self.assertEqual(
            self.error("RestoreTableToPointInTime", **restore, ProvisionedThroughputOverride=units),
            ("ValidationException",
             "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"))
        wrong = {**index, "KeySchema": [{"AttributeName": "number", "KeyType": "HASH"}]}
        self.assertIn("Index other does not match a secondary index",
                      self.error("RestoreTableToPointInTime", **restore, GlobalSecondaryIndexOverride=[wrong])[1])
        self.assertEqual(self.status("new"), "none")

    def test_times_and_names_that_cannot_be_are_refused(self):
        first = self.begin()
        self.call("PutItem", TableName="Orders", Item=order(1))
        self.await_latest(now_ms())
        self.create({**TABLE, "TableName": "Others"})
        restore = {"SourceTableName": "Orders", "TargetTableName": "new"}
        for seconds in (0, first / 1000 - 1, now_ms() // 1000 + 3600):
            # Also beside an existing target.
            for target in ("new", "Others"):
                name, text = self.error("RestoreTableToPointInTime", **{**restore, "TargetTableName": target},
                                        RestoreDateTime=seconds)
                self.assertEqual(name, "InvalidRestoreTimeException")
                self.assertRegex(text, r"^RestoreDateTime '[^']+Z' must be within EarliestRestorableDateTime '"
                                       + moment(first)[:19] + r"Z' and LatestRestorableDateTime '[^']+Z'$")
        self.assertIn("InvalidRestoreTimeException", self.failing(
            API_ERROR, "archive", "restore-table", "--table-name", "Orders", "--target-table-name", "new", "--at",
            "2020-01-01 00:00:00"))
        self.assertIn("must be a time", self.failing(
            USAGE_ERROR, "archive", "restore-table", "--table-name", "Orders", "--target-table-name", "new", "--at",
            "yesterday"))
        latest = {"UseLatestRestorableTime": True}
        for target in ("Others", "Orders"):
            self.assertEqual(self.error("RestoreTableToPointInTime", **{**restore, "TargetTableName": target}, **latest),
                             ("TableAlreadyExistsException", f"Table already exists: {target}"))
        self.assertEqual(self.error("RestoreTableToPointInTime", SourceTableName="none", TargetTableName="Others",
                                    **latest), ("TableNotFoundException", "Table not found: none"))
        self.assertEqual(self.error("RestoreTableToPointInTime", SourceTableName="Others", TargetTableName="new",
                                    **latest),
                         ("PointInTimeRecoveryUnavailableException",
                          "Point in time recovery is not enabled for table 'Others'"))
        self.assertEqual(self.status("new"), "none")

    def test_the_window_is_that_of_the_archive_and_the_setting(self):
        first = self.begin()
        begun = self.recovery()
        self.assertEqual(begun["RecoveryPeriodInDays"], 35)
        self.assertEqual(begun["EarliestRestorableDateTime"] % 1, 0)
        self.assertGreaterEqual(begun["LatestRestorableDateTime"], begun["EarliestRestorableDateTime"])
        self.call("PutItem", TableName="Orders", Item=order(1))
        self.await_latest(now_ms() + 1000)
        # The latest time has everything that was acknowledged before.
        latest = self.recovery()["LatestRestorableDateTime"]
        self.call("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="latest",
                  UseLatestRestorableTime=True)
        self.await_restored("latest")
        self.assertEqual(len(self.scan("latest")), 1)
        # Enabling it again does not move the window, nor does a start of the daemon.
        self.enable(RecoveryPeriodInDays=3)
        self.assertEqual(self.daemon.stop(), 0)
        self.open_daemon()
        self.await_latest(latest * 1000)
        self.assertEqual(self.recovery()["EarliestRestorableDateTime"] * 1000, first)
        self.assertEqual(self.recovery()["RecoveryPeriodInDays"], 3)
        # A table whose recovery begins now can be restored to now at once.
        self.call("UpdateContinuousBackups", TableName="Orders",
                  PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False})
        self.assertEqual(self.recovery(), {"PointInTimeRecoveryStatus": "DISABLED"})
        self.enable()
        self.assertGreaterEqual(self.recovery()["EarliestRestorableDateTime"], latest)
        self.call("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="now",
                  UseLatestRestorableTime=True)
        self.await_restored("now")
        self.assertEqual(len(self.scan("now")), 1)
        shown = self.run_cli("--output", "table", "status").stdout.decode()
        self.assertRegex(shown, r"(?m)^archive \d+s? behind, restores since \d{4}-")
        self.assertNotIn("KEEPS NO HISTORY", shown)

    def test_a_kill_during_a_restore_leaves_nothing(self):
        if not has_fault_points(PATHS.armatured):
            self.skipTest("the daemon has no fault points")
        self.begin()
        history = History()
        self.write(history, 100)
        end = now_ms()
        self.await_latest(end)
        self.assertEqual(self.daemon.stop(), 0)
        gate = self.directory / "gate"
        gate.touch()
        with open(gate, encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.open_daemon(env={"ARMATURE_FAULT_POINT": f"archive.read_segment@{gate}"})
            self.await_latest(end)
            restore = {"SourceTableName": "Orders", "TargetTableName": "half", "RestoreDateTime": end / 1000}
            self.call("RestoreTableToPointInTime", **restore)
            # The table is there, and not for anybody.
            self.assertEqual(self.status("half"), "CREATING")
            self.assertEqual(self.error("RestoreTableToPointInTime", **restore),
                             ("TableInUseException", "Table: half is already being restored"))
            self.assertEqual(self.error("DescribeContinuousBackups", TableName="half")[0], "TableNotFoundException")
            self.assertEqual(self.error("DeleteTable", TableName="half")[0], "ResourceInUseException")
            self.assertEqual(self.error("PutItem", TableName="half", Item=order(1))[0], "ResourceNotFoundException")
            self.call("PutItem", TableName="Orders", Item=order(1_000_000))
            self.daemon.kill()
        self.open_daemon()
        wait_for(lambda: self.status("half") == "none", "the end of the half table")
        self.check(self.restore(end), end, [history])
        # As a stop does.
        self.assertEqual(self.daemon.stop(), 0)
        with open(gate, encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.open_daemon(env={"ARMATURE_FAULT_POINT": f"archive.read_segment@{gate}"})
            self.await_latest(end)
            self.call("RestoreTableToPointInTime", **restore)
            self.daemon.terminate()
        self.daemon.process.wait(WAIT_S)
        self.open_daemon()
        wait_for(lambda: self.status("half") == "none", "the end of the half table")

    def test_damage_is_refused_by_name_with_what_can_be_restored(self):
        self.begin()
        history = History()
        ends, segments = [], []
        for _ in range(3):
            self.write(history, 20)
            ends.append(now_ms())
            self.await_latest(ends[-1])
            segments.append(sorted((self.archive / "chains/00000001").glob("*.segment")))
        # The last time needs it, the one before does not.
        victim = segments[2][len(segments[1])]
        whole = victim.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        for words, damage in (("is missing", None), ("has a body of", whole[:-3]), ("checksum", bytes(flipped))):
            if damage is None:
                victim.unlink()
            else:
                victim.write_bytes(damage)
            name, text = self.error("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="new",
                                    RestoreDateTime=ends[-1] / 1000)
            self.assertEqual(name, "InvalidRestoreTimeException", text)
            self.assertIn(f"chains/00000001/{victim.name}", text)
            self.assertIn(words, text)
            self.assertIn("this archive can restore from ", text)
            self.assertNotIn(str(self.archive), text)
            self.assertEqual(self.status("new"), "none")
        self.check(self.restore(ends[0]), ends[0], [history])
        victim.write_bytes(whole)
        self.check(self.restore(ends[-1]), ends[-1], [history])

    def test_damage_that_is_found_later_ends_the_restore(self):
        if not has_fault_points(PATHS.armatured):
            self.skipTest("the daemon has no fault points")
        self.begin()
        for _ in range(3):
            self.write(History(), 20)
            self.await_latest(now_ms())
        end = now_ms()
        self.await_latest(end)
        self.assertEqual(self.daemon.stop(), 0)
        gate = self.directory / "gate"
        gate.touch()
        with open(gate, encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.open_daemon(env={"ARMATURE_FAULT_POINT": f"archive.read_segment@{gate}"})
            self.await_latest(end)
            self.call("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="half",
                      RestoreDateTime=end / 1000)
            for segment in sorted((self.archive / "chains/00000001").glob("*.segment"))[1:]:
                segment.unlink()
        wait_for(lambda: self.status("half") == "none", "the end of the half table")
        self.assertRegex(self.daemon.log(), r"restore: failed, deleting the table .*segment is missing")

    def test_a_gap_of_the_archive_is_refused_and_what_is_behind_it_is_restored(self):
        self.begin()
        history = History()
        self.write(history, 20)
        before = now_ms()
        self.await_latest(before)
        self.assertEqual(self.daemon.stop(), 0)
        with Daemon(PATHS.armatured, data_dir=self.directory / "data") as daemon:
            with Connection(daemon.http) as client:
                history.write_some(client, 20, self.chance)
            gap = now_ms()
            self.assertEqual(daemon.stop(), 0)
        self.open_daemon()
        wait_for(lambda: self.daemon.metric("armature_archive_bases_total", 'result="ok"') > 0, "a base")
        self.write(history, 20)
        after = now_ms()
        self.await_latest(after)
        name, text = self.error("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="new",
                                RestoreDateTime=gap / 1000)
        self.assertEqual(name, "InvalidRestoreTimeException", text)
        self.assertRegex(text, "chain 1 ends before it; this archive can restore from .* until .*, and from .* until ")
        for ms in (before, after):
            self.check(self.restore(ms), ms, [history])

    def test_an_archive_that_is_away_is_told(self):
        self.begin()
        self.await_latest(now_ms())
        away = self.directory / "away"
        self.archive.rename(away)
        self.call("PutItem", TableName="Orders", Item=order(1))
        wait_for(lambda: self.daemon.metric("armature_archive_paused") == 1, "the pause")
        shown = self.run_cli("--output", "table", "status").stdout.decode()
        self.assertRegex(shown, r"(?m)^archive PAUSED since \d{4}-.* is away, restores since \d{4}-")
        status, answer = self.daemon.json_call("RestoreTableToPointInTime", SourceTableName="Orders",
                                               TargetTableName="new", UseLatestRestorableTime=True)
        self.assertNotEqual(status, 200, answer)
        self.assertEqual(self.status("new"), "none")
        away.rename(self.archive)
        wait_for(lambda: self.daemon.metric("armature_archive_paused") == 0, "the end of the pause")

    def test_without_an_archive_there_is_a_warning_and_no_window(self):
        self.daemon = Daemon(PATHS.armatured, data_dir=self.directory / "data").__enter__()
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.create(TABLE)
        self.enable()
        self.assertIn("without --archive_dir no history of tables is kept", self.daemon.log())
        self.assertEqual(self.recovery(), {"PointInTimeRecoveryStatus": "ENABLED", "RecoveryPeriodInDays": 35})
        name, text = self.error("RestoreTableToPointInTime", SourceTableName="Orders", TargetTableName="new",
                                UseLatestRestorableTime=True)
        self.assertEqual(name, "PointInTimeRecoveryUnavailableException")
        self.assertIn("--archive_dir", text)


if __name__ == "__main__":
    run_tests()
