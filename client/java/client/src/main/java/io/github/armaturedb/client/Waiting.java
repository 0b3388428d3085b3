package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.Failure;
import io.github.armaturedb.client.exception.OutcomeUnknownException;
import io.grpc.Status;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Runs the tasks of an asynchronous call in the thread that waits for its result, which saves a switch of threads. */
final class Waiting extends ConcurrentLinkedQueue<Runnable> implements Executor {
    private static final long serialVersionUID = 1L;

    private final transient Thread thread = Thread.currentThread();
    private volatile boolean hasEnded;
    private transient volatile PendingCall.CallFuture<?> running; // the last call that was begun with this executor
    private volatile boolean isInterrupted;

    private Waiting() {}

    /**
     * Begins calls, and waits for their result. Errors: those of the calls. After an interrupt, whose flag is set again, the
     * call that runs is ended and has the error of its outcome; without one the result is CallCancelledException.
     */
    static <R> R await(Function<Executor, CompletableFuture<R>> begin) {
        return await(begin, false);
    }

    /**
     * As above.
     *
     * @param writes the calls do not run in this executor and write, so that the outcome is unknown after an interrupt
     */
    static <R> R await(Function<Executor, CompletableFuture<R>> begin, boolean writes) {
        Waiting waiting = new Waiting();
        CompletableFuture<R> future = begin.apply(waiting);
        try {
            waiting.runUntil(future);
            return future.get();
        } catch (InterruptedException e) {
            return waiting.afterInterrupt(future, writes, e);
        } catch (ExecutionException e) {
            RuntimeException error = unchecked(e);
            if (writes) {
                addPlace(error);
            }
            throw error;
        } finally {
            waiting.end();
        }
    }

    /** An error that another thread has made does not tell where the program waited. */
    private static void addPlace(RuntimeException error) {
        boolean isOfWaitingThread = Arrays.stream(error.getStackTrace()).anyMatch(frame -> frame.getClassName().equals(Waiting.class.getName()));
        // Once: several threads, or later calls, may get the same error.
        if (!isOfWaitingThread && error.getSuppressed().length == 0) {
            error.addSuppressed(new Exception("the program waited here"));
        }
    }

    /** Notes a call. After an interrupt it ends at once. */
    void runs(PendingCall.CallFuture<?> call) {
        running = call;
        if (isInterrupted) {
            call.abort();
        }
    }

    /** Ends the call that runs, which takes no time, and gives the result, or the error that tells if it may have been applied. */
    private <R> R afterInterrupt(CompletableFuture<R> future, boolean writes, InterruptedException interrupt) {
        isInterrupted = true;
        for (PendingCall.CallFuture<?> call = running; call != null && !call.isDone(); call = running) {
            call.abort();
            runUninterrupted(call);
        }
        Thread.currentThread().interrupt();
        if (!future.isDone()) { // between two calls, or for calls of others
            future.cancel(true);
            Status status = Status.CANCELLED.withDescription("the thread was interrupted").withCause(interrupt);
            ArmatureException error = Failure.of("call", status, null, false).toException();
            throw writes ? new OutcomeUnknownException(error) : error;
        }
        try {
            return future.join();
        } catch (CompletionException e) {
            throw unchecked(e);
        }
    }

    private void runUninterrupted(CompletableFuture<?> future) {
        while (true) {
            try {
                runUntil(future);
                return;
            } catch (InterruptedException e) {
                // Another interrupt.
            }
        }
    }

    /** The reason of a failed future. */
    static Throwable causeOf(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof ExecutionException || cause instanceof CompletionException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** The reason of a failed future, to be thrown. Not for callbacks: throws the reason itself if it is an error of the machine. */
    static RuntimeException unchecked(Throwable failure) {
        Throwable cause = causeOf(failure);
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException exception ? exception : new CompletionException(cause);
    }

    @Override
    public void execute(Runnable task) {
        add(task);
        if (hasEnded) {
            runAll();
        } else {
            LockSupport.unpark(thread);
        }
    }

    private void runUntil(CompletableFuture<?> future) throws InterruptedException {
        if (!future.isDone()) {
            future.whenComplete((result, failure) -> LockSupport.unpark(thread));
        }
        while (!future.isDone()) {
            Runnable task = poll();
            if (task != null) {
                task.run();
                continue;
            }
            LockSupport.park(this);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** Later tasks run in the threads that give them. */
    private void end() {
        hasEnded = true;
        runAll();
    }

    private void runAll() {
        for (Runnable task = poll(); task != null; task = poll()) {
            task.run();
        }
    }
}
