#!/usr/bin/python3
"""Random requests to the daemon and to other implementations of the API, whose answers are compared.

Each sequence of requests is made from a seed and its number alone. Differences that known_differences.txt does not explain are
printed with the smallest request that was found to show them; the status is then 1. It is 77 if no peer is available.

    differential.py --armatured PATH --root DIRECTORY [--peer dynoxide|moto] [--seed N] [--sequences N] [--only N] [--verbose]
"""

import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from armature_daemon import Daemon  # noqa: E402
from known import parse  # noqa: E402
from peers import PEERS, NotAvailable, Peer, Side  # noqa: E402
from session import Session  # noqa: E402

KNOWN = pathlib.Path(__file__).with_name("known_differences.txt")
SKIPPED = 77


def compare(options, name, entries):
    """Runs all sequences against one peer. Returns the session with its counts."""
    peer = Peer(name, options.root)
    with Daemon(options.armatured, "--index_reads=settled", "--index_read_wait=5s") as daemon, peer as side:
        session = Session(Side("armature", daemon.http), side, entries, options)
        session.set_up()
        numbers = [options.only] if options.only is not None else range(options.sequences)
        for number in numbers:
            session.sequence(number, random.Random(f"{options.seed}/{number}"))
        return session


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--armatured", required=True)
    parser.add_argument("--root", required=True, help="directory for the programs of the peers; they are installed if it lacks them")
    parser.add_argument("--peer", action="append", choices=sorted(PEERS), help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, help="default: a new one")
    parser.add_argument("--sequences", type=int, default=100, help="number of sequences of 50 requests each")
    parser.add_argument("--only", type=int, help="only the sequence with this number")
    parser.add_argument("--verbose", action="store_true", help="print each request")
    parser.add_argument("--orders", action="store_true", help="print requests with several faults, of which the two report different ones")
    parser.add_argument("--unused", action="store_true", help="print entries of the list that explained nothing")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    entries = parse(KNOWN.read_text())
    print(f"seed {options.seed}, {options.sequences} sequences")
    sessions = []
    for name in options.peer or sorted(PEERS):
        start = time.monotonic()
        try:
            session = compare(options, name, entries)
        except NotAvailable as reason:
            print(f"{name}: skipped: {reason}")
            continue
        sessions.append(session)
        session.report()
        print(f"{name}: {session.requests} requests ({session.refused} refused by the daemon), "
              f"{session.known} known differences, {session.reordered} by the order of checks, "
              f"{sum(new.count for new in session.new.values())} new ones of {len(session.new)} kinds, "
              f"{time.monotonic() - start:.0f} s")
    if options.unused:
        for entry in entries:
            if not entry.hits:
                print(f"{KNOWN.name}:{entry.line}: explained nothing")
    if not sessions:
        return SKIPPED
    return 1 if any(session.new for session in sessions) else 0


if __name__ == "__main__":
    sys.exit(main())
