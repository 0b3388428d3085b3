package io.github.armaturedb.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.armaturedb.api.v1.BatchWriteItemRequest;
import io.github.armaturedb.api.v1.BatchWriteItemResponse;
import io.github.armaturedb.api.v1.ChangeRecord;
import io.github.armaturedb.api.v1.EventName;
import io.github.armaturedb.api.v1.WatchResponse;
import io.github.armaturedb.api.v1.WriteRequest;
import io.github.armaturedb.api.v1.WriteRequestList;
import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.BatchWriteException;
import io.github.armaturedb.client.exception.UnavailableException;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StreamsTest {
    private static final RetryPolicy QUICK = new RetryPolicy(5, Duration.ofMillis(1), Duration.ofMillis(5));

    private static List<WriteRequest> writesOf(BatchWriteItemRequest request) {
        return request.getRequestItemsMap().values().stream().flatMap(l -> l.getRequestsList().stream()).toList();
    }

    private static String idOf(WriteRequest write) {
        return write.getPutRequest().getItem().getAttributesOrThrow("id").getS();
    }

    @Test
    void aBatchWriterSharedByThreadsLosesNothing() throws InterruptedException {
        Set<String> done = ConcurrentHashMap.newKeySet();
        AtomicInteger calls = new AtomicInteger();
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(QUICK).build()) {
            daemon.batch = request -> { // each second batch leaves a part unprocessed
                List<WriteRequest> writes = writesOf(request);
                int left = calls.incrementAndGet() % 2 == 0 ? writes.size() / 2 : 0;
                writes.subList(left, writes.size()).forEach(w -> done.add(idOf(w)));
                BatchWriteItemResponse.Builder response = BatchWriteItemResponse.newBuilder();
                if (left > 0) {
                    response.putUnprocessedItems("users", WriteRequestList.newBuilder().addAllRequests(writes.subList(0, left)).build());
                }
                return response.build();
            };
            try (BatchWriter writer = client.batchWriter(4)) {
                List<Thread> threads = IntStream.range(0, 8).mapToObj(t -> new Thread(() -> {
                    for (int i = 0; i < 500; ++i) {
                        writer.put("users", Item.of("id", t + "." + i));
                    }
                })).toList();
                threads.forEach(Thread::start);
                for (Thread thread : threads) {
                    thread.join();
                }
            }
        }
        assertEquals(4000, done.size());
    }

    @Test
    void writesOfOneItemKeepTheirOrder() {
        List<String> order = new ArrayList<>();
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build(); BatchWriter writer = client.batchWriter()) {
            daemon.batch = request -> {
                synchronized (order) {
                    writesOf(request).forEach(w -> order.add(w.getPutRequest().getItem().getAttributesOrThrow("n").getN()));
                }
                return BatchWriteItemResponse.getDefaultInstance();
            };
            for (int i = 0; i < 200; ++i) {
                writer.put("users", Item.of("id", "same", "n", i));
            }
            writer.flush();
        }
        assertEquals(IntStream.range(0, 200).mapToObj(Integer::toString).toList(), order);
    }

    @Test
    void earlyWritesKeepTheirOrder() {
        List<String> order = new ArrayList<>();
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.batch = request -> {
                synchronized (order) {
                    writesOf(request).forEach(w -> order.add(w.getPutRequest().getItem().getAttributesOrThrow("n").getN()));
                }
                return BatchWriteItemResponse.getDefaultInstance();
            };
            AsyncBatchWriter writer = client.async().batchWriter();
            List<CompletableFuture<Void>> added = new ArrayList<>();
            for (int i = 0; i < 50; ++i) { // the key of the table is not known
                added.add(writer.put("users", Item.of("id", "same", "n", i)));
            }
            CompletableFuture.allOf(added.toArray(CompletableFuture<?>[]::new)).join();
            writer.flush().join();
        }
        assertEquals(IntStream.range(0, 50).mapToObj(Integer::toString).toList(), order);
    }

    @Test
    void writesWaitAfterALostDaemonAndAreDroppedIfRefusedForGood() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(RetryPolicy.NONE).build()) {
            BatchWriter writer = client.batchWriter();
            daemon.batch = request -> Status.UNAVAILABLE.asRuntimeException();
            writer.put("users", Item.of("id", "a"));
            writer.put("users", Item.of("id", "bad"));
            writer.put("users", Item.of("id", "b"));
            assertInstanceOf(ArmatureException.class, assertThrows(RuntimeException.class, writer::flush));
            assertEquals(3, writer.pending());
            daemon.batch = request -> writesOf(request).stream().anyMatch(w -> idOf(w).equals("bad"))
                    ? FakeDaemon.error(Status.Code.INVALID_ARGUMENT, "ValidationException") : BatchWriteItemResponse.getDefaultInstance();
            BatchWriteException e = assertThrows(BatchWriteException.class, writer::flush);
            assertTrue(Arrays.stream(e.getSuppressed()).flatMap(place -> Arrays.stream(place.getStackTrace()))
                    .anyMatch(frame -> frame.getClassName().equals(StreamsTest.class.getName())), "where the program has called");
            assertEquals(List.of(Item.of("id", "bad")), e.failed().stream().map(BatchWriteException.Failed::item).toList());
            assertEquals(0, writer.pending());
            writer.flush();
            assertThrows(IllegalArgumentException.class, () -> writer.put("users", Map.of("no", "key")));
        }
    }

    @Test
    void anAsyncBatchWriterBoundsWhatWaits() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            AsyncBatchWriter writer = client.async().batchWriter(1);
            daemon.batch = request -> null; // no answer
            CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
            int taken = 0;
            while (taken < 1000) {
                last = writer.put("users", Item.of("id", "i" + taken));
                ++taken;
                if (taken == 1) {
                    last.get(30, TimeUnit.SECONDS); // the key of the table is known now
                } else if (!last.isDone()) {
                    break;
                }
            }
            assertTrue(taken > 25 && taken < 200, "taken " + taken);
            assertFalse(last.isDone());
        }
    }

    private static WatchResponse response(String position, String... sequences) {
        WatchResponse.Builder response = WatchResponse.newBuilder().setPosition(position);
        for (String sequence : sequences) {
            ChangeRecord.Builder record = response.addRecordsBuilder().setEventName(EventName.EVENT_NAME_INSERT);
            record.getDynamodbBuilder().setSequenceNumber(sequence).setNewImage(Item.of("id", sequence).toMessage());
        }
        return response.build();
    }

    @Test
    void aWatchContinuesBehindWhatItGaveAndItsPositionIsNotAhead() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(QUICK).build()) {
            daemon.watch = (request, observer) -> {
                if (daemon.watches.size() == 1) {
                    observer.onNext(response("0"));
                    observer.onNext(response("3", "1", "2"));
                    observer.onError(Status.UNAVAILABLE.asRuntimeException());
                } else {
                    observer.onNext(response("4", "4"));
                }
            };
            try (Watch<Item> watch = client.table("users").watch()) {
                watch.awaitStarted();
                assertEquals("0", watch.position());
                Iterator<Change<Item>> changes = watch.iterator();
                assertTrue(changes.hasNext());
                assertEquals("0", watch.position());
                assertEquals("1", changes.next().position());
                assertEquals("1", watch.position());
                assertEquals("2", changes.next().position());
                assertEquals("4", changes.next().position());
            }
            assertEquals("3", daemon.watches.get(1).getAfterSequenceNumber());
        }
    }

    @Test
    void aWatchIsAwaitedWhileAnotherThreadIterates() throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            CountDownLatch asked = new CountDownLatch(1);
            AtomicReference<StreamObserver<WatchResponse>> stream = new AtomicReference<>();
            daemon.watch = (request, observer) -> {
                stream.set(observer);
                asked.countDown();
            };
            Watch<Item> watch = client.table("users").watch();
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> watch.iterator().next().position());
            asked.await();
            CompletableFuture<?> started = CompletableFuture.runAsync(watch::awaitStarted);
            assertThrows(TimeoutException.class, () -> started.get(100, TimeUnit.MILLISECONDS));
            stream.get().onNext(response("0"));
            started.get(20, TimeUnit.SECONDS);
            stream.get().onNext(response("1", "1"));
            assertEquals("1", first.get(20, TimeUnit.SECONDS));
            watch.close();
            watch.awaitStarted();
        }
    }

    record Numbered(int id) {}

    @Test
    void aWatchEndsWithItsErrors() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(QUICK).build()) {
            daemon.watch = (request, observer) -> observer.onError(FakeDaemon.error(Status.Code.OUT_OF_RANGE, "TrimmedDataAccessException"));
            Iterator<Change<Item>> trimmed = client.table("users").watch().iterator();
            assertThrows(ArmatureException.class, trimmed::hasNext);
            assertThrows(ArmatureException.class, trimmed::hasNext);
            daemon.watch = (request, observer) -> observer.onNext(response("1", "1"));
            Watch<Numbered> wrong = client.table("users", Numbered.class).watch();
            assertThrows(MappingException.class, () -> wrong.iterator().hasNext());
            assertEquals("", wrong.position());
            daemon.watch = (request, observer) -> observer.onError(Status.UNAVAILABLE.asRuntimeException());
            Watch<Item> lost = client.table("users").watch(o -> o.timeout(Duration.ofMillis(100)));
            assertThrows(UnavailableException.class, () -> lost.iterator().hasNext());
        }
    }

    @Test
    void aWatchIsClosedFromAnotherThread() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            Watch<Item> watch = client.table("users").watch();
            daemon.watch = (request, observer) -> new Thread(watch::close).start();
            assertFalse(watch.iterator().hasNext());
        }
    }

    /** Pages of the numbers from 0 to 9, three each. */
    private static Source<Page<Integer>> pages(AtomicInteger asked) {
        return new Source<>() {
            private int next;

            @Override
            public CompletableFuture<Page<Integer>> next(Executor executor) {
                if (next == 10) {
                    return CompletableFuture.completedFuture(null);
                }
                asked.incrementAndGet();
                List<Integer> items = IntStream.range(next, Math.min(next + 3, 10)).boxed().toList();
                next = Math.min(next + 3, 10);
                return CompletableFuture.supplyAsync(() -> new Page<>(items, items.size(), items.size(), Optional.empty()));
            }
        };
    }

    @Test
    void aPublisherReadsAsFarAsItIsAsked() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        AsyncPages<Integer> pages = new AsyncPages<>(() -> pages(asked));
        assertEquals(IntStream.range(0, 10).boxed().toList(), pages.toList().get());
        assertEquals(Optional.of(0), pages.first().get());
        asked.set(0);
        List<Integer> taken = new ArrayList<>();
        CompletableFuture<Void> four = new CompletableFuture<>();
        pages.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(4);
            }

            @Override
            public void onNext(Integer number) {
                taken.add(number);
                if (taken.size() == 4) {
                    four.complete(null);
                }
            }

            @Override
            public void onError(Throwable failure) {
                four.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                four.completeExceptionally(new AssertionError("complete"));
            }
        });
        four.get();
        assertEquals(List.of(0, 1, 2, 3), taken);
        assertEquals(2, asked.get());
    }

    @Test
    void aParallelSourceGivesAllPages() {
        List<Source<Page<Integer>>> sources = List.of(pages(new AtomicInteger()), pages(new AtomicInteger()), pages(new AtomicInteger()));
        List<Integer> all = new Pages<>(() -> new ParallelSource<>(sources)).toList();
        assertEquals(IntStream.range(0, 30).map(i -> i / 3).boxed().toList(), all.stream().sorted().toList());
    }

    @Test
    void aFailedPageIsNotTheEnd() {
        Source<Page<Integer>> failing = executor -> CompletableFuture.failedFuture(new IllegalStateException("lost"));
        Iterator<Integer> items = new Pages<>(() -> failing).iterator();
        assertThrows(IllegalStateException.class, items::hasNext);
        assertThrows(IllegalStateException.class, items::hasNext);
    }
}
