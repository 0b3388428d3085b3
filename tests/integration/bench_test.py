#!/usr/bin/python3
"""armature-bench on a daemon of its own: every workload runs without a failed call and reports what it promises."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

ARGS = None
QUICK = ("--seconds=0.2", "--warmup_seconds=0.05", "--rounds=2", "--items=50", "--outstanding=8", "--page_items=5")


def run(*arguments, code=0):
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([ARGS.armature_bench, f"--spawn={ARGS.armatured}", *QUICK, *arguments], timeout=120,
                              capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": directory})
        assert done.returncode == code, done.stderr
        assert os.listdir(directory) == [], "the daemon's data stay behind"
        return done.stdout


def report(workload, *arguments):
    return json.loads(run(f"--workload={workload}", "--without_echo", "--json", *arguments))["workloads"][0]["workload"]


class Bench(unittest.TestCase):
    def test_each_workload_runs_without_a_failed_call(self):
        for workload in ("put", "get", "query", "scan", "overwrite", "hot", "update", "batch", "transact", "pipeline"):
            with self.subTest(workload):
                result = report(workload)
                self.assertEqual(result["failed"], 0)
                self.assertGreater(result["calls"], 0)

    def test_hot_shows_the_calls_of_the_slowest_and_the_fastest_client(self):
        self.assertIn("clients: the slowest had", run("--workload=hot", "--without_echo"))
        for round_of in report("hot")["rounds"]:
            self.assertLessEqual(round_of["slowest_client"], 1)
            self.assertGreaterEqual(round_of["fastest_client"], 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature-bench", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
