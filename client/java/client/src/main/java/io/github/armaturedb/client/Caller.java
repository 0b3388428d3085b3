package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.Failure;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Makes the calls: with deadline, repeats, session and errors.
 *
 * @param session null: none
 */
record Caller(Transport transport, Settings settings, SessionState session) {
    /** The size of a request that the daemon reads. */
    static final int REQUEST_BYTES_MAX = (16 << 20) + (64 << 10);

    /**
     * Begins a call.
     *
     * @param executor runs what follows; null: that of the client
     */
    <Q, R> CompletableFuture<R> start(MethodDescriptor<Q, R> method, Q request, CallSettings call, Executor executor) {
        if (request instanceof com.google.protobuf.Message message && message.getSerializedSize() > REQUEST_BYTES_MAX) {
            Status status = Status.RESOURCE_EXHAUSTED.withDescription(
                    "the request has " + message.getSerializedSize() + " bytes, above the limit of " + REQUEST_BYTES_MAX);
            return CompletableFuture.failedFuture(Failure.local(method.getBareMethodName(), status).toException());
        }
        PendingCall.CallFuture<R> future = new PendingCall<>(this, method, request, call, executor).begin();
        if (executor instanceof Waiting waiting) {
            waiting.runs(future);
        }
        return future;
    }

    /** Begins a call and gives its result another form. */
    <Q, R, V> CompletableFuture<V> start(Prepared<Q, R, V> call, Executor executor) {
        CompletableFuture<R> response = start(call.method(), call.request(), call.settings(), executor);
        return mapped(response, call.decode());
    }

    /** Makes a call and waits for its result. */
    <Q, R, V> V await(Prepared<Q, R, V> call) {
        R response = Waiting.await(executor -> start(call.method(), call.request(), call.settings(), executor));
        return call.decode().apply(response);
    }

    Deadline deadlineOf(CallSettings call) {
        if (call.deadline() != null) {
            return call.deadline();
        }
        Duration timeout = call.timeout() == null ? settings.timeout() : call.timeout();
        return Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The inner future ends with the outer one, however that ends: cancelled by the program, or by its timeout. */
    static void passCancellation(CompletableFuture<?> outer, CompletableFuture<?> inner) {
        outer.whenComplete((value, failure) -> inner.cancel(true)); // nothing is done to a future that has ended
    }

    /** The result of the inner future in another form, whose cancellation ends the inner one. */
    static <A, B> CompletableFuture<B> mapped(CompletableFuture<A> inner, Function<A, B> form) {
        CompletableFuture<B> outer = inner.thenApply(form);
        passCancellation(outer, inner);
        return outer;
    }

    /** A future that ends after a pause, by the executor. */
    CompletableFuture<Void> pause(long nanos, Executor executor) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Executor used = executor == null ? settings.executor() : executor;
        try {
            settings.timers().schedule(() -> used.execute(() -> end.complete(null)), nanos, TimeUnit.NANOSECONDS);
        } catch (java.util.concurrent.RejectedExecutionException e) {
            end.completeExceptionally(Failure.local("wait", Status.CANCELLED.withDescription("the client is closed")).toException());
        }
        return end;
    }
}
