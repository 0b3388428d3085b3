#!/usr/bin/python3
"""Start and memory of a daemon with three thousand tables, a tenth of which hold data."""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

TABLES = 3000
WITH_DATA = 10  # one table of so many
SECONDS_MAX = 3
MEGABYTES_MAX = 250
INDEXES = [{"IndexName": f"by_color_{number}", "KeySchema": [{"AttributeName": "color", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"}} for number in range(3)]
COLOR = {"AttributeName": "color", "AttributeType": "S"}
ARGS = None


def add_table(daemon, number):
    """Creates a table with global indexes, and an item in some of them."""
    name = f"table-{number}"
    daemon.create_table(name, more_attributes=[COLOR], GlobalSecondaryIndexes=INDEXES)
    if number % WITH_DATA != 0:
        return
    status, answer = daemon.json_call("PutItem", TableName=name, Item={"id": {"S": "a"}, "color": {"S": "red"}})
    assert status == 200, answer


def seconds_to_serve(data):
    """The wall-clock time, the processor time, which does not depend on other load, and the memory."""
    begin = time.monotonic()
    with Daemon(ARGS.armatured, "--metrics_listen=127.0.0.1:0", data_dir=data) as daemon:
        seconds = time.monotonic() - begin
        stat = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(stat[11]) + int(stat[12])
        status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
        megabytes = int(status.split("VmRSS:")[1].split()[0]) / 1024
        _, metrics = daemon.get_text("/metrics")
        numbers = dict(line.split() for line in metrics.splitlines() if line.startswith("armature_column_families"))
        assert int(numbers["armature_column_families_needed"]) == TABLES * 4, numbers
        # The last entries of indexes may not be written yet.
        assert int(numbers["armature_column_families"]) <= 5 + TABLES // WITH_DATA * 4, numbers
        assert daemon.stop() == 0
    return seconds, ticks / os.sysconf("SC_CLK_TCK"), megabytes


class Start(unittest.TestCase):
    def test_many_tables_are_served_soon(self):
        with tempfile.TemporaryDirectory(prefix="armature_start_") as directory:
            data = directory + "/data"
            with Daemon(ARGS.armatured, data_dir=data) as daemon:
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    list(pool.map(lambda number: add_table(daemon, number), range(TABLES)))
                self.assertEqual(daemon.stop(), 0)
            times = [seconds_to_serve(data) for _ in range(4)]
            for clock, processor, megabytes in times:
                print(f"serves after {clock:.2f} s, processor {processor:.2f} s, {megabytes:.0f} MB", file=sys.stderr)
            self.assertLess(min(processor for _, processor, _ in times), SECONDS_MAX)
            self.assertLess(min(megabytes for _, _, megabytes in times), MEGABYTES_MAX)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
