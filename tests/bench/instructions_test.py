#!/usr/bin/python3
"""The guard of instruction counts fails when it must. It runs on doctored records, without valgrind."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import instructions  # noqa: E402


class Guard(unittest.TestCase):
    def test_growth_beyond_five_percent_fails_and_names_the_operation(self):
        lines, failed = instructions.compare({"get": 1000, "put": 1000}, {"get": 1051, "put": 1049})
        self.assertEqual(failed, ["get"])
        self.assertIn("slower by more than 5 %", lines[0])
        self.assertNotIn("slower", lines[1])

    def test_progress_asks_for_a_new_record_and_does_not_fail(self):
        lines, failed = instructions.compare({"get": 1000}, {"get": 940})
        self.assertEqual(failed, [])
        self.assertIn("record it", lines[0])

    def test_operations_must_be_those_of_the_record(self):
        self.assertEqual(instructions.compare({"get": 1000}, {})[1], ["get"])
        self.assertEqual(instructions.compare({}, {"get": 1000})[1], ["get"])

    def test_an_operation_fails_only_if_it_is_slow_in_every_run(self):
        def compare(*runs):
            left = iter(runs)
            failed = instructions.compare_runs({"get": 1000, "put": 1000}, lambda: next(left))[1]
            return failed, len(list(left))

        good, slow_get, slow_put = {"get": 1000, "put": 1000}, {"get": 1060, "put": 1000}, {"get": 1000, "put": 1060}
        self.assertEqual(compare(good, good, good), ([], 2))
        self.assertEqual(compare(slow_get, slow_put, good), ([], 1))
        self.assertEqual(compare(slow_get, slow_get, good), ([], 0))
        self.assertEqual(compare(slow_get, slow_get, slow_get), (["get"], 0))
        self.assertEqual(compare({"get": 1000}, {"get": 1000}, {"get": 1000}), (["put"], 0))

    def test_the_record_is_the_median_of_its_runs(self):
        self.assertEqual(instructions.median_of([{"get": 3}, {"get": 9}, {"get": 4}]), {"get": 4})

    def test_the_record_of_the_tree_would_catch_a_slower_operation(self):
        record = instructions.read_record(instructions.RECORD.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(record), 15)
        self.assertLessEqual({"query_100", "scan_100", "json_query_100", "json_scan_100"}, record.keys())
        for name in record:
            measured = {**record, name: record[name] * 106 // 100}
            self.assertEqual(instructions.compare(record, measured)[1], [name])
        self.assertEqual(instructions.compare(record, record)[1], [])


if __name__ == "__main__":
    unittest.main()
