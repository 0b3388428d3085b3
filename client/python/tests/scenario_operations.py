"""The operations of tests/clients/scenarios, by the asyncio client. run_scenarios.py makes the synchronous form of
it."""

import armature
from armature import Index, Shards, attr, text
from scenario_values import from_yaml, item_of, to_yaml

KEY_TYPES = {"S": str, "N": int, "B": bytes}


def key_types(pairs):
    return {name: KEY_TYPES[kind] for name, kind in pairs} if pairs else None


def index_of(name, definition):
    projection = definition.get("projection", "ALL")
    return Index(
        name,
        partition=key_types(definition.get("partition")),
        sort=key_types(definition.get("sort")),
        projection="KEYS_ONLY" if projection == "keys" else projection,
    )


async def create_table(client, name, definition):
    indexes = [*definition.get("indexes", {}).items(), *definition.get("local_indexes", {}).items()]
    await client.create_table(
        name,
        partition=key_types(definition["partition"]),
        sort=key_types(definition.get("sort")),
        indexes=[index_of(*pair) for pair in indexes],
        stream=definition.get("stream"),
        capacity=tuple(definition["capacity"]) if "capacity" in definition else None,
    )


# -- Expressions.

COMPARISONS = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
METHODS = {
    "begins_with": "begins_with",
    "contains": "contains",
    "between": "between",
    "in": "is_in",
    "type": "has_type",
    "exists": "exists",
    "not_exists": "not_exists",
}
ACTIONS = {"set", "set_if_missing", "increment", "append", "remove", "add", "delete"}


def operand(value):
    return attr(value["$path"]) if isinstance(value, dict) and "$path" in value else from_yaml(value)


def tree(node):
    name, *rest = node
    if name in ("and", "or"):
        result = tree(rest[0])
        for part in rest[1:]:
            result = result & tree(part) if name == "and" else result | tree(part)
        return result
    if name == "not":
        return ~tree(rest[0])
    if name == "text":
        return text(rest[0], **{key: from_yaml(value) for key, value in rest[1].items()})
    if name == "all":
        return [tree(part) for part in rest]
    if name == "fields":
        return rest
    path, operands = attr(rest[0]), [operand(value) for value in rest[1:]]
    if name.startswith("size_"):
        return getattr(path.size(), COMPARISONS[name[5:]])(*operands)
    method = COMPARISONS.get(name) or METHODS.get(name) or (name if name in ACTIONS else None)
    return getattr(path, method)(*operands)


def expression(value):
    return tree(value) if isinstance(value, list) else value


def expressions(given, *roles):
    """The arguments of expressions of an operation."""
    arguments = {role: expression(given[role]) for role in roles if role in given}
    for name in ("params", "values"):
        if name in given:
            arguments[name] = {key: from_yaml(value) for key, value in given[name].items()}
    if "names" in given:
        arguments["names"] = given["names"]
    return arguments


# -- Operations.


def write_arguments(given):
    arguments = expressions(given, "condition")
    if "return" in given:
        arguments["return_values"] = given["return"].upper()
    if given.get("return_on_failure"):
        arguments["return_on_failure"] = True
    return arguments


