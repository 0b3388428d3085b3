"""Calls of the client as a transport gets them, without a daemon."""

import socket
import threading
import unittest

import armature
import grpc
from armature import Retry, Tls, errors
from armature._connecting import explain
from armature._hints import Schemas
from armature._settings import make_settings
from armature._sync.client import Client
from armature.admin.v1 import admin_pb2
from armature.api.v1 import items_pb2, statements_pb2, tables_pb2
from retry_test import Failure


class Failed(Failure, grpc.RpcError):
    pass


def send_alert(server, alert):
    """Answers a TLS handshake by a fatal alert."""
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(bytes([21, 3, 3, 0, 2, 2, alert]))


class Transport:
    """Answers each call by the next of the answers, and at last by the last one."""

    current = 0
    settings = make_settings("daemon:7700", False, None, (), ())
    is_closed = False

    def __init__(self, *answers):
        self._answers = list(answers)
        self.schemas = Schemas()
        self.requests = []
        self.timeouts = []

    def unary(self, method, request, timeout):
        self.requests.append(request)
        self.timeouts.append(timeout)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def leave(self, address):
        pass


def client_of(*answers):
    return Client(Transport(*answers), Retry(initial=0.0001), 10.0, None)


class ArgumentTest(unittest.TestCase):
    """Mistakes that are refused with a text that tells the way out, before anything is sent."""

    def setUp(self):
        self.client = client_of(AssertionError("sent"))
        self.users = self.client.table("users")

    def test_conditions_and_updates_of_other_types(self):
        for condition in ({"a": 1}, True, armature.attr("a"), 3):
            with self.assertRaisesRegex(TypeError, "a condition is a text or is built"):
                self.users.put({"id": "ann"}, condition=condition)
            with self.assertRaisesRegex(TypeError, "a condition is a text or is built"):
                self.users.query(condition)
        for update in ({"a": 1}, 3, ["SET a = b"], armature.attr("a") == 1):
            with self.assertRaisesRegex(TypeError, "an update is a text, or actions"):
                self.users.update({"id": "ann"}, update)

    def test_schemas_of_other_types(self):
        for arguments in ({"partition": "id"}, {"partition": {"id": str}, "sort": ["n"]}):
            with self.assertRaisesRegex(errors.InvalidArgument, "key attributes are a dict"):
                self.client.create_table("users", **arguments)
        with self.assertRaisesRegex(errors.InvalidArgument, "indexes are a list"):
            self.client.create_table("users", partition={"id": str}, indexes=armature.Index("i", partition={"a": str}))

    def test_numbers_of_segments(self):
        for segments in (0, -1, 1_000_001, 1.5, "4", None):
            with self.assertRaisesRegex(errors.InvalidArgument, "the number of segments"):
                self.users.parallel_scan(segments)

    def test_timeouts(self):
        for timeout in (0, -1, float("nan"), "3"):
            with self.assertRaisesRegex(ValueError, "a timeout is a positive number of seconds"):
                self.users.get({"id": "ann"}, timeout=timeout)

    def test_addresses_that_could_never_be_reached(self):
        for target in ("", [], None, 7700, [None], "localhost", "a:", "a:0", "a:65536", "[::1]", "http://a:1", "HTTPS://a"):
            with self.assertRaises(errors.InvalidArgument, msg=repr(target)):
                armature.connect(target)
        for target in ("a:7700", "[::1]:7700", "unix:/x", "dns:///a", "dns:a:1", "ipv4:127.0.0.1:1", ("a:1", "b:2")):
            armature.connect(target).close()

    def test_a_file_that_is_no_certificate(self):
        with self.assertRaisesRegex(errors.InvalidArgument, "is no PEM file"):
            armature.connect("a:1", tls=armature.Tls(ca_file=__file__))


