#!/usr/bin/python3
"""Instructions of a fixed set of operations (instruction_bench), counted by callgrind and compared with the record.

    tests/bench/instructions.py              fails if an operation takes 5 % more than tests/bench/instructions.txt says
    tests/bench/instructions.py --record     writes the record anew; commit it with the change that needs it

The counts depend on compiler, build type and libraries, not on the speed of the machine or on other programs. Two runs differ
by less than 1 %. The record is the median of three runs, and an operation fails only if it takes too many instructions in
each of three runs. The record is for the preset release on Debian 12 and x86-64 with AVX2. This builds the program:

    cmake --preset release -DARMATURE_BUILD_BENCHMARKS=ON && cmake --build --preset release --target instruction_bench
"""

import argparse
import glob
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests/bench/instructions.txt"
BENCH = ROOT / "build/release/tests/bench/instruction_bench"
GROWTH_MAX = 1.05
RUNS = 3
# One heap for all threads, whose small blocks are never joined: how blocks are split and joined depends on the order of
# threads. No colours of addresses by chance.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=60000:glibc.malloc.tcache_max=1032"}
HEAD = """\
# Instructions of each operation of instruction_bench, per call. Written by tests/bench/instructions.py --record.
"""


def read_record(text):
    """Counts by operation."""
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(count) for name, count in lines}


def compare(record, measured):
    """Lines to print, and the names of the operations that fail."""
    lines, failed = [], []
    for name in list(record) + [name for name in measured if name not in record]:
        if name not in measured:
            failed.append(name)
            lines.append(f"{name:20} {record[name]:>10} {'-':>10}           FAILED: not measured; remove it from the record")
            continue
        if name not in record:
            failed.append(name)
            lines.append(f"{name:20} {'-':>10} {measured[name]:>10}           FAILED: not in the record; record it")
            continue
        ratio = measured[name] / record[name]
        verdict = ""
        if ratio > GROWTH_MAX:
            failed.append(name)
            verdict = "  FAILED: slower by more than 5 %"
        elif ratio < 1 / GROWTH_MAX:
            verdict = "  faster by more than 5 %: record it"
        lines.append(f"{name:20} {record[name]:>10} {measured[name]:>10} {100 * (ratio - 1):+8.1f} %{verdict}")
    return lines, failed


def measure(bench):
    """Counts by operation, in the order in which they ran."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--fair-sched=yes",
             f"--callgrind-out-file={directory}/out", str(bench)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False,
            env={**os.environ, **ENVIRONMENT, "TMPDIR": directory})
        if done.returncode != 0:
            raise SystemExit(f"instructions.py: {bench} failed:\n{done.stderr[-4000:]}")
        totals = {}
        for path in glob.glob(f"{directory}/out.*"):
            text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
            if name and total:
                totals[name[1]] = int(total[1])
    calls = (line.split() for line in done.stdout.splitlines())
    counts = {name: totals.get(name, 0) // int(number) for name, number in calls}
    if not counts or 0 in counts.values():
        raise SystemExit("instructions.py: no counts. Was instruction_bench built with valgrind's headers? Install them with "
                         "tools/setup --checks, touch tests/bench/instruction_bench.cc, and build again.")
    return counts


def median_of(runs):
    return {name: statistics.median_low(run[name] for run in runs) for name in runs[0]}


def compare_runs(record, next_run):
    """Compares the fewest instructions of up to RUNS runs; a further run only if an operation fails."""
    measured = next_run()
    lines, failed = compare(record, measured)
    for _ in range(RUNS - 1):
        if not failed:
            break
        again = next_run()
        measured = {name: min(count, again.get(name, count)) for name, count in measured.items()}
        lines, failed = compare(record, measured)
    return lines, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, default=BENCH)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--against", type=pathlib.Path, default=RECORD, help="the record")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("instructions.py: there is no valgrind. Install it with tools/setup --checks.")
    if not arguments.bench.is_file():
        raise SystemExit(f"instructions.py: there is no {arguments.bench}. Build it as --help says.")
    if arguments.record:
        measured = median_of([measure(arguments.bench) for _ in range(RUNS)])
        arguments.against.write_text(HEAD + "".join(f"{name} {count}\n" for name, count in measured.items()))
        return 0
    record = read_record(arguments.against.read_text(encoding="utf-8"))
    lines, failed = compare_runs(record, lambda: measure(arguments.bench))
    print(f"{'operation':20} {'record':>10} {'now':>10}")
    print("\n".join(lines))
    if failed:
        print(f"instructions.py: {len(failed)} operations differ from the record. A change that is worth it records them anew in "
              "its commit: tests/bench/instructions.py --record")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
