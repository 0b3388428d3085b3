package io.github.armaturedb.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A sequence of batches that are asked for one after another: pages, or changes. Not safe for concurrent use: the next
 * batch is asked for when the last one has arrived.
 *
 * @param <B> the type of the batches
 */
interface Source<B> {
    /** The next batch. Null at the end. */
    CompletableFuture<B> next(Executor executor);

    /** No more batches are wanted. May be called while one is asked for. */
    default void close() {}
}
