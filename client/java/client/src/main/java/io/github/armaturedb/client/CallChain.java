package io.github.armaturedb.client;

import java.util.concurrent.CompletableFuture;

/** Calls that follow on one another. The one that runs ends with the future of the whole. Safe for concurrent use. */
final class CallChain {
    private CompletableFuture<?> running; // null: none yet; guarded by this
    private boolean isOver; // guarded by this

    /** Notes the call or pause that runs now. */
    <V> CompletableFuture<V> runs(CompletableFuture<V> call) {
        boolean mustEnd;
        synchronized (this) {
            running = call;
            mustEnd = isOver;
        }
        if (mustEnd) {
            call.cancel(true);
        }
        return call;
    }

    /** Names the future of the whole. */
    <V> CompletableFuture<V> endsWith(CompletableFuture<V> whole) {
        whole.whenComplete((value, failure) -> {
            CompletableFuture<?> last;
            synchronized (this) {
                isOver = true;
                last = running;
            }
            if (last != null) {
                last.cancel(true);
            }
        });
        return whole;
    }
}
