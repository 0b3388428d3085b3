package io.github.armaturedb.client;

import com.google.protobuf.ByteString;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.BatchWriteItemRequest;
import io.github.armaturedb.api.v1.BatchWriteItemResponse;
import io.github.armaturedb.api.v1.DescribeTableRequest;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.KeySchemaElement;
import io.github.armaturedb.api.v1.TableServiceGrpc;
import io.github.armaturedb.api.v1.WriteRequest;
import io.github.armaturedb.api.v1.WriteRequestList;
import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.BatchWriteException;
import io.github.armaturedb.client.exception.Failure;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The writes of a batch writer. Safe for concurrent use. */
final class BatchState {
    private static final int BATCH_WRITES_MAX = 25;
    private static final int FRAMING_BYTES_MAX = 32; // tags and lengths around a write and its table name
    private static final int LOOK_AHEAD = 2000; // waiting writes that are looked at for a batch
    private static final int FAILED_MAX = 1000; // failed writes that an error holds
    private static final int WAITING_MAX = 200_000; // of a program that does not wait for the futures

    /** Exceptions with which the daemon would refuse the same batch every time. */
    private static final Set<String> FOR_GOOD = Set.of("ValidationException", "SerializationException", "ResourceNotFoundException",
            "AccessDeniedException", "ItemCollectionSizeLimitExceededException");

    /** Identifies an item: its table and its key, in a form in which equal keys are equal. */
    private record Id(String table, List<Object> key) {}

    private record Write(String table, WriteRequest request, Id id, int bytes) {}

    private final Caller caller;
    private final CallSettings settings;
    private final int concurrency;
    private final int bytesMax;
    private final Map<String, CompletableFuture<List<String>>> schemas = new ConcurrentHashMap<>();

    /** The last write of each table that came before its key was known: ends when that write is added. */
    private final Map<String, CompletableFuture<Void>> early = new ConcurrentHashMap<>();

    private final AtomicInteger earlyCount = new AtomicInteger();

    // All guarded by this.
    private final Deque<Write> waiting = new ArrayDeque<>();
    private final Set<Id> busy = new HashSet<>();
    private long waitingBytes;
    private int inFlight;
    private int flushing;
    private Throwable stalled; // the reason why nothing is sent until the next flush
    private final List<BatchWriteException.Failed> failed = new ArrayList<>();
    private long failedCount;
    private long changeSequence;
    private CompletableFuture<Void> progress = new CompletableFuture<>();

    BatchState(Caller caller, int concurrency, CallSettings settings) {
        this.caller = caller;
        this.concurrency = concurrency;
        this.settings = settings;
        bytesMax = 2 * Caller.REQUEST_BYTES_MAX;
    }

