"""Pipelines whose answers are cancelled, late or never come."""

import asyncio
import concurrent.futures
import threading
import unittest

import armature
import armature.aio
import grpc
from armature.api.v1 import items_pb2

PATIENCE = 30


class Daemon:
    """Answers the operations of a pipeline after its gate is open. It does not answer those of the table `silent`."""

    def __init__(self):
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)  # released for each operation that has come
        # A window of fixed size, so that a handler that does not read stops the client.
        options = [("grpc.max_receive_message_length", -1), ("grpc.http2.bdp_probe", 0)]
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), options=options)
        handler = grpc.stream_stream_rpc_method_handler(
            self._pipeline, items_pb2.PipelineRequest.FromString, items_pb2.PipelineResponse.SerializeToString
        )
        self._server.add_generic_rpc_handlers((Handlers(handler),))
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _pipeline(self, requests, context):
        context.add_callback(self.gate.set)
        for request in requests:
            self.begun.release()
            if request.put_item.table_name == "silent":
                continue
            self.gate.wait(PATIENCE)
            response = items_pb2.PipelineResponse(id=request.id)
            response.put_item.change_sequence = request.id
            yield response

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.gate.set()
        self._server.stop(0).wait(PATIENCE)


class Handlers(grpc.GenericRpcHandler):
    def __init__(self, handler):
        self._handler = handler

    def service(self, details):
        return self._handler if details.method.endswith("/Pipeline") else None


class ThreadsTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = armature.connect(self.daemon.target)
        self.addCleanup(self.client.close)

    def test_a_cancelled_answer_leaves_the_others(self):
        pipeline = self.client.pipeline()
        first = pipeline.put("users", {"id": "1"})
        self.assertTrue(first.cancel())
        second = pipeline.put("users", {"id": "2"})
        self.daemon.gate.set()
        self.assertEqual(second.result(PATIENCE).change_sequence, 2)
        pipeline.close()

    def test_a_failing_reader_of_a_response_leaves_the_others(self):
        self.daemon.gate.set()
        pipeline = self.client.pipeline()
        first = pipeline.ask(items_pb2.PutItemRequest(table_name="users"), lambda _: 1 // 0)
        self.assertIsInstance(first.exception(PATIENCE), ZeroDivisionError)
        self.assertEqual(pipeline.put("users", {"id": "2"}).result(PATIENCE).change_sequence, 2)
        pipeline.close()

    def test_a_callback_may_ask(self):
        pipeline = self.client.pipeline(in_flight=1)
        chained, asked = [], threading.Event()

        def ask_two(_):
            for number in ("2", "3"):
                chained.append(pipeline.put("users", {"id": number}))
            asked.set()

        pipeline.put("users", {"id": "1"}).add_done_callback(ask_two)
        self.daemon.gate.set()
        self.assertTrue(asked.wait(PATIENCE))
        self.assertEqual([one.result(PATIENCE).change_sequence for one in chained], [2, 3])
        pipeline.close()

    def test_an_operation_without_an_answer_fails_in_time(self):
        self.daemon.gate.set()
        pipeline = self.client.pipeline(in_flight=1, timeout=0.2)
        with self.assertRaises(armature.OutcomeUnknown) as caught:
            pipeline.put("silent", {"id": "1"}).result(PATIENCE)
        self.assertIsInstance(caught.exception.__cause__, armature.DeadlineExceeded)
        self.assertEqual(pipeline.put("users", {"id": "2"}).result(PATIENCE).change_sequence, 2)
        pipeline.close()

    def test_the_end_of_a_silent_stream_does_not_wait_for_ever(self):
        pipeline = self.client.pipeline(timeout=0.2)
        answer = pipeline.put("users", {"id": "1"})  # The gate stays closed, and with it the end of the stream.
        closing = threading.Thread(target=pipeline.close, daemon=True)
        closing.start()
        closing.join(PATIENCE)
        self.assertFalse(closing.is_alive())
        self.assertIsInstance(answer.exception(0), armature.OutcomeUnknown)

    def test_a_stream_that_takes_nothing_is_broken(self):
        pipeline = self.client.pipeline(in_flight=8, timeout=0.5)
        large = b"x" * (4 << 20)
        answers = [pipeline.put("users", {"id": str(n), "data": large}) for n in range(8)]
        errors = [answer.exception(PATIENCE) for answer in answers]
        self.assertTrue(all(isinstance(error, armature.ArmatureError) for error in errors))
        self.assertTrue(errors[-1].certainly_not_applied)
        pipeline.close()


class TasksTest(unittest.TestCase):
    def run_with(self, body):
        async def run(daemon):
            async with armature.aio.connect(daemon.target) as client:
                task = asyncio.ensure_future(body(daemon, client))
                done, _ = await asyncio.wait({task}, timeout=PATIENCE)
                self.assertTrue(done)
                task.result()

        with Daemon() as daemon:
            asyncio.run(run(daemon))

    def test_a_cancelled_ask_leaves_the_stream(self):
        async def body(daemon, client):
            pipeline = client.pipeline()
            first = await pipeline.put("users", {"id": "1"})
            large = asyncio.ensure_future(pipeline.put("users", {"id": "2", "data": b"x" * (16 << 20)}))
            await asyncio.get_running_loop().run_in_executor(None, daemon.begun.acquire)
            large.cancel()
            await asyncio.wait({large})
            daemon.gate.set()
            self.assertEqual((await first).change_sequence, 1)
            await pipeline.close()

        self.run_with(body)

    def test_a_failing_reader_of_a_response_leaves_the_others(self):
        async def body(daemon, client):
            daemon.gate.set()
            pipeline = client.pipeline()
            first = await pipeline.ask(items_pb2.PutItemRequest(table_name="users"), lambda _: 1 // 0)
            with self.assertRaises(ZeroDivisionError):
                await first
            self.assertEqual((await (await pipeline.put("users", {"id": "2"}))).change_sequence, 2)
            await pipeline.close()

        self.run_with(body)

    def test_an_operation_without_an_answer_fails_in_time(self):
        async def body(daemon, client):
            daemon.gate.set()
            pipeline = client.pipeline(in_flight=1, timeout=0.2)
            with self.assertRaises(armature.OutcomeUnknown) as caught:
                await (await pipeline.put("silent", {"id": "1"}))
            self.assertIsInstance(caught.exception.__cause__, armature.DeadlineExceeded)
            self.assertEqual((await (await pipeline.put("users", {"id": "2"}))).change_sequence, 2)
            await pipeline.close()

        self.run_with(body)

    def test_the_end_of_a_silent_stream_does_not_wait_for_ever(self):
        async def body(daemon, client):
            pipeline = client.pipeline(timeout=0.2)
            answer = await pipeline.put("users", {"id": "1"})
            await pipeline.close()
            self.assertIsInstance(answer.exception(), armature.OutcomeUnknown)

        self.run_with(body)

    def test_a_stream_that_takes_nothing_is_broken(self):
        async def body(daemon, client):
            pipeline = client.pipeline(in_flight=8, timeout=0.5)
            large = b"x" * (4 << 20)
            answers = [await pipeline.put("users", {"id": str(n), "data": large}) for n in range(8)]
            errors = await asyncio.gather(*answers, return_exceptions=True)
            self.assertTrue(all(isinstance(error, armature.ArmatureError) for error in errors))
            self.assertTrue(errors[-1].certainly_not_applied)
            await pipeline.close()

        self.run_with(body)


if __name__ == "__main__":
    unittest.main()
