package io.github.armaturedb.client;

import io.grpc.Channel;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A client of the daemon, whose methods wait for their results. A program needs one, and all threads share it.
 *
 * <pre>{@code
 * try (ArmatureClient client = ArmatureClient.connect("localhost:7700")) {
 *     Table<User> users = client.table("users", User.class);
 *     users.put(new User("ann", "Ann", 0));
 * }
 * }</pre>
 *
 * <p>It connects at the first call, and again after a lost connection. Failed calls throw an
 * {@link io.github.armaturedb.client.exception.ArmatureException}, arguments that are not valid an
 * {@link IllegalArgumentException} before anything is sent. An interrupt of a waiting thread ends the call.
 *
 * @see ArmatureAsyncClient
 */
public final class ArmatureClient implements AutoCloseable {
    private final Caller caller;
    private final Runnable closes;

    ArmatureClient(Caller caller, Runnable closes) {
        this.caller = caller;
        this.closes = closes;
    }

    /**
     * A client of the daemon at an address: "host:port", "unix:/path", or another target of gRPC. Several addresses of one
     * daemon are tried in their order until one can be connected.
     */
    public static ArmatureClient connect(String... addresses) {
        return builder(addresses).build();
    }

    /** A client with settings: see {@link #connect}. */
    public static ClientBuilder builder(String... addresses) {
        return ClientBuilder.of(addresses);
    }

    /** A client that calls through a channel of the program: a fake, or one with other settings of gRPC. */
    public static ClientBuilder builder(Channel channel) {
        return new ClientBuilder(List.of()).channel(channel);
    }

    /** The same client with futures. */
    public ArmatureAsyncClient async() {
        return new ArmatureAsyncClient(caller, closes);
    }

    /** The addresses. */
    @Override
    public String toString() {
        return "ArmatureClient(" + caller.settings().hints().address() + ")";
    }

    /** Closes the connections, which other faces and sessions of the client share. Calls under way fail. */
    @Override
    public void close() {
        closes.run();
    }

    /** A table whose items are maps. */
    public Table<Item> table(String name) {
        return table(name, Mappers.ITEMS);
    }

    /** A table whose items are records. */
    public <T extends Record> Table<T> table(String name, Class<T> type) {
        return table(name, RecordMapper.of(type));
    }

    /** A table with a mapper of the program. */
    public <T> Table<T> table(String name, ItemMapper<T> mapper) {
        return new Table<>(caller, name, mapper);
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
    public ArmatureClient session(long... after) {
        return new ArmatureClient(new Caller(caller.transport(), caller.settings(), new SessionState(after)), closes);
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
    public BatchWriter batchWriter() {
        return batchWriter(8);
    }

    /** Collects many writes and sends them in batches, so many at once. */
    public BatchWriter batchWriter(int concurrency) {
        if (concurrency < 1 || concurrency > 1000) {
            throw new IllegalArgumentException("concurrency must be 1 to 1000");
        }
        return new BatchWriter(new BatchState(caller, concurrency, CallSettings.DEFAULT));
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
    public long write(TransactWrite transaction) {
        return caller.await(transaction.prepared());
    }

    /** Reads items at one moment, in the order of the keys. */
    public List<Optional<Item>> read(TransactGet transaction) {
        return caller.await(transaction.prepared());
    }

    /** Reads items of any tables, each table in no order. */
    public Map<String, List<Item>> batchGet(BatchGet batch) {
        return Waiting.await(executor -> batch.start(caller, executor));
    }

    /** Executes a PartiQL statement to its end. Gives the items that it returns. */
    public List<Item> execute(Statement statement) {
        return pages(statement).toList();
    }

    /** Executes a PartiQL statement when the pages are read: a SELECT, page by page. */
    public Pages<Item> pages(Statement statement) {
        return new Pages<>(() -> statement.pages(caller));
    }

    /** Creates a table, and waits until it is active. */
    public void createTable(TableSchema schema) {
        Waiting.await(executor -> tables().create(schema, executor));
    }

    /** Deletes a table, and waits until it is gone. */
    public void deleteTable(String name) {
        Waiting.await(executor -> tables().delete(name, executor));
    }

    /** Keys, indexes, settings, state and size of a table. */
    public io.github.armaturedb.api.v1.TableDescription describeTable(String name) {
        return Waiting.await(executor -> tables().describe(name, executor));
    }

    /** The names of all tables. */
    public List<String> listTables() {
        return Waiting.await(executor -> tables().list(executor));
    }

    /** Waits until a table and all its global indexes are active, also if it does not exist yet. */
    public void waitForTable(String name) {
        Waiting.await(executor -> tables().waitForTable(name, executor));
    }

    /** Waits until all global indexes of a table have the writes so far. */
    public void waitForIndexes(String name) {
        Waiting.await(executor -> tables().waitForIndexes(name, executor));
    }

    private Tables tables() {
        return new Tables(caller);
    }
}
