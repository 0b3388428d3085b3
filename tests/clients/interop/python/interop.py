"""gRPC's interop cases on grpcio, the library of C and C++.

interop.py ADDRESS DESCRIPTORS CASE...    DESCRIPTORS: a FileDescriptorSet of grpc/testing/test.proto
"""

import queue
import sys
import traceback

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

REQUEST_SIZES = (27182, 8, 1828, 45904)
RESPONSE_SIZES = (31415, 9, 2653, 58979)


class Service:
    """Callables for the methods of a service."""

    def __init__(self, channel, descriptor):
        for method in descriptor.methods:
            start = getattr(channel, "{}_{}".format(*("stream" if streams else "unary" for streams in (
                method.client_streaming, method.server_streaming))))
            setattr(self, method.name, start(
                f"/{descriptor.full_name}/{method.name}",
                request_serializer=message_factory.GetMessageClass(method.input_type).SerializeToString,
                response_deserializer=message_factory.GetMessageClass(method.output_type).FromString))


class Cases:
    def __init__(self, address, descriptors):
        pool = descriptor_pool.DescriptorPool()
        with open(descriptors, "rb") as file:
            for each in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
                pool.Add(each)
        for name in ("Empty", "Payload", "SimpleRequest", "StreamingInputCallRequest", "StreamingOutputCallRequest"):
            setattr(self, name, message_factory.GetMessageClass(pool.FindMessageTypeByName(f"grpc.testing.{name}")))
        channel = grpc.insecure_channel(address)
        self.test = Service(channel, pool.FindServiceByName("grpc.testing.TestService"))
        self.other = Service(channel, pool.FindServiceByName("grpc.testing.UnimplementedService"))

    def payload(self, size):
        return self.Payload(body=bytes(size))

    def request(self, size, *response_sizes):
        return self.StreamingOutputCallRequest(
            payload=self.payload(size), response_parameters=[{"size": each} for each in response_sizes])

    def large_request(self):
        return self.SimpleRequest(response_size=314159, payload=self.payload(271828))

    def empty_unary(self):
        assert self.test.EmptyCall(self.Empty()) == self.Empty()

    def large_unary(self):
        assert self.test.UnaryCall(self.large_request()).payload == self.payload(314159)

    def client_streaming(self):
        requests = (self.StreamingInputCallRequest(payload=self.payload(size)) for size in REQUEST_SIZES)
        assert self.test.StreamingInputCall(requests).aggregated_payload_size == 74922

    def server_streaming(self):
        answers = self.test.StreamingOutputCall(self.request(0, *RESPONSE_SIZES))
        assert tuple(len(answer.payload.body) for answer in answers) == RESPONSE_SIZES

    def ping_pong(self):
        requests = queue.Queue()
        call = self.test.FullDuplexCall(iter(requests.get, None))
        for size, response_size in zip(REQUEST_SIZES, RESPONSE_SIZES):
            requests.put(self.request(size, response_size))
            assert len(next(call).payload.body) == response_size
        requests.put(None)
        assert list(call) == []
        assert call.code() is grpc.StatusCode.OK

    def empty_stream(self):
        assert list(self.test.FullDuplexCall(iter(()))) == []

    def cancel_after_begin(self):
        requests = queue.Queue()
        call = self.test.StreamingInputCall.future(iter(requests.get, None))
        call.cancel()
        assert call.cancelled() and call.code() is grpc.StatusCode.CANCELLED
        requests.put(None)

    def cancel_after_first_response(self):
        requests = queue.Queue()
        call = self.test.FullDuplexCall(iter(requests.get, None))
        requests.put(self.request(27182, 31415))
        assert len(next(call).payload.body) == 31415
        call.cancel()
        self.check_error(lambda: next(call), grpc.StatusCode.CANCELLED)
        requests.put(None)

    def timeout_on_sleeping_server(self):
        requests = queue.Queue()
        requests.put(self.request(27182))
        call = self.test.FullDuplexCall(iter(requests.get, None), timeout=0.001)
        self.check_error(lambda: next(call), grpc.StatusCode.DEADLINE_EXCEEDED)
        requests.put(None)

    def status_code_and_message(self):
        message = "test status message"
        self.check_unary_status(message)
        request = self.StreamingOutputCallRequest(response_status={"code": 2, "message": message})
        self.check_error(lambda: list(self.test.FullDuplexCall(iter((request,)))), grpc.StatusCode.UNKNOWN, message)

    def special_status_message(self):
        self.check_unary_status("\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n")

    def custom_metadata(self):
        initial = ("x-grpc-test-echo-initial", "test_initial_metadata_value")
        trailing = ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab")
        _, unary = self.test.UnaryCall.with_call(self.large_request(), metadata=(initial, trailing))
        stream = self.test.FullDuplexCall(iter((self.request(271828, 314159),)), metadata=(initial, trailing))
        assert [len(answer.payload.body) for answer in stream] == [314159]
        for call in (unary, stream):
            assert initial in call.initial_metadata()
            assert trailing in call.trailing_metadata()

    def unimplemented_method(self):
        self.check_error(lambda: self.test.UnimplementedCall(self.Empty()), grpc.StatusCode.UNIMPLEMENTED)

    def unimplemented_service(self):
        self.check_error(lambda: self.other.UnimplementedCall(self.Empty()), grpc.StatusCode.UNIMPLEMENTED)

    def check_unary_status(self, message):
        request = self.SimpleRequest(response_status={"code": 2, "message": message})
        self.check_error(lambda: self.test.UnaryCall(request), grpc.StatusCode.UNKNOWN, message)

    @staticmethod
    def check_error(call, code, message=None):
        try:
            call()
        except grpc.RpcError as error:
            assert error.code() is code, error
            assert message in (None, error.details()), error
        else:
            raise AssertionError("the call succeeded")


def main():
    address, descriptors, *names = sys.argv[1:]
    cases = Cases(address, descriptors)
    failed = False
    for name in names:
        try:
            getattr(cases, name)()
            print(f"{name}: passed", flush=True)
        except Exception:  # pylint: disable=broad-except
            print(f"{name}: FAILED: {traceback.format_exc()}", flush=True)
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
