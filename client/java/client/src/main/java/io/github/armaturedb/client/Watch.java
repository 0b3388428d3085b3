package io.github.armaturedb.client;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The changes of a table as they are made. One thread iterates; {@link #close} may be called by any, and ends the
 * iteration. Errors come out of the iterator: {@code TrimmedDataAccessException} if changes are no longer kept,
 * {@code ResourceNotFoundException} when the table or its stream is gone.
 *
 * @param <T> the type of the items
 */
public final class Watch<T> implements Iterable<Change<T>>, AutoCloseable {
    private final WatchSource source;
    private final ItemMapper<T> mapper;
    private final Changes changes = new Changes();
    private volatile String position = "";

    Watch(WatchSource source, ItemMapper<T> mapper) {
        this.source = source;
        this.mapper = mapper;
    }

    /** The changes. All iterators are the same one. */
    @Override
    public Iterator<Change<T>> iterator() {
        return changes;
    }

    /**
     * Waits until the daemon watches: later changes will be given. Changes that arrive meanwhile are kept. Another thread may
     * iterate already.
     */
    public Watch<T> awaitStarted() {
        changes.begin();
        return this;
    }

    /**
     * The position behind the last change that the iterator gave, or behind changes that it has passed by without any for the
     * program; for {@link WatchOptions#after}. Empty: not started.
     */
    public String position() {
        return position;
    }

    /** Ends the watch. */
    @Override
    public void close() {
        source.close();
    }

    private final class Changes implements Iterator<Change<T>> {
        /** The first response is fetched by the thread that wants it first; another one waits. What it fetched is visible then. */
        private final AtomicBoolean isStarting = new AtomicBoolean();
        private final CompletableFuture<Void> started = new CompletableFuture<>();

        private Iterator<Change<T>> batch = List.<Change<T>>of().iterator();
        private String positionOfBatch = "";
        private boolean hasEnded;
        private RuntimeException failure; // of the watch: it has ended

        void begin() {
            if (!isStarting.compareAndSet(false, true)) {
                Waiting.await(executor -> started.copy()); // an interrupt ends the copy only
                return;
            }
            try {
                fetch();
                started.complete(null);
            } catch (RuntimeException | Error e) {
                started.completeExceptionally(e);
                throw e;
            }
        }

        private void fetch() {
            if (failure != null) {
                throw failure;
            }
            try {
                WatchSource.Batch next = Waiting.await(source::next);
                if (next == null) {
                    hasEnded = true;
                    return;
                }
                batch = next.changes(mapper).iterator();
                positionOfBatch = next.response().getPosition();
            } catch (RuntimeException e) {
                // Also after an interrupt, or for an item that does not fit: going on would pass changes by.
                failure = e;
                source.close();
                throw e;
            }
            passed();
        }

        /** All changes of the batch are given. */
        private void passed() {
            if (!batch.hasNext()) {
                position = positionOfBatch;
            }
        }

        @Override
        public boolean hasNext() {
            if (!started.isDone()) {
                begin();
            }
            while (!batch.hasNext() && !hasEnded) {
                fetch();
            }
            return batch.hasNext();
        }

        @Override
        public Change<T> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Change<T> change = batch.next();
            position = change.position();
            return change;
        }
    }
}
