package io.github.armaturedb.client;

/**
 * Carries many concurrent operations on items over one stream. An operation costs less than half of a call.
 *
 * <pre>{@code
 * try (Pipeline pipeline = client.pipeline()) {
 *     AsyncTable<User> users = pipeline.client().table("users", User.class);
 *     var writes = all.stream().map(users::put).toList();
 *     CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).join();
 * }
 * }</pre>
 *
 * <p>Operations have the same errors and session as calls. They wait while too many are outstanding, except in what follows
 * on a future of a pipeline. That runs in the thread that receives the answers: it must not wait for other operations of the
 * pipeline; {@code thenApplyAsync} and the like may.
 *
 * <p>The stream is opened by the first operation, and again after it was lost. Operations without an answer then fail,
 * writes with an OutcomeUnknownException: also those that a call would repeat, because later ones may depend on them.
 * Idempotent ones, and those that the daemon has refused for a passing reason, are repeated like calls. Safe for concurrent
 * use.
 */
public final class Pipeline implements AutoCloseable {
    private final PipelineTransport transport;
    private final ArmatureAsyncClient client;

    Pipeline(Caller caller, int inFlight, long inFlightBytes) {
        transport = new PipelineTransport(caller.transport(), caller.settings(), inFlight, inFlightBytes);
        client = new ArmatureAsyncClient(new Caller(transport, caller.settings(), caller.session()), transport::close);
    }

    /** A client whose operations on items go over the stream. Its other operations are calls. */
    public ArmatureAsyncClient client() {
        return client;
    }

    /** Ends the stream. Operations without an answer fail, and so do later ones: wait for their futures before. */
    @Override
    public void close() {
        transport.close();
    }
}
