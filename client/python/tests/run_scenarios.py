#!/usr/bin/env python3
"""Runs tests/clients/scenarios by the installed package, through the synchronous and the asyncio client.

    run_scenarios.py [--armatured PATH] [--only sync|aio] [-k TEXT] [--scenarios DIRECTORY]

Prints a line for each failed scenario and a summary. The daemon: --armatured, else the variable ARMATURED.
"""

import argparse
import asyncio
import faulthandler
import pathlib
import sys
import types

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SCENARIO_SECONDS_MAX = 60  # then the threads are shown and the program ends
SCENARIOS = HERE.parents[2] / "tests/clients/scenarios"
sys.path[:0] = [str(HERE), str(HERE.parent / "build_support")]

import scenario_operations  # noqa: E402
import scenario_runner  # noqa: E402
from scenario_world import World, find_armatured  # noqa: E402
from synchronous import synchronous_text  # noqa: E402


def synchronous_module(module):
    """The module of that name without `async` and `await`."""
    text = synchronous_text(pathlib.Path(module.__file__).read_text())
    made = types.ModuleType(module.__name__ + "_sync")
    exec(compile(text, f"{module.__file__} (sync)", "exec"), made.__dict__)
    return made


def synchronous_runner():
    operations = synchronous_module(scenario_operations)
    operations.Operations._result = staticmethod(lambda future: future.result())
    runner = synchronous_module(scenario_runner)
    from armature import connect

    runner.connect = connect
    for name in ("Operations", "create_table", "delete_all_tables"):
        setattr(runner, name, getattr(operations, name))
    return runner.Runner


def read_scenarios(directory):
    scenarios = []
    for path in sorted(directory.glob("*.yaml")):
        if path.name != "tables.yaml":
            scenarios += [(path.stem, scenario) for scenario in yaml.safe_load(path.read_text())]
    names = [scenario["name"] for _, scenario in scenarios]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        sys.exit(f"scenarios of the same name: {repeated}")
    return scenarios


def run_all(kind, scenarios, world, tables):
    runner_class = synchronous_runner() if kind == "sync" else scenario_runner.Runner
    runner = runner_class(world, tables)
    failures = 0
    for file, scenario in scenarios:
        faulthandler.dump_traceback_later(SCENARIO_SECONDS_MAX, exit=True)
        try:
            if kind == "sync":
                runner.run(scenario)
            else:
                asyncio.run(runner.run(scenario))
        except Exception as failure:
            failures += 1
            print(f"FAILED ({kind}) {file}: {scenario['name']}: {failure}", flush=True)
            world.renew()
    faulthandler.cancel_dump_traceback_later()
    print(f"{len(scenarios) - failures} of {len(scenarios)} scenarios passed ({kind})", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--armatured")
    parser.add_argument("--only", choices=["sync", "aio"])
    parser.add_argument("-k", default="", help="scenarios whose file or name contains this")
    parser.add_argument("--scenarios", type=pathlib.Path, default=SCENARIOS)
    arguments = parser.parse_args()
    scenarios = [
        (file, scenario)
        for file, scenario in read_scenarios(arguments.scenarios)
        if arguments.k in file or arguments.k in scenario["name"]
    ]
    tables = yaml.safe_load((arguments.scenarios / "tables.yaml").read_text())
    failures = 0
    for kind in [arguments.only] if arguments.only else ["sync", "aio"]:
        world = World(find_armatured(arguments.armatured), arguments.scenarios)
        try:
            failures += run_all(kind, scenarios, world, tables)
        finally:
            world.close()
    sys.exit(1 if failures or not scenarios else 0)


if __name__ == "__main__":
    main()
