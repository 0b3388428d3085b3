"""The client for asyncio: the names of `armature`, with coroutines and asynchronous iterators.

    async with armature.aio.connect("localhost:7700") as client:
        users = client.table("users")
        await users.put({"id": "ann"})
        async for user in users.scan():
            ...

A client belongs to the event loop of its first call.
"""

from ._async.batch import BatchWriter
from ._async.client import Client, connect
from ._async.pages import Pages, ParallelScan
from ._async.pipeline import Pipeline
from ._async.sharded import ShardedQuery
from ._async.table import Table
from ._async.transaction import Transaction
from ._async.watch import Watch

__all__ = [
    "BatchWriter",
    "Client",
    "Pages",
    "ParallelScan",
    "Pipeline",
    "ShardedQuery",
    "Table",
    "Transaction",
    "Watch",
    "connect",
]
