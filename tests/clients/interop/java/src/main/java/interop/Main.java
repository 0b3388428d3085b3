package interop;

import com.google.protobuf.ByteString;
import grpc.testing.EmptyOuterClass.Empty;
import grpc.testing.Messages.EchoStatus;
import grpc.testing.Messages.Payload;
import grpc.testing.Messages.ResponseParameters;
import grpc.testing.Messages.SimpleRequest;
import grpc.testing.Messages.SimpleResponse;
import grpc.testing.Messages.StreamingInputCallRequest;
import grpc.testing.Messages.StreamingInputCallResponse;
import grpc.testing.Messages.StreamingOutputCallRequest;
import grpc.testing.Messages.StreamingOutputCallResponse;
import grpc.testing.TestServiceGrpc;
import grpc.testing.UnimplementedServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** gRPC's interop cases on grpc-java: Main ADDRESS CASE... */
public final class Main {
    private static final int[] REQUEST_SIZES = {27182, 8, 1828, 45904};
    private static final int[] RESPONSE_SIZES = {31415, 9, 2653, 58979};
    private static final String SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \ud83d\ude08\t\n";

    private final ManagedChannel channel;
    private final TestServiceGrpc.TestServiceBlockingStub blocking;
    private final TestServiceGrpc.TestServiceStub async;

    private Main(String address) {
        channel = NettyChannelBuilder.forTarget("dns:///" + address).usePlaintext().build();
        blocking = TestServiceGrpc.newBlockingStub(channel);
        async = TestServiceGrpc.newStub(channel);
    }

    public static void main(String[] arguments) throws Exception {
        Main client = new Main(arguments[0]);
        boolean failed = false;
        for (String name : Arrays.asList(arguments).subList(1, arguments.length)) {
            try {
                client.run(name);
                System.out.println(name + ": passed");
            } catch (Exception | AssertionError error) {
                System.out.println(name + ": FAILED");
                error.printStackTrace(System.out);
                failed = true;
            }
        }
        client.channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        System.exit(failed ? 1 : 0);
    }

    private void run(String name) throws Exception {
        switch (name) {
            case "empty_unary" -> expect(Empty.getDefaultInstance(), blocking.emptyCall(Empty.getDefaultInstance()));
            case "large_unary" -> expect(payload(314159), blocking.unaryCall(largeRequest()).getPayload());
            case "client_streaming" -> clientStreaming();
            case "server_streaming" -> serverStreaming();
            case "ping_pong" -> pingPong();
            case "empty_stream" -> emptyStream();
            case "cancel_after_begin" -> cancelAfterBegin();
            case "cancel_after_first_response" -> cancelAfterFirstResponse();
            case "timeout_on_sleeping_server" -> timeoutOnSleepingServer();
            case "custom_metadata" -> customMetadata();
            case "status_code_and_message" -> statusCodeAndMessage();
            case "special_status_message" -> expectUnaryStatus(SPECIAL);
            case "unimplemented_method" ->
                expectCode(Status.Code.UNIMPLEMENTED, () -> blocking.unimplementedCall(Empty.getDefaultInstance()));
            case "unimplemented_service" -> expectCode(Status.Code.UNIMPLEMENTED,
                () -> UnimplementedServiceGrpc.newBlockingStub(channel).unimplementedCall(Empty.getDefaultInstance()));
            default -> throw new IllegalArgumentException("there is no case " + name);
        }
    }

    // ---- Messages

    private static Payload payload(int size) {
        return Payload.newBuilder().setBody(ByteString.copyFrom(new byte[size])).build();
    }

    private static SimpleRequest largeRequest() {
        return SimpleRequest.newBuilder().setResponseSize(314159).setPayload(payload(271828)).build();
    }

    private static StreamingOutputCallRequest request(int size, int... responseSizes) {
        StreamingOutputCallRequest.Builder request = StreamingOutputCallRequest.newBuilder().setPayload(payload(size));
        for (int each : responseSizes) {
            request.addResponseParameters(ResponseParameters.newBuilder().setSize(each));
        }
        return request.build();
    }

    private static int sizeOf(Object answer) {
        return ((StreamingOutputCallResponse) answer).getPayload().getBody().size();
    }

    // ---- Checks

    private static void expect(Object wanted, Object found) {
        if (!Objects.equals(wanted, found)) {
            throw new AssertionError("wanted " + wanted + ", found " + found);
        }
    }

