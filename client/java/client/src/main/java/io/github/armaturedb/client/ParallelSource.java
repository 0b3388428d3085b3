package io.github.armaturedb.client;

import io.grpc.Context;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** The pages of several sources, as they arrive: at most one of each waits to be taken. */
final class ParallelSource<B> implements Source<B> {
    private final List<Source<B>> idle; // asked for a page when the next one is wanted; guarded by this
    private final Deque<Arrived<B>> arrived = new ArrayDeque<>(); // guarded by this
    private int outstanding; // guarded by this
    private boolean isClosed; // guarded by this
    private Throwable failure; // guarded by this
    private CompletableFuture<B> waiter; // guarded by this
    private final List<CompletableFuture<B>> calls = new ArrayList<>(); // guarded by this

    private record Arrived<B>(Source<B> source, B batch) {}

    ParallelSource(List<Source<B>> sources) {
        idle = new ArrayList<>(sources);
    }

    @Override
    public CompletableFuture<B> next(Executor executor) {
        List<Source<B>> begin;
        CompletableFuture<B> result = new CompletableFuture<>();
        synchronized (this) {
            begin = isClosed ? List.of() : List.copyOf(idle);
            idle.clear();
            outstanding += begin.size();
        }
        // With the common executor: a page may arrive while nobody waits.
        begin.forEach(this::ask);
        synchronized (this) {
            waiter = result;
        }
        settle();
        return result;
    }

    private void ask(Source<B> source) {
        CompletableFuture<B> call;
        Context previous = Context.ROOT.attach(); // the call does not belong to the thread that happens to begin it
        try {
            call = source.next(null);
        } catch (RuntimeException | Error e) {
            call = CompletableFuture.failedFuture(e);
        } finally {
            Context.ROOT.detach(previous);
        }
        watch(source, call);
    }

    private void watch(Source<B> source, CompletableFuture<B> call) {
        synchronized (this) {
            calls.removeIf(CompletableFuture::isDone);
            calls.add(call);
        }
        call.whenComplete((batch, error) -> {
            synchronized (this) {
                outstanding--;
                if (error != null) {
                    failure = failure == null ? error : failure;
                } else if (batch != null) {
                    arrived.add(new Arrived<>(source, batch));
                }
            }
            settle();
        });
    }

    /** Gives the waiter its batch, the end, or the failure. */
    private void settle() {
        CompletableFuture<B> done;
        Arrived<B> taken = null;
        Throwable error = null;
        synchronized (this) {
            if (waiter == null) {
                return;
            }
            error = failure;
            if (error == null) {
                taken = arrived.poll();
                if (taken == null && outstanding > 0) {
                    return;
                }
            }
            if (taken != null) {
                idle.add(taken.source);
            }
            done = waiter;
            waiter = null;
        }
        if (error != null) {
            close();
            done.completeExceptionally(Waiting.causeOf(error));
        } else {
            done.complete(taken == null ? null : taken.batch);
        }
    }

    @Override
    public void close() {
        List<CompletableFuture<B>> begun;
        synchronized (this) {
            isClosed = true;
            idle.clear();
            begun = List.copyOf(calls);
        }
        begun.forEach(call -> call.cancel(true));
    }
}
