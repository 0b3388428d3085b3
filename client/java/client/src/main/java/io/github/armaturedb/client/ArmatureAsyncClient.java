package io.github.armaturedb.client;

import io.grpc.Channel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A client of the daemon, whose methods give futures. It is the other face of an {@link ArmatureClient}, with the same
 * connections.
 *
 * <p>What follows on a future runs in the executor of the client. Failed calls end futures with an
 * {@link io.github.armaturedb.client.exception.ArmatureException}; arguments that are not valid throw an
 * {@link IllegalArgumentException} at once. Cancelling a future ends its call.
 */
public final class ArmatureAsyncClient implements AutoCloseable {
    private final Caller caller;
    private final Runnable closes;

    ArmatureAsyncClient(Caller caller, Runnable closes) {
        this.caller = caller;
        this.closes = closes;
    }

    /** The same client with methods that wait. */
    public ArmatureClient sync() {
        return new ArmatureClient(caller, closes);
    }

    /** The addresses. */
    @Override
    public String toString() {
        return "ArmatureAsyncClient(" + caller.settings().hints().address() + ")";
    }

    /** Closes the connections, which other faces and sessions of the client share. Calls under way fail. */
    @Override
    public void close() {
        closes.run();
    }

    /** A table whose items are maps. */
    public AsyncTable<Item> table(String name) {
        return table(name, Mappers.ITEMS);
    }

    /** A table whose items are records. */
    public <T extends Record> AsyncTable<T> table(String name, Class<T> type) {
        return table(name, RecordMapper.of(type));
    }

    /** A table with a mapper of the program. */
    public <T> AsyncTable<T> table(String name, ItemMapper<T> mapper) {
        return new AsyncTable<>(caller, name, mapper);
    }

    /**
     * A client that shares the connections and reads its own writes on global indexes, which follow their table with a short
     * delay: a query or scan of an index waits until the index has the writes that were made through the session. Reads of
     * tables are not concerned: use {@code consistent()}.
     *
     * <p>Other writes, and those whose outcome is unknown, are not waited for. After the daemon was replaced by an older copy of
     * its data, reads of indexes fail with a ValidationException; begin a new session then.
     *
     * @param after positions that the session must see, too: of a {@link WriteResult}, or of another session, also of another
     *     process
     */
    public ArmatureAsyncClient session(long... after) {
        return new ArmatureAsyncClient(new Caller(caller.transport(), caller.settings(), new SessionState(after)), closes);
    }

    /** The position of the last write of a session, unsigned. 0: the client has no session, or it has written nothing. */
    public long position() {
        return caller.session() == null ? 0 : caller.session().highest();
    }

    /**
     * A channel for generated stubs of the whole API, such as {@code TableServiceGrpc.newBlockingStub(client.channel())}. Their
     * unary calls have the deadlines, repeats and sessions of this client; the cause of a StatusRuntimeException is the
     * ArmatureException.
     */
    public Channel channel() {
        return new RepeatingChannel(caller);
    }

    /** Collects many writes and sends them in batches, eight at once. */
    public AsyncBatchWriter batchWriter() {
        return batchWriter(8);
    }

    /** Collects many writes and sends them in batches, so many at once. */
    public AsyncBatchWriter batchWriter(int concurrency) {
        if (concurrency < 1 || concurrency > 1000) {
            throw new IllegalArgumentException("concurrency must be 1 to 1000");
        }
        return new AsyncBatchWriter(new BatchState(caller, concurrency, CallSettings.DEFAULT));
    }

    /** Many operations over one stream, at most 256 of them and 16 MB outstanding. */
    public Pipeline pipeline() {
        return pipeline(256, 16 << 20);
    }

    /** Many operations over one stream, with bounds on those outstanding. A larger request is sent alone. */
    public Pipeline pipeline(int inFlight, long inFlightBytes) {
        if (inFlight < 1 || inFlightBytes < 1) {
            throw new IllegalArgumentException("the bounds of a pipeline must be positive");
        }
        return new Pipeline(caller, inFlight, inFlightBytes);
    }

    /** Does the actions of a transaction, all or none. Gives the position of the writes. */
    public CompletableFuture<Long> write(TransactWrite transaction) {
        return caller.start(transaction.prepared(), null);
    }

    /** Reads items at one moment, in the order of the keys. */
    public CompletableFuture<List<Optional<Item>>> read(TransactGet transaction) {
        return caller.start(transaction.prepared(), null);
    }

    /** Reads items of any tables, each table in no order. */
    public CompletableFuture<Map<String, List<Item>>> batchGet(BatchGet batch) {
        return batch.start(caller, null);
    }

    /** Executes a PartiQL statement. Gives the items that it returns. */
    public CompletableFuture<List<Item>> execute(Statement statement) {
        return pages(statement).toList();
    }

    /** Executes a PartiQL statement when the pages are read: a SELECT, page by page. */
    public AsyncPages<Item> pages(Statement statement) {
        return new AsyncPages<>(() -> statement.pages(caller));
    }

    /** Creates a table, and waits until it is active. */
    public CompletableFuture<Void> createTable(TableSchema schema) {
        return tables().create(schema, null);
    }

    /** Deletes a table, and waits until it is gone. */
    public CompletableFuture<Void> deleteTable(String name) {
        return tables().delete(name, null);
    }

    /** Keys, indexes, settings, state and size of a table. */
    public CompletableFuture<io.github.armaturedb.api.v1.TableDescription> describeTable(String name) {
        return tables().describe(name, null);
    }

    /** The names of all tables. */
    public CompletableFuture<List<String>> listTables() {
        return tables().list(null);
    }

    /** Waits until a table and all its global indexes are active, also if it does not exist yet. */
    public CompletableFuture<Void> waitForTable(String name) {
        return tables().waitForTable(name, null);
    }

    /** Waits until all global indexes of a table have the writes so far. */
    public CompletableFuture<Void> waitForIndexes(String name) {
        return tables().waitForIndexes(name, null);
    }

    private Tables tables() {
        return new Tables(caller);
    }
}