    private static StatusRuntimeException expectCode(Status.Code code, Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException error) {
            expect(code, error.getStatus().getCode());
            return error;
        }
        throw new AssertionError("the call succeeded");
    }

    private void expectUnaryStatus(String message) {
        SimpleRequest request = SimpleRequest.newBuilder().setResponseStatus(status(message)).build();
        expect(message, expectCode(Status.Code.UNKNOWN, () -> blocking.unaryCall(request)).getStatus().getDescription());
    }

    private static EchoStatus status(String message) {
        return EchoStatus.newBuilder().setCode(2).setMessage(message).build();
    }

    /** Keeps the answers of a call, and its Status at the end. */
    private static final class Answers<T> implements StreamObserver<T> {
        private final BlockingQueue<Object> events = new ArrayBlockingQueue<>(100);

        @Override public void onNext(T answer) {
            events.add(answer);
        }

        @Override public void onError(Throwable error) {
            events.add(Status.fromThrowable(error));
        }

        @Override public void onCompleted() {
            events.add(Status.OK);
        }

        Object next() throws InterruptedException {
            return Objects.requireNonNull(events.poll(60, TimeUnit.SECONDS), "no answer after a minute");
        }

        Status end() throws InterruptedException {
            Object event = next();
            if (event instanceof Status status) {
                return status;
            }
            throw new AssertionError("an answer too many");
        }
    }

    // ---- Cases

    private void clientStreaming() throws Exception {
        Answers<StreamingInputCallResponse> answers = new Answers<>();
        StreamObserver<StreamingInputCallRequest> requests = async.streamingInputCall(answers);
        for (int size : REQUEST_SIZES) {
            requests.onNext(StreamingInputCallRequest.newBuilder().setPayload(payload(size)).build());
        }
        requests.onCompleted();
        expect(74922, ((StreamingInputCallResponse) answers.next()).getAggregatedPayloadSize());
        expect(Status.OK, answers.end());
    }

    private void serverStreaming() {
        List<Integer> sizes = new ArrayList<>();
        Iterator<StreamingOutputCallResponse> answers = blocking.streamingOutputCall(request(0, RESPONSE_SIZES));
        answers.forEachRemaining(answer -> sizes.add(sizeOf(answer)));
        expect(Arrays.stream(RESPONSE_SIZES).boxed().toList(), sizes);
    }

    private void pingPong() throws Exception {
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        StreamObserver<StreamingOutputCallRequest> requests = async.fullDuplexCall(answers);
        for (int i = 0; i < REQUEST_SIZES.length; i++) {
            requests.onNext(request(REQUEST_SIZES[i], RESPONSE_SIZES[i]));
            expect(RESPONSE_SIZES[i], sizeOf(answers.next()));
        }
        requests.onCompleted();
        expect(Status.OK, answers.end());
    }

    private void emptyStream() throws Exception {
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        async.fullDuplexCall(answers).onCompleted();
        expect(Status.OK, answers.end());
    }

    private void cancelAfterBegin() throws Exception {
        Answers<StreamingInputCallResponse> answers = new Answers<>();
        async.streamingInputCall(answers).onError(new RuntimeException("cancelled by the case"));
        expect(Status.Code.CANCELLED, answers.end().getCode());
    }

    private void cancelAfterFirstResponse() throws Exception {
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        StreamObserver<StreamingOutputCallRequest> requests = async.fullDuplexCall(answers);
        requests.onNext(request(27182, 31415));
        expect(31415, sizeOf(answers.next()));
        ((ClientCallStreamObserver<?>) requests).cancel("cancelled by the case", null);
        expect(Status.Code.CANCELLED, answers.end().getCode());
    }

    private void timeoutOnSleepingServer() throws Exception {
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        StreamObserver<StreamingOutputCallRequest> requests =
            async.withDeadlineAfter(1, TimeUnit.MILLISECONDS).fullDuplexCall(answers);
        try {
            requests.onNext(request(27182));
        } catch (IllegalStateException alreadyOver) {
            // The status says it.
        }
        expect(Status.Code.DEADLINE_EXCEEDED, answers.end().getCode());
    }

    private void customMetadata() throws Exception {
        Metadata.Key<String> initial = Metadata.Key.of("x-grpc-test-echo-initial", Metadata.ASCII_STRING_MARSHALLER);
        Metadata.Key<byte[]> trailing = Metadata.Key.of("x-grpc-test-echo-trailing-bin", Metadata.BINARY_BYTE_MARSHALLER);
        byte[] bytes = {(byte) 0xab, (byte) 0xab, (byte) 0xab};
        Metadata sent = new Metadata();
        sent.put(initial, "test_initial_metadata_value");
        sent.put(trailing, bytes);
        AtomicReference<Metadata> head = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        Runnable check = () -> {
            expect("test_initial_metadata_value", head.get().get(initial));
            expect(true, Arrays.equals(bytes, trailers.get().get(trailing)));
        };

        SimpleResponse response = blocking
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(sent), MetadataUtils.newCaptureMetadataInterceptor(head, trailers))
            .unaryCall(largeRequest());
        expect(payload(314159), response.getPayload());
        check.run();

        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        head.set(null);
        trailers.set(null);
        StreamObserver<StreamingOutputCallRequest> requests = async
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(sent), MetadataUtils.newCaptureMetadataInterceptor(head, trailers))
            .fullDuplexCall(answers);
        requests.onNext(request(271828, 314159));
        requests.onCompleted();
        expect(314159, sizeOf(answers.next()));
        expect(Status.OK, answers.end());
        check.run();
    }

    private void statusCodeAndMessage() throws Exception {
        String message = "test status message";
        expectUnaryStatus(message);
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        StreamObserver<StreamingOutputCallRequest> requests = async.fullDuplexCall(answers);
        requests.onNext(StreamingOutputCallRequest.newBuilder().setResponseStatus(status(message)).build());
        requests.onCompleted();
        Status end = answers.end();
        expect(Status.Code.UNKNOWN, end.getCode());
        expect(message, end.getDescription());
    }
}
