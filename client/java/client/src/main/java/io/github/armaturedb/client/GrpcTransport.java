package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.Failure;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** The transport over connections of gRPC, which calls use in turns. */
final class GrpcTransport implements Transport {
    private final List<Channel> channels; // with the interceptors of the client
    private final List<ManagedChannel> managed;
    private final AtomicInteger turn = new AtomicInteger();
    private volatile boolean isClosed;

    GrpcTransport(List<Channel> channels, List<ManagedChannel> managed) {
        this.channels = channels;
        this.managed = managed;
    }

    @Override
    public Channel channel() {
        return channels.size() == 1 ? channels.get(0) : channels.get(Math.floorMod(turn.getAndIncrement(), channels.size()));
    }

    @Override
    public void connectSoon() {
        managed.forEach(ManagedChannel::resetConnectBackoff);
    }

    void close() {
        isClosed = true;
        managed.forEach(ManagedChannel::shutdownNow);
    }

    @Override
    public <Q, R> Runnable attempt(MethodDescriptor<Q, R> method, Q request, Attempt how, Receiver<R> receiver) {
        Sent sent = new Sent();
        Executor executor = how.executor();
        CallOptions options = how.settings().options().withDeadline(how.deadline()).withStreamTracerFactory(sent);
        if (executor != null) {
            options = options.withExecutor(executor);
        }
        ClientCall<Q, R> call = channel().newCall(method, options);
        String operation = method.getBareMethodName();
        call.start(new ClientCall.Listener<>() {
            private R response;

            @Override
            public void onMessage(R message) {
                response = message;
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                if (status.isOk() && response != null) {
                    receiver.succeeded(response);
                    return;
                }
                Status failed = status.isOk() ? Status.INTERNAL.withDescription("the answer has no message") : status;
                if (isClosed && status.getCode() == Status.Code.UNAVAILABLE) {
                    failed = Status.CANCELLED.withDescription("the client is closed");
                }
                receiver.failed(Failure.of(operation, failed, trailers, isNeverSent(sent)));
            }
        }, how.settings().newHeaders());
        try {
            call.request(2); // the message, and a second one, which would be an error
            call.sendMessage(request);
            call.halfClose();
        } catch (RuntimeException e) {
            // onClose tells it: gRPC calls it for a call that was started, also after this.
            call.cancel("the request could not be sent", e);
        }
        return () -> call.cancel("cancelled by the program", null);
    }

    @Override
    public boolean isNeverSent(Sent sent) {
        // A channel of the program may be no connection, and tell nothing about what it does.
        return !sent.isSent && (sent.isTraced || !managed.isEmpty());
    }

    /** Notes the moment at which the head of a request was written to a connection. Without it, nothing was sent. */
    static final class Sent extends ClientStreamTracer.Factory {
        private volatile boolean isTraced;
        private volatile boolean isSent;

        @Override
        public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
            isTraced = true;
            return new ClientStreamTracer() {
                @Override
                public void outboundHeaders() {
                    isSent = true;
                }
            };
        }
    }
}
