"""Errors from trailers, decisions about retries, sessions, and continuations."""

import unittest

import grpc
from armature import InvalidArgument, OutcomeUnknown, Retry, Shards, Throttled, Unavailable, errors, _pipelining, _sharding
from armature._hints import Schemas
from armature._methods import is_idempotent, method_of
from armature._retry import NO_RETRIES, Attempts
from armature._session import Session
from armature._settings import make_settings
from armature.api.v1 import errors_pb2, items_pb2, statements_pb2, tables_pb2
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration


class Failure:
    """A failed call, as far as errors read it."""

    def __init__(self, code, message, exception="", retry_ms=0, retry_info=None, trailers=()):
        status = errors_pb2.RpcStatus(code=code.value[0], message=message)
        if exception:
            status.details.add().Pack(
                errors_pb2.ErrorDetail(exception=exception, message=message, retry_after_ms=retry_ms)
            )
        if retry_info is not None:
            packed = Duration(seconds=int(retry_info), nanos=int(retry_info % 1 * 1e9)).SerializeToString()
            status.details.append(
                Any(type_url="type.googleapis.com/google.rpc.RetryInfo", value=b"\x0a" + bytes([len(packed)]) + packed)
            )
        self._code = code
        self._message = message
        self._trailers = [*trailers, ("grpc-status-details-bin", status.SerializeToString())]

    def code(self):
        return self._code

    def details(self):
        return self._message

    def trailing_metadata(self):
        return self._trailers


