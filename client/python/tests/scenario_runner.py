"""Runs one scenario by the asyncio client. run_scenarios.py makes the synchronous form of it."""

import time

import armature
import armature.aio
import scenario_world
from armature.aio import connect
from scenario_operations import Operations, create_table, delete_all_tables
from scenario_values import from_yaml, same, to_yaml

UNTIL_SECONDS = 20

STEP_KEYS = {"with", "timeout", "expect", "unordered", "error", "repeat", "until"}


class Unexpected(Exception):
    """A result that is not the expected one."""


class Runner:
    """Runs scenarios against the daemons of a world."""

    def __init__(self, world, tables):
        self.world = world
        self.tables = tables

    async def run(self, scenario):
        with self.world.place(scenario.get("daemon")) as place:
            clients = {"default": {}, **scenario.get("clients", {})}
            operations = Operations(self.tables)
            opened = {}
            try:
                for name, options in clients.items():
                    opened[name] = self.connect(place, options)
                owner = self.connect(place, place.owner_options)
                opened["(owner)"] = owner
                for table in scenario.get("tables", []):
                    await create_table(owner, table, self.tables[table])
                for number, step in enumerate(scenario["steps"], start=1):
                    try:
                        await self.step(place, opened, operations, step)
                    except Unexpected as unexpected:
                        raise Unexpected(f"step {number}: {unexpected}") from None
                    except Exception as error:
                        raise Unexpected(f"step {number}: {type(error).__name__}: {error}") from error
                await operations.close()
                if place.is_shared:
                    await delete_all_tables(owner)
            finally:
                await operations.close()
                for client in opened.values():
                    await client.close()

    def connect(self, place, options):
        arguments = place.arguments_of(options)
        client = connect(place.targets_of(options), **arguments)
        return client.session() if options.get("session") else client

    async def try_to_connect(self, place, options, step):
        try:
            await self.connect(place, options).close()
        except ValueError as error:
            if "error" not in step:
                raise
            scenario_world.check_error(error, step["error"])

    async def step(self, place, clients, operations, step):
        ((kind, given),) = [(key, value) for key, value in step.items() if key not in STEP_KEYS]
        for _ in range(step.get("repeat", 1)):
            if kind == "daemon":
                place.daemon_step(given)
            elif kind == "proxy":
                place.proxy_step(given)
            elif kind == "connect":
                await self.try_to_connect(place, given, step)
            else:
                await self.call(clients[step.get("with", "default")], operations, kind, given, step)

    async def call(self, client, operations, kind, given, step):
        deadline = time.monotonic() + UNTIL_SECONDS
        while True:
            try:
                result = await getattr(operations, kind)(client, given, step.get("timeout"))
            except (armature.ArmatureError, TypeError, ValueError) as error:
                if "error" not in step:
                    raise
                scenario_world.check_error(error, step["error"])
                return
            if "error" in step:
                if step.get("until") and time.monotonic() < deadline:
                    continue
                raise Unexpected(f"the result {result!r} instead of an error {step['error']}")
            if "expect" not in step:
                return
            expected = to_yaml(from_yaml(step["expect"]))
            result = to_yaml(scenario_world.with_error_types(result))
            if same(result, expected, step.get("unordered", False)):
                return
            if not step.get("until") or time.monotonic() > deadline:
                raise Unexpected(f"{kind} gives {result!r} instead of {expected!r}")
