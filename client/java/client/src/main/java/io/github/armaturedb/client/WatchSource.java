package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.StreamServiceGrpc;
import io.github.armaturedb.api.v1.WatchRequest;
import io.github.armaturedb.api.v1.WatchResponse;
import io.github.armaturedb.api.v1.WatchStart;
import io.github.armaturedb.client.exception.Failure;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The responses of a watch over all its streams. One response is asked for at a time, so that no more than one waits in
 * memory. A stream that was lost is replaced by one that begins behind the last response that was taken.
 */
final class WatchSource implements Source<WatchSource.Batch> {
    private static final int HEARTBEATS_MISSED = 3;

    /** The changes of a response, and the position behind them. */
    record Batch(WatchResponse response) {
        <T> List<Change<T>> changes(ItemMapper<T> mapper) {
            return response.getRecordsList().stream().map(r -> Change.of(r, mapper)).toList();
        }
    }

    private final Caller caller;
    private final WatchOptions options;
    private final Duration reconnectFor; // null: without an end
    private final Duration patience;

    // All guarded by this.
    private WatchRequest request; // continues behind the last response
    private ClientCall<WatchRequest, WatchResponse> call; // null: no stream
    private CompletableFuture<Batch> waiter; // null: no response is wanted
    private ScheduledFuture<?> timer; // ends a stream that is silent
    private Executor executor;
    private long responses;
    private long responsesBefore; // of this stream
    private int attempt;
    private long lostAt; // nanoseconds
    private boolean isClosed;

    WatchSource(Caller caller, String table, WatchOptions options) {
        this.caller = caller;
        this.options = options;
        request = requestOf(table, options);
        reconnectFor = options.settings().timeout();
        patience = options.heartbeat.multipliedBy(HEARTBEATS_MISSED).plus(caller.settings().timeout());
        lostAt = System.nanoTime();
    }

    static WatchRequest requestOf(String table, WatchOptions options) {
        WatchRequest.Builder request = WatchRequest.newBuilder()
                .setTableName(table)
                .setStart(options.start)
                .setStreamViewType(options.view)
                .setHeartbeatMs((int) options.heartbeat.toMillis());
        if (options.after != null) {
            request.setAfterSequenceNumber(options.after);
        }
        if (options.partition != null) {
            request.setPartitionKey(options.partition.toMessage());
        }
        Binder binder = Requests.binderOf(options, options.filter);
        if (options.filter != null) {
            request.setFilterExpression(options.filter.compile(binder));
        }
        binder.finish();
        return request.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values()).build();
    }

    @Override
    public CompletableFuture<Batch> next(Executor executorOfCall) {
        CompletableFuture<Batch> result = new CompletableFuture<>();
        synchronized (this) {
            if (isClosed) {
                return CompletableFuture.completedFuture(null);
            }
            waiter = result;
            executor = executorOfCall;
            if (call != null) {
                restartTimer();
                call.request(1);
                return result;
            }
            lostAt = System.nanoTime();
        }
        open();
        return result;
    }

    private void open() {
        synchronized (this) {
            if (isClosed || waiter == null) {
                return;
            }
            attempt++;
            responsesBefore = responses;
            // It must not end with the gRPC context of the thread that happens to open it.
            Context previous = Context.ROOT.attach();
            try {
                call = caller.transport().channel().newCall(StreamServiceGrpc.getWatchMethod(), CallOptions.DEFAULT);
                restartTimer();
                // The listener runs in the executor, not in these calls.
                call.start(new Listener(call), new Metadata());
            } finally {
                Context.ROOT.detach(previous);
            }
            call.request(1);
            call.sendMessage(request);
            call.halfClose();
        }
    }

    /** Guarded by this. Nothing arrives for long while a response is wanted: the connection is dead. */
    private void restartTimer() {
        stopTimer();
        ClientCall<?, ?> watched = call;
        try {
            timer = caller.settings().timers().schedule(
                    () -> watched.cancel("the daemon is silent", null), patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            watched.cancel("the client is closed", null);
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    @Override
    public void close() {
        CompletableFuture<Batch> pending;
        ClientCall<?, ?> open;
        synchronized (this) {
            isClosed = true;
            stopTimer();
            pending = waiter;
            waiter = null;
            open = call;
            call = null;
        }
        if (open != null) {
            open.cancel("the watch is closed", null);
        }
        if (pending != null) {
            pending.complete(null);
        }
    }

    private void complete(CompletableFuture<Batch> future, Batch batch, Throwable failure, Executor used) {
        Runnable end = () -> {
            if (failure == null) {
                future.complete(batch);
            } else {
                future.completeExceptionally(failure);
            }
        };
        (used == null ? caller.settings().executor() : used).execute(end);
    }

    private final class Listener extends ClientCall.Listener<WatchResponse> {
        private final ClientCall<?, ?> call;

        Listener(ClientCall<?, ?> call) {
            this.call = call;
        }

        @Override
        public void onMessage(WatchResponse response) {
            CompletableFuture<Batch> taken;
            Executor used;
            synchronized (WatchSource.this) {
                if (WatchSource.this.call != call || waiter == null) {
                    return; // of a stream that is closed
                }
                stopTimer(); // the program may take its time
                responses++;
                attempt = 0;
                taken = waiter;
                waiter = null;
                used = executor;
                request = request.toBuilder()
                        .setStart(WatchStart.WATCH_START_UNSPECIFIED).setAfterSequenceNumber(response.getPosition()).build();
            }
            complete(taken, new Batch(response), null, used);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            Status ended = status.isOk() ? Status.UNAVAILABLE.withDescription("the daemon has ended the watch") : status;
            Failure failure;
            CompletableFuture<Batch> failed;
            Executor used;
            synchronized (WatchSource.this) {
                if (WatchSource.this.call != call) {
                    return;
                }
                WatchSource.this.call = null;
                stopTimer();
                boolean neverAnswered = responses == responsesBefore;
                failure = caller.settings().hints().explain(Failure.of("Watch", ended, trailers, neverAnswered), request);
                if (responses > responsesBefore) {
                    attempt = 1;
                    lostAt = System.nanoTime();
                }
                if (waiter == null) {
                    return; // the next call of next() opens another stream, or finds the error again
                }
                if (mayReconnect(failure) && scheduleReopening()) {
                    return;
                }
                failed = waiter;
                waiter = null;
                used = executor;
            }
            complete(failed, null, failure.toException(), used);
        }
    }

    /** Guarded by this. False: the time is over. */
    private boolean scheduleReopening() {
        RetryPolicy retry = caller.settings().retry();
        // Without any pause a daemon that is down would cost a processor.
        RetryPolicy used = retry.initial().isZero() ? RetryPolicy.DEFAULT : retry;
        long pause = used.pauseNanos(Math.max(attempt, 1), Duration.ZERO);
        if (reconnectFor != null && System.nanoTime() - lostAt + pause > reconnectFor.toNanos()) {
            return false;
        }
        caller.transport().connectSoon();
        try {
            caller.settings().timers().schedule(() -> caller.settings().executor().execute(this::open), pause, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            return false; // the client is closed
        }
    }

    /** Another stream may succeed. Guarded by this. */
    private boolean mayReconnect(Failure failure) {
        if (failure.exception().equals("LimitExceededException")) {
            return responses > 0; // the daemon may not know yet that the connection was lost, whose place is taken so long
        }
        if (failure.isTransient()) {
            return true;
        }
        return switch (failure.code()) {
            case CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN -> failure.exception().isEmpty(); // the network has ended the call
            default -> false;
        };
    }
}
