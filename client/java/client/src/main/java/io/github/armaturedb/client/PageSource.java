package io.github.armaturedb.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The pages of one query or one segment. */
final class PageSource<T> implements Source<Page<T>> {
    private final Caller caller;
    private final Function<Item, Prepared<?, ?, Page<T>>> pageAfter;
    private Item position; // null: the beginning
    private boolean hasEnded;

    PageSource(Caller caller, Item startAfter, Function<Item, Prepared<?, ?, Page<T>>> pageAfter) {
        this.caller = caller;
        this.pageAfter = pageAfter;
        position = startAfter;
    }

    @Override
    public CompletableFuture<Page<T>> next(Executor executor) {
        if (hasEnded) {
            return CompletableFuture.completedFuture(null);
        }
        return Caller.mapped(caller.start(pageAfter.apply(position), executor), page -> {
            position = page.lastKey().orElse(null);
            hasEnded = position == null;
            return page;
        });
    }
}
