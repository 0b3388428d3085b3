#!/usr/bin/python3
"""The first acknowledged write of a new database survives a power cut, on a disk that loses all that was not synced: the new
directories, too.

Run by CTest; by hand: first_write_test.py --armatured PATH --shim PATH [unittest arguments]
"""

import argparse
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from disk_journal import Disk, read_journal  # noqa: E402
from server import Server  # noqa: E402
from shim_control import ShimControl  # noqa: E402
from survey import create_tables, must, scan  # noqa: E402
from workload import MAIN  # noqa: E402

PROGRAMS = argparse.Namespace()
ITEM = {"pk": {"S": "a"}, "sk": {"N": "1"}}


class FirstWriteTest(unittest.TestCase):
    def test_it_survives_a_power_cut(self):
        with tempfile.TemporaryDirectory(prefix="armature_first_") as name:
            home = pathlib.Path(name)
            for new in ("data", "deep/er/data"):
                with self.subTest(new):
                    root, after, journal = home / f"disk_{new[:4]}", home / f"after_{new[:4]}", home / f"journal_{new[:4]}"
                    root.mkdir()
                    disk = Disk(root)
                    control = ShimControl(home / "control")
                    environment = control.environment(PROGRAMS.shim, [root], journal)
                    with Server(PROGRAMS.armatured, root / new, home / "stderr", environment=environment) as server:
                        server.start()
                        connection = server.connect()
                        create_tables(connection)
                        must(connection.call("PutItem", {"TableName": MAIN, "Item": ITEM}))
                        connection.close()
                    for record in read_journal(journal):
                        disk.apply(record)
                    disk.write(after, "lost", None)
                    with Server(PROGRAMS.armatured, after / new, home / "stderr") as server:
                        server.start()
                        connection = server.connect()
                        self.assertEqual(scan(connection, MAIN), [ITEM])
                        connection.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--shim", required=True)
    _, rest = parser.parse_known_args(namespace=PROGRAMS)
    unittest.main(argv=[sys.argv[0], *rest])
