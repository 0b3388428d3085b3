#!/usr/bin/python3
"""Single promises under single faults, found by the attacks of this folder.

Run by CTest; by hand: durability_test.py --armatured PATH --shim PATH [unittest arguments]
"""

import argparse
import pathlib
import signal
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from disk_journal import Disk, read_journal  # noqa: E402
from server import Server  # noqa: E402
from shim_control import ShimControl  # noqa: E402
from survey import create_tables, must, scan  # noqa: E402
from workload import MAIN  # noqa: E402

PROGRAMS = argparse.Namespace()
ITEM = {"pk": {"S": "a"}, "sk": {"N": "1"}}


class DurabilityTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_durability_")
        self.addCleanup(directory.cleanup)
        self.home = pathlib.Path(directory.name)
        self.control = ShimControl(self.home / "control")

    def serve(self, data, **environment):
        """A connection to a daemon that ends with the test."""
        server = Server(PROGRAMS.armatured, data, self.home / "stderr", environment=environment)
        self.addCleanup(server.kill)
        server.start()
        connection = server.connect()
        self.addCleanup(connection.close)
        return server, connection

    def test_the_first_write_survives_a_power_cut(self):
        """On a disk that loses all that was not synced: the new directories, too."""
        for new in ("data", "deep/er/data"):
            with self.subTest(new):
                name = new.replace("/", "_")
                root, after, journal = self.home / f"disk_{name}", self.home / f"after_{name}", self.home / f"journal_{name}"
                root.mkdir()
                disk = Disk(root)
                server, connection = self.serve(root / new, **self.control.environment(PROGRAMS.shim, [root], journal))
                create_tables(connection)
                must(connection.call("PutItem", {"TableName": MAIN, "Item": ITEM}))
                server.kill()
                for record in read_journal(journal):
                    disk.apply(record)
                disk.write(after, "lost", None)
                _, connection = self.serve(after / new)
                self.assertEqual(scan(connection, MAIN), [ITEM])

    def test_nothing_is_acknowledged_behind_a_write_that_failed(self):
        """The restart decides whether that write is there. A delete of the item that is not there yet must not succeed."""
        data = self.home / "data"
        server, connection = self.serve(data, **self.control.environment(PROGRAMS.shim, [data]))
        create_tables(connection)
        self.control.arm("fsync", 1, "EIO", path_part=".log")
        key = {"TableName": MAIN, "Key": ITEM}
        writes = (("PutItem", {"TableName": MAIN, "Item": ITEM}), ("DeleteItem", key),
                  ("BatchWriteItem", {"RequestItems": {MAIN: [{"DeleteRequest": {"Key": ITEM}}]}}),
                  ("TransactWriteItems", {"TransactItems": [{"Delete": key}]}))
        for operation, members in writes:
            status, document = connection.call(operation, members)
            self.assertEqual(status, 503, (operation, document))
            self.assertIn("disk has failed", document["message"])
        self.assertEqual(must(connection.call("GetItem", key)), {})
        self.assertEqual(server.end(signal.SIGTERM), 0, server.log())
        _, connection = self.serve(data)
        for operation, members in writes:
            must(connection.call(operation, members))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--shim", required=True)
    _, rest = parser.parse_known_args(namespace=PROGRAMS)
    unittest.main(argv=[sys.argv[0], *rest])
