#!/usr/bin/python3
"""Attacks the real daemon and checks its promises: chaos.py KIND --armatured PATH --armature PATH [options]

Prints one report line per run. Exit code 1: a promise was broken; the message names the directory that is kept.
"""

import argparse
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from arena import Arena, Failed, Report, commit_of_tree  # noqa: E402
from calls import CallRun  # noqa: E402
from clocks import ClockRun  # noqa: E402
from cuts import CutRun  # noqa: E402
from hostile import HostileRun  # noqa: E402
from kills import KillRun  # noqa: E402
from limits import LimitRun  # noqa: E402

KINDS = {"kills": KillRun, "cuts": CutRun, "calls": CallRun, "clocks": ClockRun, "limits": LimitRun, "hostile": HostileRun}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--armatured", required=True, help="the daemon")
    parser.add_argument("--armature", required=True, help="the command line tool")
    parser.add_argument("--shim", help="libarmature_chaos_shim.so, for cuts, calls and clocks")
    parser.add_argument("--seed", type=int, help="repeats the random choices of a run, though not its timing")
    parser.add_argument("--seconds", type=float, default=60, help="a run ends after the cycle that reaches this")
    parser.add_argument("--faults", type=int, help="a run ends after so many faults")
    parser.add_argument("--dir", help="where databases are made; a memory file system by default")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().getrandbits(32)
    report = Report(arguments.kind, seed, commit_of_tree())
    print(f"chaos {arguments.kind}: begins with seed {seed}", flush=True)
    arena = Arena(arguments, report, arguments.dir)

    def is_over():
        enough = arguments.faults is not None and report.counts["faults"] >= arguments.faults
        return enough or time.monotonic() - report.begun >= arguments.seconds

    try:
        KINDS[arguments.kind](arena).run(is_over)
        arena.close()
        return 0
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    finally:
        arena.kill_servers()
        print(report.line(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
