package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.Failure;
import io.github.armaturedb.client.exception.OutcomeUnknownException;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A call with all its attempts. */
final class PendingCall<Q, R> implements Transport.Receiver<R> {
    /** The result of a call. */
    static final class CallFuture<R> extends CompletableFuture<R> {
        private final PendingCall<?, R> call;

        private CallFuture(PendingCall<?, R> call) {
            this.call = call;
        }

        /** Ends the call soon. Its result then tells if it may have been applied; after a cancellation nothing would. */
        void abort() {
            call.abort();
        }
    }

    private final CallFuture<R> result = new CallFuture<>(this);
    private final Caller caller;
    private final MethodDescriptor<Q, R> method;
    private final Q request;
    private final CallSettings settings;
    private final Deadline deadline;
    private final Executor executor; // null: that of the client
    private final boolean isRead;
    private final boolean isHarmless;
    private final long sequenceBefore;
    private final CallObserver.Observed observed;
    private int attempt;
    private boolean maybeApplied;
    private Failure failureBefore; // of the attempt before; null: none
    private volatile Runnable cancel = () -> {};
    private boolean isPaused; // between two attempts; guarded by this
    private boolean isAborted; // guarded by this

    PendingCall(Caller caller, MethodDescriptor<Q, R> method, Q request, CallSettings settings, Executor executor) {
        this.caller = caller;
        this.method = method;
        SessionState session = caller.session();
        sequenceBefore = session == null ? 0 : session.before(request);
        Q withToken = Repeats.withToken(request);
        this.request = session == null ? withToken : session.prepare(withToken);
        this.settings = settings;
        deadline = caller.deadlineOf(settings);
        this.executor = executor;
        isRead = Repeats.isRead(method, this.request);
        isHarmless = settings.isIdempotent() || !caller.transport().isInStream(this.request, settings) && Repeats.isHarmless(method, this.request);
        CallObserver observer = caller.settings().observer();
        observed = observer == null ? null : observer.begin(method.getBareMethodName(), Repeats.tableOf(this.request));
    }

    CallFuture<R> begin() {
        result.whenComplete((r, failure) -> {
            if (result.isCancelled()) {
                cancel.run();
            }
        });
        next();
        return result;
    }

    private void next() {
        synchronized (this) {
            isPaused = false;
            if (result.isDone() || isAborted) {
                return;
            }
        }
        attempt++;
        Runnable cancelsThis;
        try {
            cancelsThis = caller.transport().attempt(method, request, new Transport.Attempt(settings, deadline, executor, attempt > 1), this);
        } catch (RuntimeException | Error e) {
            end(null, e);
            return;
        }
        cancel = cancelsThis;
        boolean mustEnd;
        synchronized (this) {
            mustEnd = isAborted;
        }
        if (mustEnd || result.isCancelled()) {
            cancelsThis.run();
        }
    }

    @Override
    public void succeeded(R response) {
        try {
            if (caller.session() != null) {
                caller.session().learn(request, response, sequenceBefore);
            }
            caller.settings().hints().learn(response);
            end(response, null);
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e); // else nothing would end the call
        }
    }

    @Override
    public void failed(Failure failure) {
        try {
            repeatOrEnd(caller.settings().hints().explain(failure, request));
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    private void repeatOrEnd(Failure failure) {
        boolean mayRepeat = attempt < caller.settings().retry().attempts() && failure.isTransient()
                && (failure.isNotApplied() || isHarmless) && !result.isDone();
        if (!mayRepeat) {
            end(null, finalError(failure));
            return;
        }
        maybeApplied |= !failure.isNotApplied();
        failureBefore = failure;
        long pause = caller.settings().retry().pauseNanos(attempt, failure.retryAfter());
        if (deadline.timeRemaining(TimeUnit.NANOSECONDS) <= pause) {
            end(null, finalError(failure));
            return;
        }
        synchronized (this) {
            isPaused = !isAborted;
            if (isAborted) {
                end(null, finalError(failure));
                return;
            }
        }
        if (failure.code() == Status.Code.UNAVAILABLE) {
            caller.transport().connectSoon();
        }
        try {
            caller.settings().timers().schedule(() -> executorOfCall().execute(this::next), pause, TimeUnit.NANOSECONDS);
        } catch (java.util.concurrent.RejectedExecutionException e) {
            end(null, finalError(failure)); // the client is closed
        }
    }

    private void abort() {
        boolean wasPaused;
        synchronized (this) {
            isAborted = true;
            wasPaused = isPaused;
            isPaused = false;
        }
        if (wasPaused) {
            Failure failure = Failure.local(method.getBareMethodName(), Status.CANCELLED.withDescription("the thread was interrupted"));
            executorOfCall().execute(() -> end(null, finalError(failure)));
        } else {
            cancel.run();
        }
    }

    private Executor executorOfCall() {
        return executor == null ? caller.settings().executor() : executor;
    }

    private ArmatureException finalError(Failure failure) {
        boolean isLate = failure.code() == Status.Code.DEADLINE_EXCEEDED && failure.exception().isEmpty() && failureBefore != null;
        ArmatureException error = (isLate ? failure.after(failureBefore) : failure).toException();
        return isRead || !maybeApplied && failure.isNotApplied() ? error : new OutcomeUnknownException(error);
    }

    private void end(R response, Throwable failure) {
        if (observed != null) {
            try {
                observed.end(attempt, failure);
            } catch (RuntimeException | Error e) {
                // The caller must get its result whatever an observer does.
            }
        }
        if (failure == null) {
            result.complete(response);
        } else {
            result.completeExceptionally(failure);
        }
    }
}
