package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.ExecuteStatementRequest;
import io.github.armaturedb.api.v1.StatementServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A PartiQL statement with its parameters. Immutable.
 *
 * <pre>{@code
 * client.execute(Statement.of("SELECT * FROM users WHERE id = ?", "ann"))
 * }</pre>
 */
public final class Statement {
    private final ExecuteStatementRequest request;
    private final CallSettings settings;

    private Statement(ExecuteStatementRequest request, CallSettings settings) {
        this.request = request;
        this.settings = settings;
    }

    /** A statement whose parameters stand for its question marks. */
    public static Statement of(String text, Object... parameters) {
        ExecuteStatementRequest.Builder request = ExecuteStatementRequest.newBuilder().setStatement(text);
        for (int i = 0; i < parameters.length; ++i) {
            request.addParameters(Values.encode(parameters[i], "parameter " + (i + 1)));
        }
        return new Statement(request.build(), CallSettings.DEFAULT);
    }

    /** Reads every write that was done before. */
    public Statement consistent() {
        return new Statement(request.toBuilder().setConsistentRead(true).build(), settings);
    }

    /** The largest number of items of a page. */
    public Statement pageSize(int items) {
        return new Statement(request.toBuilder().setLimit(items).build(), settings);
    }

    /** The time of each call. */
    public Statement timeout(Duration timeout) {
        return new Statement(request, new CallSettings(CallSettings.checkTimeout(timeout), null, settings.isIdempotent()));
    }

    /** The statement may be executed twice without harm. */
    public Statement idempotent() {
        return new Statement(request, new CallSettings(settings.timeout(), null, true));
    }

    Source<Page<Item>> pages(Caller caller) {
        return new Source<>() {
            private String token; // null: the beginning
            private boolean hasEnded;

            @Override
            public CompletableFuture<Page<Item>> next(Executor executor) {
                if (hasEnded) {
                    return CompletableFuture.completedFuture(null);
                }
                ExecuteStatementRequest page = token == null ? request : request.toBuilder().setNextToken(token).build();
                return caller.start(StatementServiceGrpc.getExecuteStatementMethod(), page, settings, executor).thenApply(r -> {
                    token = r.getNextToken();
                    hasEnded = !r.hasNextToken();
                    List<Item> items = r.getItemsList().stream().map(Item::of).toList();
                    return new Page<>(items, items.size(), items.size(),
                            r.hasLastEvaluatedKey() ? Optional.of(Item.of(r.getLastEvaluatedKey())) : Optional.empty());
                });
            }
        };
    }
}
