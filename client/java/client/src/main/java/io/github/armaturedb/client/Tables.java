package io.github.armaturedb.client;

import io.github.armaturedb.admin.v1.AdminServiceGrpc;
import io.github.armaturedb.admin.v1.IndexKind;
import io.github.armaturedb.admin.v1.IndexState;
import io.github.armaturedb.admin.v1.IndexStatus;
import io.github.armaturedb.admin.v1.ListIndexStatusRequest;
import io.github.armaturedb.api.v1.DeleteTableRequest;
import io.github.armaturedb.api.v1.DescribeTableRequest;
import io.github.armaturedb.api.v1.GlobalSecondaryIndexDescription;
import io.github.armaturedb.api.v1.ListTablesRequest;
import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.api.v1.TableServiceGrpc;
import io.github.armaturedb.api.v1.TableStatus;
import io.github.armaturedb.client.exception.Failure;
import io.github.armaturedb.client.exception.ResourceNotFoundException;
import io.grpc.Deadline;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** One operation on the definitions of tables, or a wait for them. A wait ends with the timeout of the client. */
final class Tables {
    private static final long POLL_INITIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long POLL_MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Caller caller;
    private final CallChain calls = new CallChain();

    Tables(Caller caller) {
        this.caller = caller;
    }

    CompletableFuture<Void> create(TableSchema schema, Executor executor) {
        return calls.endsWith(calls.runs(caller.start(TableServiceGrpc.getCreateTableMethod(), schema.toRequest(), CallSettings.DEFAULT, executor))
                .thenCompose(created -> untilActive(schema.name(), executor)));
    }

    CompletableFuture<Void> delete(String name, Executor executor) {
        DeleteTableRequest request = DeleteTableRequest.newBuilder().setTableName(name).build();
        return calls.endsWith(calls.runs(caller.start(TableServiceGrpc.getDeleteTableMethod(), request, CallSettings.DEFAULT, executor))
                .thenCompose(deleted -> poll("WaitForTableGone", executor, settings -> describeIfThere(name, settings, executor)
                        .thenApply(table -> table == null ? "" : "the table " + name + " is still " + table.getTableStatus()))));
    }

    CompletableFuture<TableDescription> describe(String name, Executor executor) {
        return calls.endsWith(describe(name, CallSettings.DEFAULT, executor));
    }

    private CompletableFuture<TableDescription> describe(String name, CallSettings settings, Executor executor) {
        DescribeTableRequest request = DescribeTableRequest.newBuilder().setTableName(name).build();
        return calls.runs(caller.start(TableServiceGrpc.getDescribeTableMethod(), request, settings, executor)).thenApply(r -> r.getTable());
    }

    /** Null: the table does not exist. */
    private CompletableFuture<TableDescription> describeIfThere(String name, CallSettings settings, Executor executor) {
        return describe(name, settings, executor).handle((table, failure) -> {
            RuntimeException error = failure == null ? null : Waiting.unchecked(failure);
            if (error != null && !(error instanceof ResourceNotFoundException)) {
                throw error;
            }
            return table;
        });
    }

    CompletableFuture<List<String>> list(Executor executor) {
        return calls.endsWith(list(new ArrayList<>(), ListTablesRequest.getDefaultInstance(), executor));
    }

    private CompletableFuture<List<String>> list(List<String> names, ListTablesRequest request, Executor executor) {
        return calls.runs(caller.start(TableServiceGrpc.getListTablesMethod(), request, CallSettings.DEFAULT, executor)).thenCompose(page -> {
            names.addAll(page.getTableNamesList());
            if (!page.hasLastEvaluatedTableName()) {
                return CompletableFuture.completedFuture(names);
            }
            return list(names, request.toBuilder().setExclusiveStartTableName(page.getLastEvaluatedTableName()).build(), executor);
        });
    }

    CompletableFuture<Void> waitForTable(String name, Executor executor) {
        return calls.endsWith(untilActive(name, executor));
    }

    private CompletableFuture<Void> untilActive(String name, Executor executor) {
        return poll("WaitForTable", executor, settings -> describeIfThere(name, settings, executor).thenApply(table -> {
            if (table == null) {
                return "the table " + name + " does not exist";
            } else if (table.getTableStatus() != TableStatus.TABLE_STATUS_ACTIVE) {
                return "the table " + name + " is " + table.getTableStatus();
            }
            for (GlobalSecondaryIndexDescription index : table.getGlobalSecondaryIndexesList()) {
                if (index.getIndexStatus() != io.github.armaturedb.api.v1.IndexStatus.INDEX_STATUS_ACTIVE) {
                    return "the index " + index.getIndexName() + " is " + index.getIndexStatus();
                }
            }
            return "";
        }));
    }

    CompletableFuture<Void> waitForIndexes(String name, Executor executor) {
        Map<String, Long> wanted = new HashMap<>(); // the end of the log at the first look
        ListIndexStatusRequest request = ListIndexStatusRequest.newBuilder().setTableName(name).build();
        return calls.endsWith(poll("WaitForIndexes", executor, settings ->
                calls.runs(caller.start(AdminServiceGrpc.getListIndexStatusMethod(), request, settings, executor)).thenApply(response -> {
                    for (IndexStatus index : response.getIndexesList()) {
                        if (index.getKind() != IndexKind.INDEX_KIND_GLOBAL) {
                            continue;
                        }
                        long sequence = wanted.computeIfAbsent(index.getIndexName(), n -> index.getLogSequence());
                        if (index.getState() != IndexState.INDEX_STATE_ACTIVE || Long.compareUnsigned(index.getAppliedSequence(), sequence) < 0) {
                            return "the index " + index.getIndexName() + " is at " + Long.toUnsignedString(index.getAppliedSequence()) + " of "
                                    + Long.toUnsignedString(sequence);
                        }
                    }
                    return "";
                })));
    }

    /** Probes, with growing pauses, until nothing is missing. */
    private CompletableFuture<Void> poll(String operation, Executor executor, Function<CallSettings, CompletableFuture<String>> probe) {
        return poll(operation, executor, probe, caller.deadlineOf(CallSettings.DEFAULT), POLL_INITIAL_NANOS);
    }

    private CompletableFuture<Void> poll(
            String operation, Executor executor, Function<CallSettings, CompletableFuture<String>> probe, Deadline deadline, long pause) {
        return probe.apply(CallSettings.DEFAULT.until(deadline)).thenCompose(missing -> {
            if (missing.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            if (deadline.timeRemaining(TimeUnit.NANOSECONDS) <= pause) {
                return CompletableFuture.failedFuture(
                        Failure.local(operation, Status.DEADLINE_EXCEEDED.withDescription(missing)).toException());
            }
            return calls.runs(caller.pause(pause, executor))
                    .thenCompose(end -> poll(operation, executor, probe, deadline, Math.min(2 * pause, POLL_MAX_NANOS)));
        });
    }
}