class Operations:
    """One scenario's operations. timeout: of the current step. watches, watched: watches and their tables, by name."""

    def __init__(self, tables):
        self.tables = tables
        self.watches = {}
        self.watched = {}
        self.next_key = None

    async def close(self):
        for watch in self.watches.values():
            await watch.close()

    async def put(self, client, given, timeout):
        table = client.table(given["table"])
        written = await table.put(from_yaml(given["item"]), **write_arguments(given), timeout=timeout)
        return to_yaml(written.item)

    async def get(self, client, given, timeout):
        arguments = expressions(given, "projection")
        if given.get("consistent"):
            arguments["consistent"] = True
        return to_yaml(await client.table(given["table"]).get(from_yaml(given["key"]), **arguments, timeout=timeout))

    async def update(self, client, given, timeout):
        arguments = write_arguments(given)
        if given.get("idempotent"):
            arguments["idempotent"] = True
        table = client.table(given["table"])
        written = await table.update(from_yaml(given["key"]), expression(given["update"]), **arguments, timeout=timeout)
        return to_yaml(written.item)

    async def delete(self, client, given, timeout):
        table = client.table(given["table"])
        written = await table.delete(from_yaml(given["key"]), **write_arguments(given), timeout=timeout)
        return to_yaml(written.item)

    def _pages(self, client, given, timeout, **more):
        arguments = expressions(given, "filter", "projection") | more
        for name in ("index", "descending", "consistent", "page_size"):
            if name in given:
                arguments[name] = given[name]
        return client.table(given["table"]).query(expression(given["key_condition"]), **arguments, timeout=timeout)

    async def query(self, client, given, timeout):
        items = []
        async for item in self._pages(client, given, timeout):
            items.append(to_yaml(item))
            if len(items) == given.get("take"):
                break
        return items

    async def query_page(self, client, given, timeout):
        more = {"start_after": self.next_key} if given.get("after") else {}
        page = await self._pages(client, given, timeout, **more).first_page()
        self.next_key = page.next_key
        return {"items": to_yaml(page.items), "more": page.next_key is not None}

    async def query_pages(self, client, given, timeout):
        return [len(page.items) async for page in self._pages(client, given, timeout).pages()]

    async def count(self, client, given, timeout):
        return await self._pages(client, given, timeout).count()

    async def scan(self, client, given, timeout):
        arguments = expressions(given, "filter", "projection")
        for name in ("index", "consistent", "page_size"):
            if name in given:
                arguments[name] = given[name]
        table = client.table(given["table"])
        if given.get("segments", 1) > 1:
            return to_yaml(await table.parallel_scan(given["segments"], **arguments, timeout=timeout).all())
        return to_yaml(await table.scan(**arguments, timeout=timeout).all())

    async def scan_count(self, client, given, timeout):
        return await client.table(given["table"]).scan(**expressions(given, "filter"), timeout=timeout).count()

    async def sharded_query(self, client, given, timeout):
        shards = Shards(given["shard_param"], given["shards"], given.get("prefix"))
        arguments = expressions(given, "filter", "projection")
        for name in ("index", "descending", "page_size"):
            if name in given:
                arguments[name] = given[name]
        table = client.table(given["table"])
        if not given.get("resume"):
            query = table.sharded_query(given["key_condition"], shards, **arguments, timeout=timeout)
            return to_yaml(await query.all())
        items = []
        continuation = None
        while True:
            arguments["continuation"] = continuation
            async for page in table.sharded_query(given["key_condition"], shards, **arguments, timeout=timeout).pages():
                items += page.items
                continuation = page.continuation
                break
            if continuation is None:
                return to_yaml(items)

    async def put_many(self, client, given, timeout):
        await client.table(given["table"]).put_all(item_of(given["item"], i) for i in range(given["count"]))

    async def write_many(self, client, given, timeout):
        async with client.batch_writer(timeout=timeout) as writer:
            for write in given:
                if "put" in write:
                    await writer.put(write["put"]["table"], from_yaml(write["put"]["item"]))
                else:
                    await writer.delete(write["delete"]["table"], from_yaml(write["delete"]["key"]))

    async def batch_get(self, client, given, timeout):
        found = {}
        for table, part in given.items():
            arguments = expressions(part, "projection")
            if part.get("consistent"):
                arguments["consistent"] = True
            if "count" in part:
                keys = [item_of(part["key"], i) for i in range(part["count"])]
            else:
                keys = [from_yaml(key) for key in part["keys"]]
            found |= await client.batch_get({table: keys}, **arguments, timeout=timeout)
        return to_yaml(found)

    async def batch_get_count(self, client, given, timeout):
        found = await self.batch_get(client, given, timeout)
        return {table: len(items) for table, items in found.items()}

    async def transact_write(self, client, given, timeout):
        async with client.transaction(token=given.get("token"), timeout=timeout) as transaction:
            for i in range(given.get("count", 0)):
                transaction.put(given["put"]["table"], item_of(given["put"]["item"], i))
            for action in given.get("actions", []):
                ((kind, part),) = action.items()
                arguments = expressions(part, "condition", "update")
                if part.get("return_on_failure"):
                    arguments["return_on_failure"] = True
                item = from_yaml(part["item"] if kind == "put" else part["key"])
                getattr(transaction, kind)(part["table"], item, **arguments)

    async def transact_get(self, client, given, timeout):
        keys = [(part["table"], from_yaml(part["key"])) for part in given["keys"]]
        return to_yaml(await client.transact_get(keys, **expressions(given, "projection"), timeout=timeout))

    async def pipeline(self, client, given, timeout):
        async with client.pipeline() as pipeline:
            futures = []
            for operation in given:
                ((kind, part),) = operation.items()
                futures.append((kind, await self._ask(pipeline, kind, part)))
            return [await self._answer(kind, future) for kind, future in futures]

    async def _ask(self, pipeline, kind, part):
        table = part["table"]
        if kind == "put":
            return await pipeline.put(table, from_yaml(part["item"]), **write_arguments(part))
        if kind == "get":
            return await pipeline.get(table, from_yaml(part["key"]), **expressions(part, "projection"))
        if kind == "update":
            key = from_yaml(part["key"])
            return await pipeline.update(table, key, expression(part["update"]), **write_arguments(part))
        if kind == "delete":
            return await pipeline.delete(table, from_yaml(part["key"]), **write_arguments(part))
        arguments = expressions(part, "filter")
        for name in ("index", "descending", "page_size"):
            if name in part:
                arguments[name] = part[name]
        return await pipeline.query_page(table, expression(part["key_condition"]), **arguments)

    async def _answer(self, kind, future):
        try:
            result = await self._result(future)
        except armature.ArmatureError as error:
            return {"error": error}
        if kind == "get":
            return {"ok": to_yaml(result)}
        if kind == "query_page":
            return {"ok": {"items": to_yaml(result.items), "more": result.next_key is not None}}
        return {"ok": to_yaml(result.item)}

    @staticmethod
    async def _result(future):
        return await future

    async def statement(self, client, given, timeout):
        parameters = [from_yaml(value) for value in given.get("parameters", [])]
        return to_yaml(await client.statement(given["text"], parameters, timeout=timeout))

    async def watch_start(self, client, given, timeout):
        arguments = expressions(given, "filter")
        if given.get("from") == "oldest":
            arguments["oldest"] = True
        if "partition" in given:
            arguments["partition"] = from_yaml(given["partition"])
        if "after" in given:
            arguments["after"] = given["after"]
        watch = client.table(given["table"]).watch(**arguments, heartbeat=1)
        self.watches[given["name"]] = await watch.start()
        self.watched[given["name"]] = given["table"]

    async def watch(self, client, given, timeout):
        name = given.get("name", "")
        if name not in self.watches:
            await self.watch_start(client, {"name": name, **given}, timeout)
        changes = []
        while len(changes) < given["count"]:
            change = await self.watches[name].next()
            images = {"new": to_yaml(change.new), "old": to_yaml(change.old)}
            present = {image: item for image, item in images.items() if item is not None}
            changes.append({"event": change.kind, "key": to_yaml(change.key), **present})
        if not given.get("name"):
            await self.watches.pop(name).close()
        return changes

    async def watch_resume(self, client, given, timeout):
        watch = self.watches[given["name"]]
        position = watch.position
        await watch.close()
        self.watches[given["name"]] = client.table(self.watched[given["name"]]).watch(after=position, heartbeat=1)

    async def create_table(self, client, given, timeout):
        await create_table(client, given["table"], self.tables[given["like"]])

    async def delete_table(self, client, given, timeout):
        await client.delete_table(given["table"])

    async def list_tables(self, client, given, timeout):
        return await client.list_tables()

    async def describe_table(self, client, given, timeout):
        info = await client.describe_table(given["table"])
        return {"status": info.status, "indexes": sorted(info.indexes)}

    async def wait_for_indexes(self, client, given, timeout):
        await client.wait_for_indexes(given["table"])


async def delete_all_tables(client):
    for name in await client.list_tables():
        await client.delete_table(name)
