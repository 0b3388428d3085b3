"""Calls of the client as a transport gets them, without a daemon."""

import unittest

import armature
import grpc
from armature import Retry, errors
from armature._sync.client import Client
from armature.admin.v1 import admin_pb2
from armature.api.v1 import items_pb2, statements_pb2, tables_pb2
from retry_test import Failure


class Failed(Failure, grpc.RpcError):
    pass


class Transport:
    """Answers each call by the next of the answers, and at last by the last one."""

    current = 0
    is_closed = False

    def __init__(self, *answers):
        self._answers = list(answers)
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


if __name__ == "__main__":
    unittest.main()
