#!/usr/bin/python3
"""Server CPU of operations over gRPC, of the daemon and of its floors, in turns on the same machine.

    tests/bench/floor_runs.py --armatured PATH --floor PATH [--floor PATH] --bench PATH [--workloads get,query,scan,put,transact,batch,pipeline]
        [--gsi 2] [--lookups] [--rounds 3] [--seconds 3]

Prints for each workload the medians over the rounds: calls a second, CPU microseconds of a call, times that of echo in the same round. Then
the same of each floor, and the daemon's part of the floor's CPU with its range. --floor: h2_floor; grpc_floor besides compares the daemon's
transport with gRPC's own library. --gsi: `put` writes as many rows more, into indexes of the daemon. --lookups: floors that look up the items
first, and keep the tokens of transactions. Not a test: slowness is no failure.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from armature_daemon import Daemon  # noqa: E402
from floor_process import Floor  # noqa: E402

READS = {"get", "query", "scan"}


def measured(options, directory, target, workload):
    """CPU microseconds of a call, and of one of echo; calls a second."""
    path = directory / "result.json"
    gsi = options.gsi if workload == "put" else 0
    subprocess.run([options.bench, "--target", target, "--workload", workload, "--gsi", str(gsi), "--seconds", str(options.seconds),
                    "--rounds", "1", "--out", str(path)], check=True, stdout=subprocess.DEVNULL)
    result = json.loads(path.read_text())["workloads"][0]
    return (*(result[side]["server_cpu_us"] for side in ("workload", "echo")), result["workload"]["calls_per_second"])


def measure(options, directory, workload):
    flags = ["--reads"] if workload in READS else [f"--rows={1 + options.gsi}"]
    if options.lookups and workload not in READS:
        flags.append("--lookups")
    ours, floors = [], {program: [] for program in options.floor}
    with Daemon(options.armatured, data_dir=directory / "data") as daemon:
        for number in range(options.rounds):
            ours.append(measured(options, directory, daemon.grpc, workload))
            for program, rounds in floors.items():
                name = pathlib.Path(program).name
                # A new one each time: it keeps its rows when the bench deletes its table.
                with Floor(program, directory / f"{name}{number}", *flags) as floor:
                    rounds.append(measured(options, directory, floor.grpc, workload))

    def times_echo(rounds):
        return statistics.median(call / echo for call, echo, _ in rounds)

    def line(rounds):
        return (f"{statistics.median(rate for *_, rate in rounds):.0f}/s, {statistics.median(call for call, *_ in rounds):.1f} us, "
                f"{times_echo(rounds):.2f} times echo")

    text = f"{workload}: {line(ours)}"
    for program, rounds in floors.items():
        parts = [mine[0] / base[0] for mine, base in zip(ours, rounds)]
        name = pathlib.Path(program).name
        text += f"; {name} {line(rounds)}; of {name} {statistics.median(parts):.2f} ({min(parts):.2f} to {max(parts):.2f})"
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--floor", action="append", required=True, help="h2_floor or grpc_floor; may be repeated")
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--workloads", default="get,query,scan,put,transact,batch,pipeline")
    parser.add_argument("--gsi", type=int, default=0)
    parser.add_argument("--lookups", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--directory", default=os.environ.get("TMPDIR", "/tmp"), help="where to put the data")
    options = parser.parse_args()
    for workload in options.workloads.split(","):
        with tempfile.TemporaryDirectory(prefix="armature_bench_", dir=options.directory) as name:
            measure(options, pathlib.Path(name), workload)


if __name__ == "__main__":
    main()
