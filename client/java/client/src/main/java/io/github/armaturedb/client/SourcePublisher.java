package io.github.armaturedb.client;

import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Publishes the elements of the batches of a source, as far as the subscriber asks for them. Each subscriber has a source of
 * its own.
 */
final class SourcePublisher<B, E> implements Flow.Publisher<E> {
    private final Supplier<Source<B>> sources;
    private final Function<B, Iterator<E>> elements;

    SourcePublisher(Supplier<Source<B>> sources, Function<B, Iterator<E>> elements) {
        this.sources = sources;
        this.elements = elements;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super E> subscriber) {
        Objects.requireNonNull(subscriber);
        Source<B> source;
        try {
            source = sources.get();
        } catch (RuntimeException e) {
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {}

                @Override
                public void cancel() {}
            });
            subscriber.onError(e);
            return;
        }
        Subscription<B, E> subscription = new Subscription<>(source, elements, subscriber);
        subscriber.onSubscribe(subscription);
        subscription.mayBegin();
    }

    private static final class Subscription<B, E> implements Flow.Subscription {
        private final Source<B> source;
        private final Function<B, Iterator<E>> elements;
        private final Flow.Subscriber<? super E> subscriber;
        private Iterator<E> batch; // of the thread that is busy
        private long wanted; // guarded by this
        private boolean isBusy = true; // one thread delivers, or a batch is asked for; guarded by this
        private boolean hasEnded; // guarded by this
        private IllegalArgumentException wrongRequest; // guarded by this

        Subscription(Source<B> source, Function<B, Iterator<E>> elements, Flow.Subscriber<? super E> subscriber) {
            this.source = source;
            this.elements = elements;
            this.subscriber = subscriber;
        }

        /** The subscriber knows its subscription. */
        void mayBegin() {
            deliver();
        }

        @Override
        public void request(long count) {
            synchronized (this) {
                if (hasEnded) {
                    return;
                }
                if (count <= 0) {
                    wrongRequest = new IllegalArgumentException("a subscriber must request a positive number of elements");
                }
                wanted = wanted + Math.max(count, 0) < 0 ? Long.MAX_VALUE : wanted + Math.max(count, 0);
                if (isBusy) {
                    return;
                }
                isBusy = true;
            }
            deliver();
        }

        @Override
        public void cancel() {
            synchronized (this) {
                hasEnded = true;
            }
            source.close();
        }

        /** True: the thread goes on; false: it is not busy any more. */
        private boolean takesOne(boolean hasElement) {
            IllegalArgumentException wrong;
            synchronized (this) {
                wrong = hasEnded ? null : wrongRequest;
                if (wrong == null) {
                    if (hasEnded || wanted == 0) {
                        isBusy = false;
                        return false;
                    }
                    wanted -= hasElement ? 1 : 0;
                    return true;
                }
            }
            end(wrong);
            return false;
        }

        private void deliver() {
            try {
                while (true) {
                    boolean hasElement = batch != null && batch.hasNext();
                    if (!takesOne(hasElement)) {
                        return;
                    }
                    if (hasElement) {
                        subscriber.onNext(batch.next());
                        continue;
                    }
                    CompletableFuture<B> next = source.next(null);
                    if (!next.isDone()) {
                        next.whenComplete((b, failure) -> {
                            if (arrived(b, failure)) {
                                deliver();
                            }
                        });
                        return;
                    }
                    if (next.isCompletedExceptionally()) {
                        next.whenComplete(this::arrived);
                        return;
                    }
                    if (!arrived(next.join(), null)) {
                        return;
                    }
                }
            } catch (RuntimeException | Error e) {
                end(e);
            }
        }

        private boolean arrived(B next, Throwable failure) {
            if (failure != null || next == null) {
                end(failure);
                return false;
            }
            try {
                batch = elements.apply(next);
                return true;
            } catch (RuntimeException | Error e) {
                end(e);
                return false;
            }
        }

        private void end(Throwable failure) {
            synchronized (this) {
                if (hasEnded) {
                    return;
                }
                hasEnded = true;
            }
            source.close();
            if (failure == null) {
                subscriber.onComplete();
            } else {
                subscriber.onError(Waiting.causeOf(failure));
            }
        }
    }
}
