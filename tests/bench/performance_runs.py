#!/usr/bin/python3
"""Runs the measurements of docs/PERFORMANCE.md and writes their files of results; performance_plots.py draws them.

    tests/bench/performance_runs.py --armatured build/release/daemon/armatured --bench build/release/tools/bench/armature-bench \\
        --out DIRECTORY

Files: clients-WORKLOAD-N.json (closed loop, N clients), rate-WORKLOAD-PERCENT.json (open loop, share of the peak),
rows-N.json (get in a table of N rows).
"""

import argparse
import os
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--out", required=True, help="directory")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workloads", default="put,get")
    parser.add_argument("--clients", default="1,4,16,64,256")
    parser.add_argument("--shares", default="10,25,50,60,75,90")
    parser.add_argument("--rows", default="1000,10000,100000,1000000")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)

    def run(name, *flags):
        path = os.path.join(arguments.out, f"{name}.json")
        print(f"==== {name}", flush=True)
        subprocess.run([arguments.bench, f"--spawn={arguments.armatured}", f"--seconds={arguments.seconds}",
                        f"--rounds={arguments.rounds}", "--without_echo", f"--out={path}", *flags], check=True)

    for workload in arguments.workloads.split(","):
        for clients in arguments.clients.split(","):
            run(f"clients-{workload}-{clients}", f"--workload={workload}", f"--outstanding={clients}")
        for share in arguments.shares.split(","):
            run(f"rate-{workload}-{share}", f"--workload={workload}", f"--rate_of_peak={int(share) / 100}", "--outstanding=256")
    for rows in arguments.rows.split(","):
        run(f"rows-{rows}", "--workload=get", f"--items={rows}")


if __name__ == "__main__":
    main()
