"""The package as a whole: its version, the synchronous client, the starter of daemons, telemetry, several threads."""

import asyncio
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import armature
import armature._sync
import armature.aio
import armature.testing
from armature import Index, attr

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "build_support"))
from synchronous import synchronous_text  # noqa: E402

try:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
except ImportError:
    TracerProvider = None


class VersionTest(unittest.TestCase):
    def test_the_version_is_that_of_the_daemon(self):
        cmake = (HERE.parents[2] / "CMakeLists.txt").read_text()
        self.assertEqual(re.search(r"project\(armature VERSION ([0-9.]+)", cmake).group(1), armature.__version__)


class SynchronousTest(unittest.TestCase):
    def test_words_of_coroutines_are_removed(self):
        text = (
            'class A:\n    """async with a: await b"""\n    async def f(self) -> AsyncIterator[int]:\n'
            "        x = [await y async for y in z]\n"
        )
        self.assertEqual(
            synchronous_text(text).split("\n", 1)[1],
            'class A:\n    """with a: b"""\n    def f(self) -> Iterator[int]:\n        x = [y for y in z]\n',
        )

    def test_the_installed_client_has_none(self):
        directory = pathlib.Path(armature._sync.__file__).parent
        for name in ("batch", "client", "pages", "pipeline", "sharded", "table", "transaction", "watch"):
            self.assertNotRegex((directory / f"{name}.py").read_text(), r"\b(async|await|asyncio)\b(?! client)")

    def test_both_clients_have_the_same_methods(self):
        for name in armature.aio.__all__:
            ours, theirs = getattr(armature, name), getattr(armature.aio, name)
            names = [{one for one in dir(kind) if not one.startswith("_")} for kind in (ours, theirs)]
            self.assertEqual(*names)


class LibraryTest(unittest.TestCase):
    def test_a_failed_handshake_prints_nothing(self):
        program = (
            "import armature, sys\n"
            "try: armature.connect(sys.argv[1], tls=True, timeout=5).list_tables()\n"
            "except armature.Unavailable as error: print(error)\n"
        )
        with armature.testing.Daemon() as daemon:
            ended = subprocess.run([sys.executable, "-c", program, daemon.target], capture_output=True, text=True)
            self.assertEqual(ended.stdout, f"{daemon.target} does not speak TLS\n")
        self.assertEqual(ended.stderr, "")


class IndexTest(unittest.TestCase):
    def test_indexes_are_added_and_dropped(self):
        late = Index("by_city", partition={"city": str}, sort={"age": int}, projection=["name"])
        with armature.testing.Daemon() as daemon, armature.connect(daemon.target) as client:
            client.create_table("users", partition={"id": str})
            client.table("users").put({"id": "ann", "city": "Bonn", "age": 30, "name": "Ann", "more": 1})
            client.add_index("users", late)
            found = client.table("users").query(attr("city") == "Bonn", index="by_city").all()
            self.assertEqual(found, [{"id": "ann", "city": "Bonn", "age": 30, "name": "Ann"}])
            client.drop_index("users", "by_city")
            self.assertEqual(client.describe_table("users").indexes, {})
            with self.assertRaises(armature.InvalidArgument):
                client.add_index("users", Index("local", sort={"age": int}))


class DaemonTest(unittest.TestCase):
    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "nonsense"):
            armature.testing.start(flags=["--nonsense"])

    def test_nothing_is_left_behind(self):
        with armature.testing.start() as daemon:
            directory = pathlib.Path(daemon._directory)
            process = daemon.process_id
            self.assertTrue(directory.exists())
        self.assertFalse(directory.exists())
        with self.assertRaises(ProcessLookupError):
            os.kill(process, 0)

    def test_threads_share_a_client(self):
        with armature.testing.start() as daemon, daemon.connect() as client:
            client.create_table("users", partition={"id": str})
            users = client.table("users")

            def add():
                for _ in range(50):
                    users.update({"id": "all"}, attr("n").add(1))

            threads = [threading.Thread(target=add) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(users.get({"id": "all"}), {"id": "all", "n": 200})

    def test_any_operation_is_called_by_its_message(self):
        from armature.api.v1 import tables_pb2

        with armature.testing.start() as daemon, daemon.connect() as client:
            self.assertGreater(client.call(tables_pb2.DescribeLimitsRequest()).account_max_read_capacity_units, 0)
            with self.assertRaises(TypeError):
                client.call(tables_pb2.DescribeLimitsResponse())

    def test_a_closed_client_says_so(self):
        with armature.testing.start() as daemon:
            client = daemon.connect()
            client.list_tables()
            client.close()
            with self.assertRaisesRegex(ValueError, "closed"):
                client.list_tables()

    def test_abandoned_iterations_leave_no_threads(self):
        with armature.testing.start() as daemon, daemon.connect() as client:
            client.create_table("users", partition={"id": str})
            users = client.table("users")
            users.put_all({"id": str(i)} for i in range(200))
            before = threading.active_count()
            scan = iter(users.parallel_scan(4, page_size=1))
            next(scan)
            scan.close()
            self.assertEqual(threading.active_count(), before)

    def test_a_cancelled_wait_leaves_the_watch_as_it_is(self):
        async def run(target):
            async with armature.aio.connect(target) as client:
                await client.create_table("changes", partition={"id": str}, stream="NEW_IMAGE")
                async with client.table("changes").watch() as watch:
                    for _ in range(2):
                        with self.assertRaises(asyncio.TimeoutError):
                            await asyncio.wait_for(watch.next(), 0.05)
                    await client.table("changes").put({"id": "ann"})
                    change = await watch.next()
                    waiting = asyncio.ensure_future(watch.next())
                    await asyncio.sleep(0)
                    await watch.close()
                    with self.assertRaises(armature.ArmatureError):
                        await waiting
                    return change.new

        with armature.testing.start() as daemon:
            self.assertEqual(asyncio.run(run(daemon.target)), {"id": "ann"})


@unittest.skipIf(TracerProvider is None, "the SDK of OpenTelemetry is not installed")
class TelemetryTest(unittest.TestCase):
    def test_calls_make_spans_and_durations(self):
        spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(spans))
        observer = armature.telemetry.OpenTelemetry(tracers, MeterProvider([reader]))
        with armature.testing.start() as daemon, daemon.connect(observer=observer) as client:
            client.create_table("users", partition={"id": str})
            client.table("users").put({"id": "ann"})
            with self.assertRaises(armature.NotFound):
                client.table("missing").get({"id": "ann"})
        by_name = {span.name: span for span in spans.get_finished_spans()}
        self.assertEqual(
            dict(by_name["PutItem users"].attributes),
            {"db.system.name": "armature", "db.operation.name": "PutItem", "db.collection.name": "users"},
        )
        self.assertEqual(by_name["GetItem missing"].attributes["error.type"], "ResourceNotFoundException")
        metrics = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
        self.assertEqual([metric.name for metric in metrics], ["db.client.operation.duration"])
        self.assertIn("PutItem", {point.attributes["db.operation.name"] for point in metrics[0].data.data_points})


if __name__ == "__main__":
    unittest.main()
