"""The batch writer that several tasks or threads share, without a daemon."""

import asyncio
import random
import sys
import threading
import unittest

import armature
from armature import Retry
from armature._async.batch import BatchWriter as AsyncBatchWriter
from armature._sync.batch import BatchWriter
from armature.api.v1 import items_pb2

OWNERS = 4
WRITES = 500
KEYS = {"users": ["id"]}


class Store:
    """The items of a daemon, of whose calls 30 % fail."""

    retry = Retry()

    def __init__(self):
        self.done = set()
        self._random = random.Random(7)
        self._lock = threading.Lock()

    def apply(self, request):
        with self._lock:
            if self._random.random() < 0.3:
                raise armature.InternalError("a fault")
            writes = request.request_items["users"].requests
            self.done.update(write.put_request.item.attributes["id"].s for write in writes)
        return items_pb2.BatchWriteItemResponse()

    def pauses(self):
        with self._lock:
            return self._random.randrange(4)

    def call(self, request, timeout):
        return self.apply(request)


class AsyncStore(Store):
    async def call(self, request, timeout):
        for _ in range(self.pauses()):
            await asyncio.sleep(0)
        return self.apply(request)


def failures(error):
    return {write.item["id"] for write in error.failed}


class SharedWriterTest(unittest.TestCase):
    def check(self, store, failed):
        missing = {f"{owner}.{n}" for owner in range(OWNERS) for n in range(WRITES)} - store.done - failed
        self.assertEqual(len(missing), 0)
        self.assertGreater(len(failed), 0)

    def test_tasks_that_share_a_writer_lose_no_write(self):
        async def run(store):
            writer = AsyncBatchWriter(store, keys=KEYS)

            async def add(owner):
                for n in range(WRITES):
                    await writer.put("users", {"id": f"{owner}.{n}"})

            await asyncio.gather(*[add(owner) for owner in range(OWNERS)])
            with self.assertRaises(armature.BatchFailed) as caught:
                await writer.flush()
            return failures(caught.exception)

        store = AsyncStore()
        self.check(store, asyncio.run(run(store)))

    def test_threads_that_share_a_writer_lose_no_write(self):
        store, errors = Store(), []

        def add(writer, owner):
            try:
                for n in range(WRITES):
                    writer.put("users", {"id": f"{owner}.{n}"})
            except Exception as error:
                errors.append(error)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        self.addCleanup(sys.setswitchinterval, interval)
        with self.assertRaises(armature.BatchFailed) as caught, BatchWriter(store, keys=KEYS) as writer:
            threads = [threading.Thread(target=add, args=(writer, owner)) for owner in range(OWNERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(errors, [])
        self.check(store, failures(caught.exception))

    def test_a_writer_whose_context_has_ended_takes_no_write(self):
        store = Store()
        with self.assertRaises(ZeroDivisionError), BatchWriter(store, keys=KEYS) as writer:
            writer.put("users", {"id": "ann"})
            raise ZeroDivisionError
        with self.assertRaisesRegex(armature.InvalidArgument, "closed"):
            writer.put("users", {"id": "bob"})
        self.assertEqual(store.done, set())

    def test_a_writer_of_a_closed_client_says_so_each_time(self):
        class Closed(Store):
            def call(self, request, timeout):
                raise ValueError("the client is closed")

        writer = BatchWriter(Closed(), keys=KEYS)
        for _ in range(2):
            writer.put("users", {"id": "ann"})
            with self.assertRaisesRegex(ValueError, "closed"):
                writer.flush()


if __name__ == "__main__":
    unittest.main()
