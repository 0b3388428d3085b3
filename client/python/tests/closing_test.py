"""Clients that are closed while their calls are under way."""

import asyncio
import concurrent.futures
import threading
import unittest

import armature
import armature.aio
import grpc
from armature._async import runtime

PATIENCE = 30


class Silent(grpc.GenericRpcHandler):
    """A server that answers no call until it is closed."""

    def __init__(self):
        self.begun = threading.Semaphore(0)  # released for each call that has come
        self._closed = threading.Event()
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=[self])
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, _):
        return grpc.unary_unary_rpc_method_handler(self._wait)

    def _wait(self, *_):
        self.begun.release()
        self._closed.wait(PATIENCE)
        return b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._closed.set()
        self._server.stop(0).wait(PATIENCE)


async def outcome(task):
    """The error of a task, or its cancellation; None if it does not end."""
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        return None
    return asyncio.CancelledError() if task.cancelled() else task.exception()


class ClosingTest(unittest.TestCase):
    def outcome_of(self, act, calls=1, end=None):
        """The outcome of what `act` does with a client that is closed when so many calls are under way."""

        async def run(target):
            client = armature.aio.connect(target, timeout=PATIENCE)
            task = asyncio.ensure_future(act(client))
            for _ in range(calls):
                await asyncio.get_running_loop().run_in_executor(None, server.begun.acquire)
            if end is not None:
                end(task)
            await client.close()
            return await outcome(task)

        with Silent() as server:
            return asyncio.run(run(server.target))

    def test_a_write_has_an_unknown_outcome(self):
        self.assertIsInstance(self.outcome_of(lambda c: c.table("t").put({"id": "1"})), armature.OutcomeUnknown)

    def test_a_read_is_cancelled(self):
        self.assertIsInstance(self.outcome_of(lambda c: c.table("t").get({"id": "1"})), armature.Cancelled)

    def test_a_parallel_scan_is_cancelled(self):
        error = self.outcome_of(lambda c: c.table("t").parallel_scan(3).all(), calls=3)
        self.assertIsInstance(error, armature.Cancelled)

    @unittest.skipUnless(hasattr(asyncio.Task, "cancelling"), "this Python does not tell who has cancelled")
    def test_a_task_that_its_program_cancels_ends_as_cancelled(self):
        error = self.outcome_of(lambda c: c.table("t").put({"id": "1"}), end=asyncio.Task.cancel)
        self.assertIsInstance(error, asyncio.CancelledError)


class MergeTest(unittest.TestCase):
    def test_a_cancelled_source_is_an_error(self):
        async def source():
            yield 1
            raise asyncio.CancelledError()

        async def others():
            yield 2
            yield 3

        async def consume():
            return [one async for one in runtime.merge([source(), others()])]

        async def run():
            return await outcome(asyncio.ensure_future(consume()))

        self.assertIsInstance(asyncio.run(run()), armature.Cancelled)


if __name__ == "__main__":
    unittest.main()
