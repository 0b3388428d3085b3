#!/usr/bin/python3
"""Runs the measurements of docs/reference/performance.md and writes their files of results; performance_plots.py draws them.

    tests/bench/performance_runs.py --armatured build/release/daemon/armatured --bench build/release/tools/bench/armature-bench \\
        --out DIRECTORY

Files: table-WORKLOAD.json and http-WORKLOAD.json (closed loop, 64 clients; over gRPC in turns with echo), clients-WORKLOAD-N.json
(closed loop, N clients), rate-WORKLOAD-PERCENT.json (open loop, share of the peak), rows-N.json (get in a table of N rows).
"""

import argparse
import os
import subprocess

# The daemon takes 100 at once; more would wait in the generator.
CALLS_PER_CONNECTION = 64
TABLE = ("put,get,query,scan,overwrite,hot,update,gsi-move,condition-failure,batch,transact,pipeline,"
         "ycsb-a,ycsb-b,ycsb-c,ycsb-d,ycsb-e,ycsb-f")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--bench", required=True, help="armature-bench")
    parser.add_argument("--out", required=True, help="directory")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--table", default=TABLE, help="workloads of the table over gRPC")
    parser.add_argument("--http", default="put,get,query", help="workloads of the table over HTTP")
    parser.add_argument("--workloads", default="put,get", help="workloads by clients and by rates")
    parser.add_argument("--clients", default="1,4,16,64,256")
    parser.add_argument("--shares", default="10,25,50,60,75,90")
    parser.add_argument("--rows", default="1000,10000,100000,1000000")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)

    def run(name, *flags):
        path = os.path.join(arguments.out, f"{name}.json")
        print(f"==== {name}", flush=True)
        subprocess.run([arguments.bench, f"--spawn={arguments.armatured}", f"--seconds={arguments.seconds}",
                        f"--rounds={arguments.rounds}", f"--out={path}", *flags], check=True)

    def values(text):
        return [value for value in text.split(",") if value]

    for workload in values(arguments.table):
        run(f"table-{workload}", f"--workload={workload}")
    for workload in values(arguments.http):
        run(f"http-{workload}", f"--workload={workload}", "--protocol=http")
    for workload in values(arguments.workloads):
        for clients in values(arguments.clients):
            run(f"clients-{workload}-{clients}", f"--workload={workload}", f"--outstanding={clients}",
                f"--connections={max(2, int(clients) // CALLS_PER_CONNECTION)}", "--without_echo")
        for share in values(arguments.shares):
            run(f"rate-{workload}-{share}", f"--workload={workload}", f"--rate_of_peak={int(share) / 100}", "--outstanding=256",
                "--connections=4", "--without_echo")
    for rows in values(arguments.rows):
        run(f"rows-{rows}", "--workload=get", f"--items={rows}", "--without_echo")


if __name__ == "__main__":
    main()