class CallTest(unittest.TestCase):
    def test_a_full_collection_refuses_a_write_but_only_a_part_of_a_batch(self):
        full = Failed(grpc.StatusCode.INVALID_ARGUMENT, "full", "ItemCollectionSizeLimitExceededException")
        with self.assertRaises(errors.LimitExceeded) as caught:
            client_of(full).table("users").put({"id": "ann"})
        self.assertTrue(caught.exception.certainly_not_applied)
        with self.assertRaises(errors.OutcomeUnknown):
            client_of(full).call(items_pb2.BatchWriteItemRequest())

    def test_a_client_that_is_closed_between_attempts_keeps_the_outcome_unknown(self):
        client = client_of(Failed(grpc.StatusCode.UNAVAILABLE, "Socket closed"))
        unary = client.transport.unary

        def close_in_call(*arguments):
            self.assertFalse(client.transport.is_closed)
            client.transport.is_closed = True
            return unary(*arguments)

        client.transport.unary = close_in_call
        with self.assertRaises(errors.OutcomeUnknown):
            client.table("users").put({"id": "ann"})

    def test_a_transaction_as_a_message_gets_a_token(self):
        lost = Failed(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        for kind in (items_pb2.TransactWriteItemsRequest, statements_pb2.ExecuteTransactionRequest):
            client, request = client_of(lost, None), kind()
            client.call(request)
            tokens = {sent.client_request_token for sent in client.transport.requests}
            self.assertEqual(len(client.transport.requests), 2)
            self.assertEqual(len(tokens), 1)
            self.assertNotIn("", tokens)
            self.assertEqual(request, kind())
        client = client_of(None)
        client.call(items_pb2.TransactWriteItemsRequest(client_request_token="mine"))
        self.assertEqual(client.transport.requests[0].client_request_token, "mine")


class WaitTest(unittest.TestCase):
    CREATING = tables_pb2.DescribeTableResponse(table={"table_status": "TABLE_STATUS_CREATING"})
    ACTIVE = tables_pb2.DescribeTableResponse(table={"table_status": "TABLE_STATUS_ACTIVE"})
    GONE = Failed(grpc.StatusCode.NOT_FOUND, "", "ResourceNotFoundException")

    def timeouts_of(self, wait, *answers, timeout):
        client = client_of(*answers)
        wait(client, timeout)
        return client.transport.timeouts

    def test_polls_have_the_time_of_the_wait(self):
        index = admin_pb2.ListIndexStatusResponse()
        index.indexes.add(index_name="i", kind=admin_pb2.INDEX_KIND_GLOBAL, log_sequence=2, applied_sequence=1)
        reached = admin_pb2.ListIndexStatusResponse()
        reached.indexes.add(index_name="i", kind=admin_pb2.INDEX_KIND_GLOBAL, log_sequence=2, applied_sequence=2)
        for wait, answers in (
            (lambda c, t: c.wait_for_table("users", timeout=t), [self.CREATING, self.ACTIVE]),
            (lambda c, t: c.wait_for_indexes("users", timeout=t), [index, reached]),
            (lambda c, t: c.delete_table("users", timeout=t), [None, self.ACTIVE, self.GONE]),
        ):
            for timeout in (3.0, 1000.0):
                timeouts = self.timeouts_of(wait, *answers, timeout=timeout)
                self.assertEqual(len(timeouts), len(answers))
                self.assertLessEqual(max(timeouts), timeout)
                self.assertEqual(timeouts, sorted(timeouts, reverse=True))
                # The default of the client is 10 seconds.
                self.assertEqual(min(timeouts) > 10, timeout > 10)

    def test_a_wait_ends_in_time(self):
        for wait in (armature._sync.client.Client.wait_for_table, armature._sync.client.Client.delete_table):
            with self.assertRaises(errors.DeadlineExceeded):
                wait(client_of(self.CREATING), "users", timeout=0.02)


class HintTest(unittest.TestCase):
    """Hints: what errors say beside the daemon's text. The scenarios have more, with a daemon."""

    def error_of(self, failure, call):
        client = client_of(failure)
        client.retry = Retry(attempts=1)
        with self.assertRaises(errors.ArmatureError) as raised:
            call(client)
        return raised.exception

    def test_the_text_of_the_daemon_stays_as_it_is(self):
        failure = Failed(grpc.StatusCode.NOT_FOUND, "Requested resource not found", "ResourceNotFoundException")
        error = self.error_of(failure, lambda client: client.table("users").get({"id": 1}))
        self.assertEqual((error.message, error.hint), ("Requested resource not found", "table users"))
        self.assertEqual(str(error), "ResourceNotFoundException: Requested resource not found (table users)")

    def test_no_text_of_the_library_is_passed_on(self):
        refused = "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:7700: "
        for text, message in (
            (refused + "Failed to connect to remote host: Connection refused", "refuses the connection"),
            (refused + "connect: Connection refused (111)", "refuses the connection"),
            ("DNS resolution failed for daemon:7700: C-ares status is not ARES_SUCCESS", "cannot be resolved"),
            ("errors resolving daemon:7700: [field:hostname lookup error:Domain name not found]", "cannot be resolved"),
            (refused + "Failed parsing HTTP/2 (Expected SETTINGS frame as the first frame)", "speaks HTTP/1"),
            (refused + "connection attempt timed out before receiving SETTINGS frame", "does not answer"),
        ):
            with self.subTest(text):
                failure = Failed(grpc.StatusCode.UNAVAILABLE, text)
                error = self.error_of(failure, lambda client: client.list_tables())
                self.assertIn("daemon:7700", error.message)
                self.assertIn(message, error.message)
                self.assertNotRegex(error.message, "last error|UNKNOWN|ARES")

    def test_a_name_with_tls_is_no_failure_of_tls(self):
        text = "errors resolving tls.example.org:7700: [field:hostname lookup error:Domain name not found]"
        reason = explain(text, "tls.example.org:7700", Tls())
        self.assertEqual(reason, ("the name in tls.example.org:7700 cannot be resolved", False))

    def test_an_alert_that_names_another_protocol_stays(self):
        expected = {40: True, 70: True, 120: True, 80: False}  # handshake failure, version, ALPN; an internal error
        for alert, is_lasting in expected.items():
            with self.subTest(alert), socket.create_server(("127.0.0.1", 0)) as server:
                address = f"127.0.0.1:{server.getsockname()[1]}"
                thread = threading.Thread(target=send_alert, args=(server, alert))
                thread.start()
                reason = explain("Ssl handshake failed: SSL_ERROR_SSL", address, Tls())
                thread.join()
                text = f"{address} does not speak TLS" if is_lasting else f"the TLS handshake with {address} failed"
                self.assertEqual(reason, (text, is_lasting))

    def test_an_error_that_stays_is_not_repeated(self):
        failure = Failed(grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; Trying to connect an http1.x server")
        client = client_of(failure)
        with self.assertRaises(armature.Unavailable):
            client.list_tables()
        self.assertEqual(len(client.transport.requests), 1)


class PrintTest(unittest.TestCase):
    def test_objects_print_their_name_and_address(self):
        client = client_of(AssertionError("sent"))
        users = client.table("users")
        self.assertEqual(repr(client), "Client(daemon:7700)")
        self.assertEqual(repr(users), "Table('users', Client(daemon:7700))")
        self.assertEqual(repr(users.scan(index="by_age")), "Scan('users/by_age', Client(daemon:7700))")
        self.assertEqual(repr(users.watch()), "Watch('users', Client(daemon:7700))")


if __name__ == "__main__":
    unittest.main()
