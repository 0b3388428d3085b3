package io.github.armaturedb.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.armaturedb.api.v1.BatchWriteItemResponse;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.client.exception.OutcomeUnknownException;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.ForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs with faults, contexts and executors of their own, and interrupts. */
@Timeout(30)
class RobustnessTest {
    private static final Map<String, Object> ANN = Map.of("id", "ann");

    /** Notes the names of the headers that it sees. */
    private static ClientInterceptor headersInto(Set<String> seen) {
        return new ClientInterceptor() {
            @Override
            public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
                    @Override
                    public void start(Listener<R> listener, Metadata headers) {
                        seen.addAll(headers.keys());
                        seen.add("a call");
                        super.start(listener, headers);
                    }
                };
            }
        };
    }

    @Test
    void interceptorsDoNotSeeTheSecret() {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        try (ArmatureClient client = ArmatureClient.builder("unix:/nonexistent/socket").accessKey("id", "secret").retry(RetryPolicy.NONE)
                .interceptor(headersInto(seen)).build()) {
            assertThrows(RuntimeException.class, () -> client.table("users").get(ANN));
        }
        assertEquals(Set.of("a call"), seen);
    }

    @Test
    void severalAddressesMayBeOfIpVersion6() {
        ArmatureClient.builder("[::1]:1", "[::1]:2").build().close();
    }

    @Test
    void headersOfAStubAreSent() {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("trace", Metadata.ASCII_STRING_MARSHALLER), "t1");
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().interceptor(headersInto(seen)).build()) {
            Channel channel = ClientInterceptors.intercept(client.channel(), MetadataUtils.newAttachHeadersInterceptor(headers));
            ItemServiceGrpc.newBlockingStub(channel).getItem(GetItemRequest.getDefaultInstance());
        }
        assertTrue(seen.contains("trace"), seen::toString);
    }

    /** A channel of a program that is no connection, and fails all calls. */
    private static Channel failing(AtomicInteger calls) {
        return new Channel() {
            @Override
            public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
                return new ClientCall<>() {
                    private Listener<R> listener;

                    @Override
                    public void start(Listener<R> told, Metadata headers) {
                        listener = told;
                    }

                    @Override
                    public void request(int count) {}

                    @Override
                    public void cancel(String message, Throwable cause) {}

                    @Override
                    public void sendMessage(Q message) {}

                    @Override
                    public void halfClose() {
                        calls.incrementAndGet();
                        listener.onClose(Status.UNAVAILABLE, new Metadata());
                    }
                };
            }

            @Override
            public String authority() {
                return "none";
            }
        };
    }

    @Test
    void aChannelOfTheProgramMayHaveSentWhatFailed() {
        AtomicInteger calls = new AtomicInteger();
        try (ArmatureClient client = ArmatureClient.builder(failing(calls)).build()) {
            assertThrows(OutcomeUnknownException.class, () -> client.table("users").put(Item.from(ANN), o -> o.condition("attribute_not_exists(id)")));
        }
        assertEquals(1, calls.get());
    }

    @Test
    void aWatchPausesAlsoWithoutRepeats() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(RetryPolicy.NONE).build()) {
            daemon.watch = (request, observer) -> observer.onError(Status.UNAVAILABLE.asRuntimeException());
            Watch<Item> watch = client.table("users").watch(o -> o.timeout(Duration.ofMillis(300)));
            assertThrows(RuntimeException.class, () -> watch.iterator().hasNext());
            assertTrue(daemon.watches.size() < 20, () -> "streams: " + daemon.watches.size());
        }
    }

    @Test
    void aPutThatFailsIsNotTaken() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(RetryPolicy.NONE).build()) {
            daemon.batch = r -> Status.UNAVAILABLE.asRuntimeException();
            BatchWriter writer = client.batchWriter(1);
            int taken = 0;
            try {
                for (; taken < 10_000; ++taken) {
                    writer.put("users", Item.of("id", "i" + taken));
                }
            } catch (RuntimeException e) {
                // The bound is reached.
            }
            assertTrue(taken < 10_000);
            assertEquals(taken, writer.pending());
        }
    }

    @Test
    void keysOfATableAreNamedOnce() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            BatchWriter writer = client.batchWriter().keys("users", "id").keys("users", "id");
            assertThrows(IllegalStateException.class, () -> writer.keys("users", "id", "at"));
        }
    }

    @Test
    void optionsOfABatchReadAreNotLost() {
        BatchGet batch = new BatchGet().keys("users", List.of(ANN), o -> o.consistent());
        assertThrows(IllegalArgumentException.class, () -> batch.keys("users", List.of(ANN)));
    }

    @Test
    void anErrorOfTheProgramEndsTheFuture() {
        Source<Page<Integer>> source = executor -> CompletableFuture.supplyAsync(
                () -> new Page<>(List.of(1), 1, 1, Optional.empty()), CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
        AsyncPages<Integer> pages = new AsyncPages<>(() -> source);
        CompletableFuture<Void> each = pages.forEach(number -> {
            throw new AssertionError("wrong");
        });
        assertInstanceOf(AssertionError.class, assertThrows(ExecutionException.class, () -> each.get(10, TimeUnit.SECONDS)).getCause());
        Source<Page<Integer>> failing = executor -> CompletableFuture.supplyAsync(() -> {
            throw new NoClassDefFoundError("gone");
        }, CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
        CompletableFuture<?> all = new AsyncPages<>(() -> new ParallelSource<>(List.of(failing))).toList();
        assertInstanceOf(NoClassDefFoundError.class, assertThrows(ExecutionException.class, () -> all.get(10, TimeUnit.SECONDS)).getCause());
    }

    @Test
    void endingAListEndsItsReads() {
        AtomicBoolean isClosed = new AtomicBoolean();
        Source<Page<Integer>> source = new Source<>() {
            @Override
            public CompletableFuture<Page<Integer>> next(Executor executor) {
                return new CompletableFuture<>();
            }

            @Override
            public void close() {
                isClosed.set(true);
            }
        };
        AsyncPages<Integer> pages = new AsyncPages<>(() -> source);
        pages.toList().cancel(true);
        assertTrue(isClosed.getAndSet(false));
        assertThrows(ExecutionException.class, () -> pages.toList().orTimeout(10, TimeUnit.MILLISECONDS).get());
        assertTrue(isClosed.get());
    }

    @Test
    void aContextThatEndsDoesNotEndWhatIsShared() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(RetryPolicy.NONE).build()) {
            Context.CancellableContext handler = Context.current().withCancellation();
            AsyncBatchWriter writer = client.async().batchWriter().keys("users", "id");
            daemon.batch = r -> {
                handler.cancel(null);
                return BatchWriteItemResponse.getDefaultInstance();
            };
            handler.run(() -> {
                for (int i = 0; i < 25; ++i) {
                    writer.put("users", Item.of("id", "i" + i));
                }
            });
            writer.flush().join();
            assertEquals(1, daemon.batches.size());
            try (Pipeline pipeline = client.pipeline()) {
                Context.CancellableContext another = Context.current().withCancellation();
                another.run(() -> pipeline.client().table("users").get(ANN));
                another.cancel(null);
                pipeline.client().table("users").get(ANN);
            }
            assertEquals(1, daemon.pipelines.get());
        }
    }

    @Test
    void anExecutorThatIsShutDownLeavesNoCallOpen() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().executor(executor).build()) {
            daemon.get = r -> FakeDaemon.error(Status.Code.RESOURCE_EXHAUSTED, "ThrottlingException");
            executor.shutdown();
            CompletableFuture<?> get = client.async().table("users").get(ANN, o -> o.timeout(Duration.ofMillis(300)));
            assertThrows(ExecutionException.class, () -> get.get(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void pausesAreBounded() {
        Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
        assertThrows(IllegalArgumentException.class, () -> new RetryPolicy(5, Duration.ofMillis(1), forever));
        assertThrows(IllegalArgumentException.class, () -> ArmatureClient.builder("a:1").timeout(forever));
        assertTrue(RetryPolicy.DEFAULT.pauseNanos(1, forever) < Duration.ofHours(2).toNanos());
    }

    @Test
    void anInterruptedFlushLeavesTheOutcomeUnknown() throws InterruptedException {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            CountDownLatch arrived = new CountDownLatch(1);
            daemon.batch = r -> {
                arrived.countDown();
                return null;
            };
            BatchWriter writer = client.batchWriter();
            writer.put("users", Item.from(ANN));
            AtomicReference<RuntimeException> thrown = new AtomicReference<>();
            Thread thread = new Thread(() -> thrown.set(assertThrows(RuntimeException.class, writer::flush)));
            thread.start();
            arrived.await();
            thread.interrupt();
            thread.join();
            assertInstanceOf(OutcomeUnknownException.class, thrown.get());
            assertFalse(((OutcomeUnknownException) thrown.get()).isNotApplied());
        }
    }
}
