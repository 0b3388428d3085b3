#!/usr/bin/python3
"""A rebuilt disk has everything that was synced, and nothing that was not done."""

import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from disk_journal import (  # noqa: E402
    CREATE, LINK, RENAME, SYNC_BEGIN, SYNC_END, TRUNCATE, UNLINK, VARIANTS, WRITE, Disk, Record)

FILE, OTHER = 1_000_001, 1_000_002


class DiskTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="armature_disk_")
        self.addCleanup(directory.cleanup)
        self.parent = pathlib.Path(directory.name)
        self.root = self.parent / "disk"
        self.root.mkdir()
        (self.root / "old").write_bytes(b"old")
        self.disk = Disk(self.root)
        self.directory = self.root.stat().st_ino
        self.rng = random.Random(1)
        self.targets = 0

    def apply(self, kind, file=0, number=0, path="", data=b""):
        path = str(self.root / path) if path else ""
        self.disk.apply(Record(kind, 0, file, number, path, data))

    def sync(self, file, number=1):
        self.apply(SYNC_BEGIN, file, number)
        self.apply(SYNC_END, file, number)

    def cut(self, variant):
        """Name -> content after a cut."""
        self.targets += 1
        target = self.parent / str(self.targets)
        self.disk.write(target, variant, self.rng)
        return {path.name: path.read_bytes() for path in target.iterdir()}

    def test_synced_data_is_there_after_every_cut(self):
        self.apply(CREATE, FILE, path="new")
        self.apply(WRITE, FILE, 0, data=b"a" * 9000)
        self.sync(FILE)
        self.sync(self.directory)
        for variant in VARIANTS:
            self.assertEqual(self.cut(variant), {"old": b"old", "new": b"a" * 9000}, variant)

    def test_a_file_without_its_entry_is_lost(self):
        self.apply(CREATE, FILE, path="new")
        self.apply(WRITE, FILE, 0, data=b"a")
        self.sync(FILE)
        self.assertEqual(self.cut("lost"), {"old": b"old"})
        self.assertEqual(self.cut("kept"), {"old": b"old", "new": b"a"})

    def test_only_what_was_written_before_the_sync_began_is_synced(self):
        self.apply(CREATE, FILE, path="new")
        self.sync(self.directory)
        self.apply(WRITE, FILE, 0, data=b"a")
        self.apply(SYNC_BEGIN, FILE, 7)
        self.apply(WRITE, FILE, 1, data=b"b")
        self.assertEqual(self.cut("lost")["new"], b"")
        self.apply(SYNC_END, FILE, 7)
        self.assertEqual(self.cut("lost")["new"], b"a")
        self.assertEqual(self.cut("kept")["new"], b"ab")
        self.assertEqual(self.cut("extended")["new"], b"a\0")

    def test_unsynced_data_ends_in_every_way_behind_what_is_synced(self):
        self.apply(CREATE, FILE, path="new")
        self.apply(WRITE, FILE, 0, data=b"s" * 5000)
        self.sync(FILE)
        self.sync(self.directory)
        self.apply(WRITE, FILE, 5000, data=b"u" * 20_000)
        seen = {}
        for variant in VARIANTS:
            for _ in range(10):
                content = self.cut(variant)["new"]
                self.assertEqual(content[:5000], b"s" * 5000)
                self.assertLessEqual(len(content), 25_000)
                seen.setdefault(variant, set()).add(content[5000:])
        self.assertEqual(seen["lost"], {b""})
        self.assertEqual(seen["kept"], {b"u" * 20_000})
        self.assertEqual(seen["extended"], {bytes(20_000)})
        self.assertTrue(any(b"\0u" in content for content in seen["pages"]))
        self.assertTrue(all(set(content) <= {ord("u")} for content in seen["torn"]))
        self.assertGreater(len(seen["torn"]), 5)
        self.assertTrue(all(len(content) == 20_000 for content in seen["zeroed"] | seen["garbage"]))

    def test_renames_and_entries_may_be_lost_until_the_directory_is_synced(self):
        self.apply(CREATE, FILE, path="new")
        self.apply(WRITE, FILE, 0, data=b"n")
        self.sync(FILE)
        self.apply(RENAME, path="new", data=str(self.root / "old").encode())
        self.assertEqual(self.cut("renames"), {"old": b"old", "new": b"n"})
        self.assertEqual(self.cut("lost"), {"old": b"old"})
        self.assertEqual(self.cut("kept"), {"old": b"n"})
        self.sync(self.directory)
        self.assertEqual(self.cut("renames"), {"old": b"n"})
        self.apply(UNLINK, path="old")
        self.assertEqual(self.cut("lost"), {"old": b"n"})
        self.assertEqual(self.cut("kept"), {})
        outcomes = {tuple(self.cut("entries")) for _ in range(20)}
        self.assertEqual(outcomes, {(), ("old",)})

    def test_links_share_one_file(self):
        self.apply(LINK, path="old", data=str(self.root / "copy").encode())
        old = self.root.joinpath("old").stat().st_ino
        self.apply(WRITE, old, 3, data=b"er")
        self.sync(old)
        self.sync(self.directory)
        self.apply(TRUNCATE, old, 1)
        self.assertEqual(self.cut("lost"), {"old": b"older", "copy": b"older"})
        self.assertEqual(self.cut("kept"), {"old": b"o", "copy": b"o"})


if __name__ == "__main__":
    unittest.main()