    void keys(String table, List<String> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("a table has one or two key attributes");
        }
        CompletableFuture<List<String>> known = schemas.putIfAbsent(table, CompletableFuture.completedFuture(List.copyOf(names)));
        if (known != null && !(known.isDone() && !known.isCompletedExceptionally() && known.join().equals(names))) {
            // Writes that are under way are identified by the other names.
            throw new IllegalStateException("the keys of " + table + " must be named before its first write, and once");
        }
    }

    synchronized int pending() {
        return waiting.size() + busy.size();
    }

    synchronized long changeSequence() {
        return changeSequence;
    }

    /** The future ends when the write is taken: later, if too many are waiting. */
    CompletableFuture<Void> add(String table, WriteRequest request) {
        int bytes = table.length() * 3 + request.getSerializedSize() + FRAMING_BYTES_MAX;
        if (bytes > Caller.REQUEST_BYTES_MAX) {
            Status status = Status.RESOURCE_EXHAUSTED.withDescription("the item is larger than a request may be");
            return CompletableFuture.failedFuture(Failure.local("BatchWriteItem", status).toException());
        }
        CompletableFuture<List<String>> schema = schemas.get(table);
        if (schema == null) {
            CompletableFuture<List<String>> asked = new CompletableFuture<>();
            schema = schemas.putIfAbsent(table, asked);
            if (schema == null) {
                schema = asked;
                describe(table, schema);
            }
        }
        CompletableFuture<Void> last = early.get(table);
        if (schema.isDone() && !schema.isCompletedExceptionally() && (last == null || last.isDone())) {
            return enqueue(table, request, bytes, schema.join());
        }
        return addEarly(table, request, bytes, schema);
    }

    /** The key of the table is not known yet. The writes are added in the order in which they came. */
    private CompletableFuture<Void> addEarly(String table, WriteRequest request, int bytes, CompletableFuture<List<String>> schema) {
        if (earlyCount.incrementAndGet() > WAITING_MAX) {
            earlyCount.decrementAndGet();
            return CompletableFuture.failedFuture(tooMany());
        }
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> before = early.put(table, mine);
        CompletableFuture<Void> result = new CompletableFuture<>();
        (before == null ? CompletableFuture.<Void>completedFuture(null) : before).whenComplete((end, ignored) -> schema.whenComplete((names, failure) -> {
            CompletableFuture<Void> added = failure == null ? enqueue(table, request, bytes, names) : CompletableFuture.failedFuture(Waiting.causeOf(failure));
            earlyCount.decrementAndGet();
            mine.complete(null);
            added.whenComplete((e, error) -> {
                if (error == null) {
                    result.complete(null);
                } else {
                    result.completeExceptionally(Waiting.causeOf(error));
                }
            });
        }));
        return result;
    }

    private static IllegalStateException tooMany() {
        return new IllegalStateException("too many writes are waiting: wait for the futures");
    }

    private void describe(String table, CompletableFuture<List<String>> schema) {
        call(TableServiceGrpc.getDescribeTableMethod(), DescribeTableRequest.newBuilder().setTableName(table).build())
                .whenComplete((response, failure) -> {
                    if (failure == null) {
                        schema.complete(response.getTable().getKeySchemaList().stream().map(KeySchemaElement::getAttributeName).toList());
                        return;
                    }
                    schemas.remove(table, schema);
                    schema.completeExceptionally(Waiting.causeOf(failure));
                });
    }

    /**
     * Begins a call of all users of the writer: it does not end with the gRPC context of the thread that happens to begin it.
     * Whatever is thrown is in the future, because the writes of the call would be lost otherwise.
     */
    private <Q, R> CompletableFuture<R> call(MethodDescriptor<Q, R> method, Q request) {
        Context previous = Context.ROOT.attach();
        try {
            return caller.start(method, request, settings, null);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            Context.ROOT.detach(previous);
        }
    }

    private CompletableFuture<Void> enqueue(String table, WriteRequest request, int bytes, List<String> keyNames) {
        Map<String, AttributeValue> attributes = attributesOf(request);
        for (String name : keyNames) {
            if (!attributes.containsKey(name)) {
                return CompletableFuture.failedFuture(
                        new IllegalArgumentException("the item lacks the key attribute " + name + " of the table " + table));
            }
        }
        Id id = idOf(table, attributes, keyNames);
        synchronized (this) {
            if (waiting.size() >= WAITING_MAX) {
                return CompletableFuture.failedFuture(tooMany());
            }
            if (stalled != null && isFull()) {
                return CompletableFuture.failedFuture(stalled); // not taken, so that the program may give it again
            }
            waiting.add(new Write(table, request, id, bytes));
            waitingBytes += bytes;
        }
        pump();
        return untilRoom();
    }

    private static Map<String, AttributeValue> attributesOf(WriteRequest request) {
        return request.hasPutRequest() ? request.getPutRequest().getItem().getAttributesMap() : request.getDeleteRequest().getKey().getAttributesMap();
    }

    private static Id idOf(String table, Map<String, AttributeValue> attributes, List<String> keyNames) {
        List<Object> key = new ArrayList<>(keyNames.size());
        for (String name : keyNames) {
            AttributeValue value = attributes.get(name);
            key.add(switch (value.getValueCase()) {
                case S -> value.getS();
                case N -> numberOf(value.getN());
                case B -> value.getB();
                default -> value; // the daemon refuses it
            });
        }
        return new Id(table, key);
    }

    private static Object numberOf(String text) {
        try {
            return new java.math.BigDecimal(text).stripTrailingZeros();
        } catch (NumberFormatException e) {
            return ByteString.copyFromUtf8(text);
        }
    }

    private CompletableFuture<Void> untilRoom() {
        CompletableFuture<Void> next;
        synchronized (this) {
            if (!isFull()) {
                return CompletableFuture.completedFuture(null);
            }
            if (stalled != null) {
                return CompletableFuture.completedFuture(null); // this write is taken; the next one fails
            }
            next = progress;
        }
        return next.thenCompose(end -> untilRoom());
    }

    /** Guarded by this. */
    private boolean isFull() {
        return waiting.size() > concurrency * BATCH_WRITES_MAX * 2 || waitingBytes > bytesMax;
    }

    /** Sends all waiting writes. The future ends when they are done, or with the reason why some are not. */
    CompletableFuture<Void> flush() {
        // Writes of tables whose key is not known yet are not among the waiting ones.
        return CompletableFuture.allOf(early.values().toArray(CompletableFuture<?>[]::new)).thenCompose(end -> flushWaiting());
    }

    private CompletableFuture<Void> flushWaiting() {
        synchronized (this) {
            stalled = null;
            flushing++;
        }
        pump();
        return untilIdle().whenComplete((end, failure) -> {
            synchronized (this) {
                flushing--;
            }
        });
    }

    private CompletableFuture<Void> untilIdle() {
        CompletableFuture<Void> next;
        synchronized (this) {
            if (inFlight == 0 && stalled != null) {
                return CompletableFuture.failedFuture(stalled);
            }
            if (inFlight == 0 && waiting.isEmpty()) {
                if (failedCount == 0) {
                    return CompletableFuture.completedFuture(null);
                }
                BatchWriteException error = new BatchWriteException(failed, failedCount);
                failed.clear();
                failedCount = 0;
                return CompletableFuture.failedFuture(error);
            }
            next = progress;
        }
        return next.thenCompose(end -> untilIdle());
    }

    /** Begins as many batches as there may be. */
    private void pump() {
        while (true) {
            List<Write> batch;
            synchronized (this) {
                boolean sendsParts = flushing > 0 || isFull(); // fewer writes than possible
                if (inFlight >= concurrency || stalled != null || waiting.size() < (sendsParts ? 1 : BATCH_WRITES_MAX)) {
                    return;
                }
                batch = takeBatch(sendsParts);
                if (batch.isEmpty()) {
                    return;
                }
                inFlight++;
            }
            send(batch, 0).whenComplete((left, failure) -> finished(batch, left, failure));
        }
    }

    /** Writes of different items, none of which is in flight. An earlier write of an item goes before a later one. Guarded by this. */
    private List<Write> takeBatch(boolean sendsParts) {
        List<Write> batch = new ArrayList<>(BATCH_WRITES_MAX);
        Set<Id> passed = new HashSet<>();
        int bytes = 0;
        int looked = 0;
        for (Write write : waiting) {
            if (batch.size() == BATCH_WRITES_MAX || ++looked > LOOK_AHEAD || bytes + write.bytes > Caller.REQUEST_BYTES_MAX) {
                break;
            }
            if (passed.add(write.id) && !busy.contains(write.id)) {
                batch.add(write);
                bytes += write.bytes;
            }
        }
        if (!sendsParts && batch.size() < BATCH_WRITES_MAX && looked == waiting.size()) {
            return List.of();
        }
        Iterator<Write> all = waiting.iterator();
        for (int taken = 0; taken < batch.size();) {
            if (all.next() == batch.get(taken)) {
                all.remove();
                ++taken;
            }
        }
        waitingBytes -= bytes;
        batch.forEach(write -> busy.add(write.id));
        return batch;
    }

    private void finished(List<Write> batch, List<Write> left, Throwable failure) {
        CompletableFuture<Void> wake;
        synchronized (this) {
            List<Write> back = failure == null ? left : batch;
            if (failure != null && stalled == null) {
                stalled = Waiting.causeOf(failure);
            }
            for (int i = back.size() - 1; i >= 0; --i) {
                waiting.addFirst(back.get(i));
                waitingBytes += back.get(i).bytes;
            }
            batch.forEach(write -> busy.remove(write.id));
            inFlight--;
            wake = progress;
            progress = new CompletableFuture<>();
        }
        pump();
        wake.complete(null);
    }

    /** Sends writes until they are done or dropped. Gives those that still wait, after an error that stalls. */
    private CompletableFuture<List<Write>> send(List<Write> batch, int fruitless) {
        if (batch.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        return call(ItemServiceGrpc.getBatchWriteItemMethod(), requestOf(batch))
                .handle((response, failure) -> failure == null ? answered(batch, response, fruitless) : refused(batch, Waiting.causeOf(failure)))
                .thenCompose(next -> next);
    }

    private static BatchWriteItemRequest requestOf(List<Write> batch) {
        Map<String, WriteRequestList.Builder> tables = new HashMap<>();
        batch.forEach(write -> tables.computeIfAbsent(write.table, table -> WriteRequestList.newBuilder()).addRequests(write.request));
        BatchWriteItemRequest.Builder request = BatchWriteItemRequest.newBuilder();
        tables.forEach((table, list) -> request.putRequestItems(table, list.build()));
        return request.build();
    }

    private CompletableFuture<List<Write>> answered(List<Write> batch, BatchWriteItemResponse response, int fruitlessBefore) {
        Set<Id> unprocessed = new HashSet<>();
        response.getUnprocessedItemsMap().forEach((table, list) -> {
            CompletableFuture<List<String>> schema = schemas.get(table);
            List<String> names = schema == null ? List.of() : schema.join();
            list.getRequestsList().forEach(request -> unprocessed.add(idOf(table, attributesOf(request), names)));
        });
        synchronized (this) {
            if (Long.compareUnsigned(response.getChangeSequence(), changeSequence) > 0) {
                changeSequence = response.getChangeSequence();
            }
        }
        List<Write> matched = batch.stream().filter(write -> unprocessed.contains(write.id)).toList();
        // A write that was not done must not be dropped because it is not recognized: all are written again then.
        List<Write> left = matched.size() == unprocessed.size() ? matched : batch;
        if (left.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        int fruitless = left.size() == batch.size() ? fruitlessBefore + 1 : 0;
        RetryPolicy retry = caller.settings().retry();
        if (fruitless >= Math.max(retry.attempts(), 2)) {
            stall(Failure.local("BatchWriteItem", Status.RESOURCE_EXHAUSTED.withDescription("the daemon takes no writes now")).toException());
            return CompletableFuture.completedFuture(left);
        }
        return caller.pause(retry.pauseNanos(fruitless + 1, Duration.ZERO), null).thenCompose(end -> send(left, fruitless));
    }

    private synchronized void stall(Throwable reason) {
        stalled = stalled == null ? reason : stalled;
    }

    /** The daemon does not say which write it refuses: halves of the batch are sent until the write is found. */
    private CompletableFuture<List<Write>> refused(List<Write> batch, Throwable error) {
        if (!(error instanceof ArmatureException refusal) || !FOR_GOOD.contains(refusal.exception())) {
            stall(error);
            return CompletableFuture.completedFuture(batch);
        }
        if (batch.size() > 1) {
            int half = batch.size() / 2;
            List<Write> rest = batch.subList(half, batch.size());
            return send(batch.subList(0, half), 0).thenCompose(left -> {
                if (left.isEmpty()) {
                    return send(rest, 0);
                }
                List<Write> all = new ArrayList<>(left);
                all.addAll(rest);
                return CompletableFuture.completedFuture(all);
            });
        }
        Write write = batch.get(0);
        synchronized (this) {
            if (++failedCount <= FAILED_MAX) {
                Item item = new Item(attributesOf(write.request));
                failed.add(new BatchWriteException.Failed(write.table, item, write.request.hasDeleteRequest(), refusal));
            }
        }
        return CompletableFuture.completedFuture(List.of());
    }
}
