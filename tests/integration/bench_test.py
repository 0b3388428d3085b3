#!/usr/bin/python3
"""armature-bench on a daemon of its own: every workload runs without a failed call and reports what it promises."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402

ARGS = None
QUICK = ("--seconds=0.1", "--warmup_seconds=0.05", "--rounds=1", "--items=53", "--outstanding=8", "--page_items=5")


def run(*arguments, code=0):
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([ARGS.armature_bench, f"--spawn={ARGS.armatured}", *QUICK, *arguments], timeout=120,
                              capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": directory})
        assert done.returncode == code, done.stderr
        assert os.listdir(directory) == [], "the daemon's data stay behind"
        return done.stdout if code == 0 else done.stderr


def run_on(daemon, *arguments):
    """Measures a running daemon; the result of the workload."""
    done = subprocess.run([ARGS.armature_bench, f"--target={daemon.grpc}", f"--http_target={daemon.http}", *QUICK,
                           "--without_echo", "--json", *arguments], timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["workloads"][0]["workload"]


def report(workload, *arguments):
    return json.loads(run(f"--workload={workload}", "--without_echo", "--json", *arguments))["workloads"][0]


def result_file(directory, name, rounds):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"workloads": [{"name": "put", "workload": {"rounds": [
            {"calls_per_second": 1000, "server_cpu_us": cpu} for cpu in rounds]}}]}, out)
    return path


class Bench(unittest.TestCase):
    def test_each_workload_runs_without_a_failed_call(self):
        with Daemon(ARGS.armatured) as daemon:
            for workload in ("put", "get", "query", "scan", "overwrite", "hot", "update", "gsi-move", "condition-failure",
                             "batch", "transact", "pipeline", "ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-e", "ycsb-f"):
                with self.subTest(workload):
                    result = run_on(daemon, f"--workload={workload}")
                    self.assertEqual(result["failed"], 0)
                    self.assertGreater(result["calls"], 0)

    def test_loads_whole_items_in_batches(self):
        with Daemon(ARGS.armatured) as daemon:
            for items in (24, 25, 50, 51):
                with self.subTest(items):
                    result = run_on(daemon, "--workload=get", "--gsi=2", f"--items={items}")
                    self.assertEqual(result["failed"], 0)
                    self.assertGreater(result["calls"], 0)

    def test_workloads_run_over_http(self):
        with Daemon(ARGS.armatured) as daemon:
            for workload in ("put", "query", "gsi-move", "condition-failure", "transact", "ycsb-f"):
                with self.subTest(workload):
                    result = run_on(daemon, f"--workload={workload}", "--protocol=http")
                    self.assertEqual(result["failed"], 0)
                    self.assertGreater(result["calls"], 0)

    def test_hot_shows_the_calls_of_the_slowest_and_the_fastest_client(self):
        self.assertIn("clients: the slowest had", run("--workload=hot", "--without_echo"))
        for round_of in report("hot")["workload"]["rounds"]:
            self.assertLessEqual(round_of["slowest_client"], 1)
            self.assertGreaterEqual(round_of["fastest_client"], 1)

    def test_a_mix_reports_each_operation(self):
        operations = [entry["operation"] for entry in report("ycsb-a")["workload"]["by_operation"]]
        self.assertEqual(operations, ["GetItem", "UpdateItem"])

    def test_an_open_loop_starts_all_calls_of_its_schedule_or_counts_them(self):
        result = report("get", "--rate=200", "--seconds=0.5")
        workload = result["workload"]
        self.assertEqual(result["rate"], 200)
        self.assertAlmostEqual(workload["calls"] + workload["not_started"], 100, delta=1)

    def test_latencies_of_an_open_loop_include_the_wait_for_a_free_call(self):
        # One call at once and far more due: the wait grows to the length of the run.
        workload = report("put", "--rate=1000000", "--seconds=0.5", "--outstanding=1")["workload"]
        self.assertGreater(workload["not_started"], 0)
        self.assertGreater(workload["late_starts"], 0)
        self.assertGreater(workload["max_us"], 50_000)

    def test_an_open_loop_prints_its_histogram(self):
        lines = run("--workload=get", "--rate=200", "--without_echo").splitlines()
        rows = [line.split() for line in lines if line.endswith("%")]
        self.assertEqual(rows[-1][-2:], ["100.0000", "%"])

    def test_a_rate_may_be_a_share_of_the_peak(self):
        result = report("get", "--rate_of_peak=0.5")
        self.assertAlmostEqual(result["rate"], result["peak"] / 2, delta=1)

    def test_files_have_machine_daemon_fsync_and_all_latencies(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "result.json")
            run("--workload=put", "--without_echo", "--daemon_flag=--durability=os", f"--out={path}")
            with open(path, encoding="utf-8") as file:
                result = json.load(file)
        self.assertGreater(result["machine"]["cores"], 0)
        self.assertIn("--durability=os", result["server_command"])
        workload = result["workloads"][0]
        self.assertGreater(workload["fsync_p50_us"], 0)
        self.assertEqual(sum(count for _, count in workload["workload"]["latency_buckets_us"]), workload["workload"]["calls"])

    def test_wrong_combinations_and_names_are_refused(self):
        self.assertIn("no workload hott", run("--workload=hott", code=2))
        self.assertIn("pipeline has neither", run("--workload=pipeline", "--rate=5", code=2))
        self.assertIn("excludes", run("--rate=5", "--rate_of_peak=0.5", code=2))


class Compare(unittest.TestCase):
    def compare(self, before, after, code=0):
        with tempfile.TemporaryDirectory() as directory:
            files = [",".join(result_file(directory, f"{side}{i}", rounds) for i, rounds in enumerate(sides))
                     for side, sides in (("old", before), ("new", after))]
            done = subprocess.run([ARGS.armature_bench, "compare", *files], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            return next((line for line in done.stdout.splitlines() if "server_cpu_us" in line), done.stderr)

    def test_rounds_that_overlap_are_no_difference(self):
        self.assertIn("no difference", self.compare([[10, 11, 12]], [[11.5, 12.5, 13]]))

    def test_rounds_that_do_not_overlap_are_one(self):
        line = self.compare([[10, 11, 12]], [[20, 22, 24]])
        self.assertIn("higher", line)
        self.assertEqual(line.split()[3:6], ["2.000", "[1.667,", "2.400]"])
        self.assertIn("lower", self.compare([[20, 22]], [[10, 11]]))

    def test_rounds_of_several_files_count_together(self):
        self.assertIn("no difference", self.compare([[10], [13]], [[12], [14]]))

    def test_one_round_has_no_bounds(self):
        self.assertIn("no bounds", self.compare([[10]], [[20, 21]]))

    def test_a_file_that_is_no_result_is_an_error(self):
        done = subprocess.run([ARGS.armature_bench, "compare", __file__, __file__], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a file of results", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--armature-bench", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
