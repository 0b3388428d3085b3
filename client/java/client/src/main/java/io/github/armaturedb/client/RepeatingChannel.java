package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.ArmatureException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;

/** A channel for generated stubs, whose unary calls have the deadlines, repeats, sessions and errors of the client. */
final class RepeatingChannel extends Channel {
    private final Caller caller;

    RepeatingChannel(Caller caller) {
        this.caller = caller;
    }

    @Override
    public String authority() {
        return caller.transport().channel().authority();
    }

    @Override
    public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
        if (method.getType() != MethodDescriptor.MethodType.UNARY) {
            return caller.transport().channel().newCall(method, options);
        }
        return new UnaryCall<>(method, options);
    }

    private final class UnaryCall<Q, R> extends ClientCall<Q, R> {
        private final MethodDescriptor<Q, R> method;
        private final CallOptions options;
        private Listener<R> listener;
        private Metadata headers;
        private boolean isCancelled; // guarded by this
        private Q request;
        private CompletableFuture<R> future; // guarded by this

        UnaryCall(MethodDescriptor<Q, R> method, CallOptions options) {
            this.method = method;
            this.options = options;
        }

        @Override
        public void start(Listener<R> told, Metadata given) {
            headers = given;
            listener = told;
        }

        @Override
        public void request(int count) {}

        @Override
        public void sendMessage(Q message) {
            request = message;
        }

        @Override
        public void cancel(String message, Throwable cause) {
            CompletableFuture<R> running;
            synchronized (this) {
                isCancelled = true;
                running = future;
            }
            if (running instanceof PendingCall.CallFuture<R> call) {
                call.abort(); // its error tells if it may have been applied
            }
        }

        @Override
        public void halfClose() {
            CallSettings settings = CallSettings.DEFAULT.until(options.getDeadline()).with(options, headers);
            CompletableFuture<R> begun;
            synchronized (this) {
                if (isCancelled) {
                    listener.onClose(Status.CANCELLED.withDescription("cancelled by the program"), new Metadata());
                    return;
                }
                begun = caller.start(method, request, settings, options.getExecutor());
                future = begun;
            }
            begun.whenComplete((response, failure) -> {
                if (failure == null) {
                    listener.onHeaders(new Metadata());
                    listener.onMessage(response);
                    listener.onClose(Status.OK, new Metadata());
                    return;
                }
                // The cause of the StatusRuntimeException of the stub is the error of this package.
                Throwable error = Waiting.causeOf(failure);
                Status status = error instanceof ArmatureException e ? e.failure().status() : Status.CANCELLED;
                listener.onClose(status.withCause(error), new Metadata());
            });
        }
    }
}
