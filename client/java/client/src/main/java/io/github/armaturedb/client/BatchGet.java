package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.BatchGetItemRequest;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.KeysAndAttributes;
import io.github.armaturedb.client.exception.Failure;
import io.grpc.Deadline;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The keys of a batch read, of any tables and in any number. Not safe for concurrent use. */
public final class BatchGet {
    private static final int KEYS_MAX = 100;

    private record Key(String table, io.github.armaturedb.api.v1.Item key) {}

    private final Map<String, KeysAndAttributes> tables = new LinkedHashMap<>(); // their settings, without keys
    private final List<Key> keys = new ArrayList<>();
    private CallSettings settings = CallSettings.DEFAULT;

    /** A batch read without keys. */
    public BatchGet() {}

    /** Adds keys of a table. */
    public BatchGet keys(String table, Iterable<?> wanted) {
        return keys(table, wanted, o -> {});
    }

    /** Adds keys of a table. The options are for all its keys; the timeout is for each call. */
    public BatchGet keys(String table, Iterable<?> wanted, Consumer<GetOptions> change) {
        GetOptions options = new GetOptions();
        change.accept(options);
        KeysAndAttributes.Builder head = KeysAndAttributes.newBuilder();
        Binder binder = Requests.binderOf(options, options.projection);
        if (options.projection != null) {
            head.setProjectionExpression(options.projection.compile(binder)).putAllExpressionAttributeNames(binder.names());
        }
        binder.finish();
        if (options.isConsistent) {
            head.setConsistentRead(true);
        }
        if (options.settings().timeout() != null) {
            settings = options.settings();
        }
        KeysAndAttributes before = tables.putIfAbsent(table, head.build());
        if (before != null && !before.equals(head.build())) {
            throw new IllegalArgumentException("the keys of the table " + table + " have other options already");
        }
        wanted.forEach(key -> keys.add(new Key(table, Requests.key(key))));
        return this;
    }

    CompletableFuture<Map<String, List<Item>>> start(Caller caller, Executor executor) {
        Map<String, List<Item>> found = new LinkedHashMap<>();
        tables.keySet().forEach(table -> found.put(table, new ArrayList<>()));
        Run run = new Run(caller, executor, new ArrayDeque<>(keys), found);
        return run.calls.endsWith(run.next());
    }

    private final class Run {
        private final CallChain calls = new CallChain();
        private final Caller caller;
        private final Executor executor;
        private final Deque<Key> waiting;
        private final Map<String, List<Item>> found;
        private Deadline deadline; // of a call and what it leaves
        private int fruitless;

        Run(Caller caller, Executor executor, Deque<Key> waiting, Map<String, List<Item>> found) {
            this.caller = caller;
            this.executor = executor;
            this.waiting = waiting;
            this.found = found;
        }

        CompletableFuture<Map<String, List<Item>>> next() {
            if (waiting.isEmpty()) {
                return CompletableFuture.completedFuture(found);
            }
            if (fruitless == 0) {
                deadline = caller.deadlineOf(settings);
            }
            Map<String, KeysAndAttributes.Builder> asked = new LinkedHashMap<>();
            int count = 0;
            for (; count < KEYS_MAX && !waiting.isEmpty(); ++count) {
                Key key = waiting.poll();
                asked.computeIfAbsent(key.table, table -> tables.get(table).toBuilder()).addKeys(key.key);
            }
            BatchGetItemRequest.Builder request = BatchGetItemRequest.newBuilder();
            asked.forEach((table, list) -> request.putRequestItems(table, list.build()));
            int all = count;
            return calls.runs(caller.start(ItemServiceGrpc.getBatchGetItemMethod(), request.build(), settings.until(deadline), executor))
                    .thenCompose(response -> {
                        response.getResponsesMap().forEach(
                                (table, list) -> list.getItemsList().forEach(i -> found.get(table).add(Item.of(i))));
                        int left = 0;
                        for (Map.Entry<String, KeysAndAttributes> entry : response.getUnprocessedKeysMap().entrySet()) {
                            for (io.github.armaturedb.api.v1.Item key : entry.getValue().getKeysList()) {
                                waiting.addFirst(new Key(entry.getKey(), key));
                                ++left;
                            }
                        }
                        fruitless = left == all ? fruitless + 1 : 0;
                        return fruitless == 0 ? next() : pauseAndNext();
                    });
        }

        private CompletableFuture<Map<String, List<Item>>> pauseAndNext() {
            long pause = caller.settings().retry().pauseNanos(fruitless, java.time.Duration.ZERO);
            if (fruitless >= caller.settings().retry().attempts() || deadline.timeRemaining(TimeUnit.NANOSECONDS) <= pause) {
                Status status = Status.DEADLINE_EXCEEDED.withDescription("the daemon reads no part of the batch now");
                return CompletableFuture.failedFuture(Failure.local("BatchGetItem", status).toException());
            }
            return calls.runs(caller.pause(pause, executor)).thenCompose(end -> next());
        }
    }
}
