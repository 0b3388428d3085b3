package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.DeleteRequest;
import io.github.armaturedb.api.v1.PutRequest;
import io.github.armaturedb.api.v1.WriteRequest;
import io.github.armaturedb.client.exception.BatchWriteException;
import java.util.List;

/**
 * Collects puts and deletes and sends them 25 at a time, several batches at once. Writes that the daemon leaves unprocessed are
 * sent again.
 *
 * <pre>{@code
 * try (BatchWriter writer = client.batchWriter()) {
 *     for (User user : users) {
 *         writer.put("users", user);
 *     }
 * }
 * }</pre>
 *
 * <p>{@code put} and {@code delete} wait while too many writes are waiting. Writes of one item are done in their order; others in any order. Nothing more is sent until
 * a flush unless a batch is full.
 *
 * <p>A write that the daemon refuses for good is dropped, and a flush fails with a {@link BatchWriteException} when all other
 * writes are done. After any other error, such as a lost connection, the writes wait: the flush fails, and may be called
 * again. A write may then be done twice. Until that flush nothing is sent, and {@code put} and {@code delete} fail when too many
 * writes are waiting: a write whose {@code put} failed is not taken. Safe for concurrent use: a flush waits for the writes of all threads.
 */
public final class BatchWriter implements AutoCloseable {
    private final BatchState state;

    BatchWriter(BatchState state) {
        this.state = state;
    }

    /** Names the key attributes of a table. Without this the writer asks the daemon once, which needs the right to describe the table. Before the first write of the table. */
    public BatchWriter keys(String table, String... names) {
        state.keys(table, List.of(names));
        return this;
    }

    /** Adds a put of a record or a map. */
    public void put(String table, Object item) {
        WriteRequest request = WriteRequest.newBuilder().setPutRequest(PutRequest.newBuilder().setItem(Mappers.messageOf(item))).build();
        Waiting.await(executor -> state.add(table, request), true);
    }

    /** Adds a delete. */
    public void delete(String table, Object key) {
        WriteRequest request = WriteRequest.newBuilder().setDeleteRequest(DeleteRequest.newBuilder().setKey(Requests.key(key))).build();
        Waiting.await(executor -> state.add(table, request), true);
    }

    /** Sends all waiting writes, and waits until they are done. */
    public void flush() {
        Waiting.await(executor -> state.flush(), true);
    }

    /** Number of writes that are not done. */
    public int pending() {
        return state.pending();
    }

    /** The highest position of the writes that are done, for {@code atLeast}. */
    public long changeSequence() {
        return state.changeSequence();
    }

    /** Sends all waiting writes: see {@link #flush}. Also after an exception in the body of a try statement. */
    @Override
    public void close() {
        flush();
    }
}
