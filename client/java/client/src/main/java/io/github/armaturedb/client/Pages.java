package io.github.armaturedb.client;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The items of a query or a scan. Each iteration reads again, page by page, as far as it goes.
 *
 * <pre>{@code
 * for (Order order : orders.query("customer = $c", o -> o.param("c", "ann"))) { ... }
 * }</pre>
 *
 * <p>Safe for concurrent use; an iterator is not. Errors come out of the methods of the iterator.
 *
 * @param <T> the type of the items
 */
public final class Pages<T> implements Iterable<T> {
    private final Supplier<Source<Page<T>>> sources;

    Pages(Supplier<Source<Page<T>>> sources) {
        this.sources = sources;
    }

    @Override
    public Iterator<T> iterator() {
        return new Flat<>(new Batches<>(sources.get()), page -> page.items().iterator());
    }

    /** The items as a stream. A parallel scan begins all its segments at once; closing the stream ends them. */
    public Stream<T> stream() {
        Batches<Page<T>> pages = new Batches<>(sources.get());
        Iterator<T> items = new Flat<>(pages, page -> page.items().iterator());
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(items, Spliterator.NONNULL), false).onClose(pages::close);
    }

    /** The pages with their counts and positions. */
    public Iterable<Page<T>> pages() {
        return () -> new Batches<>(sources.get());
    }

    /** All items. */
    public List<T> toList() {
        List<T> all = new ArrayList<>();
        pages().forEach(page -> all.addAll(page.items()));
        return all;
    }

    /** The first item, if there is one. */
    public Optional<T> first() {
        Batches<Page<T>> pages = new Batches<>(sources.get());
        try {
            Iterator<T> items = new Flat<>(pages, page -> page.items().iterator());
            return items.hasNext() ? Optional.of(items.next()) : Optional.empty();
        } finally {
            pages.close();
        }
    }

    /** The batches of a source. */
    static final class Batches<B> implements Iterator<B> {
        private final Source<B> source;
        private B next;
        private boolean hasEnded;
        private RuntimeException failure;

        Batches(Source<B> source) {
            this.source = source;
        }

        @Override
        public boolean hasNext() {
            if (next == null && !hasEnded) {
                if (failure != null) {
                    throw failure; // the end would look as if all were read
                }
                try {
                    next = Waiting.await(source::next);
                } catch (RuntimeException e) {
                    failure = e;
                    source.close();
                    throw e;
                }
                hasEnded = next == null;
            }
            return next != null;
        }

        @Override
        public B next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            B taken = next;
            next = null;
            return taken;
        }

        void close() {
            hasEnded = true;
            source.close();
        }
    }

    /** The elements of batches. */
    static final class Flat<B, E> implements Iterator<E> {
        private final Iterator<B> batches;
        private final Function<B, Iterator<E>> elements;
        private Iterator<E> current = List.<E>of().iterator();

        Flat(Iterator<B> batches, Function<B, Iterator<E>> elements) {
            this.batches = batches;
            this.elements = elements;
        }

        @Override
        public boolean hasNext() {
            while (!current.hasNext() && batches.hasNext()) {
                current = elements.apply(batches.next());
            }
            return current.hasNext();
        }

        @Override
        public E next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return current.next();
        }
    }
}
