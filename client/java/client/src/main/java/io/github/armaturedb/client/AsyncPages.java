package io.github.armaturedb.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The items of a query or a scan, as a publisher of {@link Flow}: pages are read as far as the subscriber asks for items.
 * Each subscription reads again.
 *
 * @param <T> the type of the items
 */
public final class AsyncPages<T> implements Flow.Publisher<T> {
    private final Supplier<Source<Page<T>>> sources;

    AsyncPages(Supplier<Source<Page<T>>> sources) {
        this.sources = sources;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        new SourcePublisher<Page<T>, T>(sources, page -> page.items().iterator()).subscribe(subscriber);
    }

    /** The pages with their counts and positions. */
    public Flow.Publisher<Page<T>> pages() {
        return new SourcePublisher<>(sources, page -> List.of(page).iterator());
    }

    /** Calls a function with each item, one after another. The future ends with the last one, or with an error. */
    public CompletableFuture<Void> forEach(Consumer<? super T> consumer) {
        return each(this, consumer);
    }

    /** All items. */
    public CompletableFuture<List<T>> toList() {
        List<T> all = new ArrayList<>();
        return Caller.mapped(each(pages(), page -> all.addAll(page.items())), end -> all);
    }

    /** The first item, if there is one. */
    public CompletableFuture<Optional<T>> first() {
        CompletableFuture<Optional<T>> result = new CompletableFuture<>();
        subscribe(new Collector<T>(result, Optional.empty()) {
            @Override
            public void onNext(T item) {
                subscription().cancel();
                result.complete(Optional.of(item));
            }
        });
        return result;
    }

    static <E> CompletableFuture<Void> each(Flow.Publisher<E> publisher, Consumer<? super E> consumer) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        publisher.subscribe(new Collector<E>(result, null) {
            @Override
            public void onNext(E element) {
                try {
                    consumer.accept(element);
                } catch (RuntimeException | Error e) { // an assertion of a test, too
                    subscription().cancel();
                    result.completeExceptionally(e);
                }
            }
        });
        return result;
    }

    /** A subscriber that asks for everything. */
    private abstract static class Collector<E> implements Flow.Subscriber<E> {
        private final CompletableFuture<?> result;
        private final Runnable complete;
        private volatile Flow.Subscription subscription;

        <V> Collector(CompletableFuture<V> result, V value) {
            this.result = result;
            complete = () -> result.complete(value);
        }

        Flow.Subscription subscription() {
            return subscription;
        }

        @Override
        public void onSubscribe(Flow.Subscription begun) {
            subscription = begun;
            // The future ends the reads.
            result.whenComplete((value, failure) -> {
                begun.cancel(); // also after a timeout of the program; without effect after the end
            });
            begun.request(Long.MAX_VALUE);
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            complete.run();
        }
    }
}