THROTTLED = (grpc.StatusCode.RESOURCE_EXHAUSTED, "slow down", "ThrottlingException")
LOST = (grpc.StatusCode.UNAVAILABLE, "Socket closed")
REFUSED = (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: ...")


def error_of(*arguments, **more):
    return errors.from_rpc(Failure(*arguments, **more))


class ErrorsTest(unittest.TestCase):
    def test_the_longer_advice_counts(self):
        self.assertEqual(error_of(*THROTTLED, retry_ms=20, retry_info=1.5).retry_after, 1.5)
        self.assertEqual(error_of(*THROTTLED, retry_ms=2000, retry_info=1.5).retry_after, 2.0)
        self.assertEqual(error_of(*THROTTLED).retry_after, 0.0)

    def test_damaged_details_are_ignored(self):
        failure = Failure(*LOST)
        failure._trailers = [("grpc-status-details-bin", b"\xff\xff"), ("x-armature-exception", "ServiceUnavailable")]
        error = errors.from_rpc(failure)
        self.assertIsInstance(error, Unavailable)
        self.assertEqual(error.exception, "ServiceUnavailable")

    def test_classes_follow_the_exception_else_the_code(self):
        self.assertIsInstance(error_of(*THROTTLED), Throttled)
        self.assertIsInstance(error_of(grpc.StatusCode.FAILED_PRECONDITION, "", "NewException"), errors.ResourceInUse)
        expired = error_of(grpc.StatusCode.FAILED_PRECONDITION, "", "ExpiredIteratorException")
        self.assertIs(type(expired), errors.ArmatureError)

    def test_a_message_above_the_limit_is_not_sent(self):
        for text in ("Received message larger than max (3 vs. 2)", "CLIENT: Sent message larger than max (3 vs. 2)"):
            error = error_of(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
            self.assertIsInstance(error, errors.LimitExceeded)
            self.assertTrue(error.certainly_not_applied)
        error = error_of(grpc.StatusCode.RESOURCE_EXHAUSTED, "CLIENT: Received message larger than max (3 vs. 2)")
        self.assertFalse(error.certainly_not_applied)

    def test_certainly_not_applied(self):
        self.assertTrue(error_of(*THROTTLED).certainly_not_applied)
        self.assertTrue(error_of(*REFUSED).certainly_not_applied)
        self.assertFalse(error_of(*LOST).certainly_not_applied)
        self.assertFalse(error_of(grpc.StatusCode.INTERNAL, "", "InternalServerError").certainly_not_applied)

    def test_a_full_collection_refuses_a_write_but_only_a_part_of_a_batch(self):
        failure = Failure(grpc.StatusCode.INVALID_ARGUMENT, "full", "ItemCollectionSizeLimitExceededException")
        for operation, expected in (("PutItem", True), ("TransactWriteItems", True), ("BatchWriteItem", False)):
            with self.subTest(operation):
                error = errors.of_operation(errors.from_rpc(failure), operation)
                self.assertIsInstance(error, errors.LimitExceeded)
                self.assertEqual(error.certainly_not_applied, expected)

    def test_a_pipeline_judges_a_full_collection_alike(self):
        failure = Failure(grpc.StatusCode.INVALID_ARGUMENT, "full", "ItemCollectionSizeLimitExceededException")
        for request, kind in ((put(), errors.LimitExceeded), (items_pb2.BatchWriteItemRequest(), OutcomeUnknown)):
            self.assertIsInstance(_pipelining.error_of(request, errors.from_rpc(failure), Schemas()), kind)

    def test_an_operation_that_is_not_there_changes_nothing(self):
        error = error_of(grpc.StatusCode.UNIMPLEMENTED, "unknown method")
        self.assertIsInstance(error, errors.Unsupported)
        self.assertTrue(error.certainly_not_applied)


def put(**fields):
    return items_pb2.PutItemRequest(table_name="t", **fields)


UPDATE = items_pb2.UpdateItemRequest(table_name="t")


class AttemptsTest(unittest.TestCase):
    def pause(self, request, error, retry=Retry(), idempotent=False, left=10.0):
        return Attempts(method_of(request), request, retry, idempotent).pause_after(error, left)

    def test_clients_with_the_same_advice_do_not_come_back_together(self):
        for _ in range(100):
            pause = self.pause(put(), error_of(*THROTTLED, retry_ms=3000), retry=Retry(initial=0.1))
            self.assertGreaterEqual(pause, 3.05)
            self.assertLessEqual(pause, 3.1)

    def test_what_may_be_repeated(self):
        for request, expected in (
            (put(), True),
            (put(condition_expression="a = b"), False),
            (put(return_values="RETURN_VALUES_ALL_OLD"), False),
            (UPDATE, False),
            (items_pb2.GetItemRequest(), True),
            (items_pb2.BatchWriteItemRequest(), True),
            (items_pb2.TransactWriteItemsRequest(), False),
            (items_pb2.TransactWriteItemsRequest(client_request_token="x"), True),
            (statements_pb2.ExecuteStatementRequest(statement=" select * from t"), True),
            (statements_pb2.ExecuteStatementRequest(statement="DELETE FROM t"), False),
            (tables_pb2.CreateTableRequest(), False),
        ):
            with self.subTest(str(request)):
                self.assertEqual(is_idempotent(method_of(request), request), expected)

    def test_a_lost_answer_of_a_write_that_must_not_be_repeated_is_an_unknown_outcome(self):
        with self.assertRaises(OutcomeUnknown) as caught:
            self.pause(UPDATE, error_of(*LOST))
        self.assertIsInstance(caught.exception.__cause__, Unavailable)

    def test_a_write_that_the_daemon_does_not_know_is_unsupported(self):
        with self.assertRaises(errors.Unsupported):
            self.pause(UPDATE, error_of(grpc.StatusCode.UNIMPLEMENTED, "unknown method"))

    def test_such_a_write_is_repeated_if_it_was_not_applied(self):
        self.assertGreater(self.pause(UPDATE, error_of(*REFUSED)), 0)
        self.assertGreater(self.pause(UPDATE, error_of(*THROTTLED)), 0)
        self.assertGreater(self.pause(UPDATE, error_of(*LOST), idempotent=True), 0)

    def test_an_earlier_lost_answer_keeps_the_outcome_unknown(self):
        attempts = Attempts(method_of(put()), put(), Retry(attempts=2), False)
        attempts.pause_after(error_of(*LOST), 10)
        with self.assertRaises(OutcomeUnknown):
            attempts.pause_after(error_of(*REFUSED), 10)

    def test_no_retry_ends_after_the_deadline_or_the_last_attempt(self):
        with self.assertRaises(Throttled):
            self.pause(put(), error_of(*THROTTLED, retry_info=3), left=2)
        with self.assertRaises(Throttled):
            self.pause(put(), error_of(*THROTTLED), retry=NO_RETRIES)

    def test_advice_of_the_daemon_is_honoured(self):
        self.assertGreaterEqual(self.pause(put(), error_of(*THROTTLED, retry_info=3)), 3)

    def test_pauses_grow_with_jitter_up_to_the_maximum(self):
        retry = Retry(initial=1, maximum=8)
        for attempts, full in ((1, 1), (2, 2), (3, 4), (4, 8), (50, 8)):
            pauses = {retry.pause_after(attempts) for _ in range(20)}
            self.assertTrue(all(full / 2 <= pause <= full for pause in pauses))
            self.assertGreater(len(pauses), 1)


class SessionTest(unittest.TestCase):
    def query(self, table, **fields):
        return items_pb2.QueryRequest(table_name=table, **fields)

    def test_reads_of_an_index_wait_for_writes_of_the_table(self):
        session = Session()
        session.after(put(), items_pb2.PutItemResponse(change_sequence=7))
        session.after(UPDATE, items_pb2.UpdateItemResponse(change_sequence=5))
        self.assertEqual(session.before(self.query("t", index_name="i")).at_least_sequence, 7)
        self.assertEqual(
            session.before(self.query("arn:aws:dynamodb:x:1:table/t", index_name="i")).at_least_sequence, 7
        )
        self.assertEqual(session.before(self.query("t")).at_least_sequence, 0)
        self.assertEqual(session.before(self.query("u", index_name="i")).at_least_sequence, 0)
        self.assertEqual(session.before(self.query("t", index_name="i", at_least_sequence=9)).at_least_sequence, 9)
        self.assertEqual(session.position, 7)

    def test_a_session_may_begin_behind_another(self):
        self.assertEqual(Session(after=4).before(self.query("u", index_name="i")).at_least_sequence, 4)

    def test_requests_are_not_changed(self):
        request = self.query("u", index_name="i")
        Session(after=4).before(request)
        self.assertEqual(request.at_least_sequence, 0)


class ShardsTest(unittest.TestCase):
    def test_a_continuation_belongs_to_its_query(self):
        shards = Shards("day", 2, prefix="mon")
        query = _sharding.identity(items_pb2.QueryRequest(table_name="t", index_name="i"), shards)
        key = items_pb2.GetItemRequest().key
        key.attributes["id"].s = "x"
        positions = [_sharding.Position(True), _sharding.Position(False, key)]
        encoded = _sharding.encode(query, positions)
        self.assertRegex(encoded, "^[A-Za-z0-9_-]+$")
        self.assertEqual(_sharding.decode(encoded, query, 2), positions)
        for text, identity, count in (
            (encoded, b"other", 2),
            (encoded, query, 3),
            ("nonsense", query, 2),
            ("", query, 2),
        ):
            with self.subTest(text), self.assertRaises(InvalidArgument):
                _sharding.decode(text, identity, count)

    def test_numbers_of_shards_have_bounds(self):
        for count in (0, 1001):
            with self.assertRaises(InvalidArgument):
                Shards("day", count).check()


class SettingsTest(unittest.TestCase):
    def test_a_secret_needs_a_private_connection(self):
        key = ("id", "secret")
        with self.assertRaisesRegex(InvalidArgument, "TLS"):
            make_settings("localhost:1", False, key, (), ())
        for target, tls in (("localhost:1", True), ("unix:/tmp/x", False)):
            settings = make_settings(target, tls, key, (), ())
            self.assertEqual(settings.metadata, (("authorization", "Basic aWQ6c2VjcmV0"),))

    def test_an_address_is_needed(self):
        for target in ("", [], ["a:1", ""]):
            with self.assertRaises(InvalidArgument):
                make_settings(target, False, None, (), ())


if __name__ == "__main__":
    unittest.main()
