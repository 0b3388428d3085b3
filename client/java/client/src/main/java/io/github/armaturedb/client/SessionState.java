package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.BatchExecuteStatementResponse;
import io.github.armaturedb.api.v1.BatchWriteItemRequest;
import io.github.armaturedb.api.v1.BatchWriteItemResponse;
import io.github.armaturedb.api.v1.DeleteItemResponse;
import io.github.armaturedb.api.v1.DeleteTableRequest;
import io.github.armaturedb.api.v1.ExecuteStatementRequest;
import io.github.armaturedb.api.v1.ExecuteStatementResponse;
import io.github.armaturedb.api.v1.ExecuteTransactionResponse;
import io.github.armaturedb.api.v1.PutItemResponse;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.ScanRequest;
import io.github.armaturedb.api.v1.TransactWriteItem;
import io.github.armaturedb.api.v1.TransactWriteItemsRequest;
import io.github.armaturedb.api.v1.TransactWriteItemsResponse;
import io.github.armaturedb.api.v1.UpdateItemResponse;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps the highest change sequence of the writes to each table, and sets it in each read of an index. Sequences are
 * unsigned. Safe for concurrent use.
 */
final class SessionState {
    private final Map<String, Long> sequences = new HashMap<>();
    private long floor; // of all tables: of statements, which do not tell their table, and of other sessions

    SessionState(long... after) {
        for (long position : after) {
            floor = max(floor, position);
        }
    }

    private static long max(long a, long b) {
        return Long.compareUnsigned(a, b) >= 0 ? a : b;
    }

    /** The name in a name or an ARN. */
    static String tableName(String nameOrArn) {
        int at = nameOrArn.startsWith("arn:") ? nameOrArn.indexOf(":table/") : -1;
        if (at < 0) {
            return nameOrArn;
        }
        String rest = nameOrArn.substring(at + ":table/".length());
        int slash = rest.indexOf('/');
        return slash < 0 ? rest : rest.substring(0, slash);
    }

    private synchronized long sequenceOf(String table) {
        return max(sequences.getOrDefault(tableName(table), 0L), floor);
    }

    synchronized long highest() {
        return sequences.values().stream().reduce(floor, SessionState::max);
    }

    private synchronized void raise(String table, long sequence) {
        if (sequence != 0) {
            sequences.merge(tableName(table), sequence, SessionState::max);
        }
    }

    private synchronized void raiseAll(long sequence) {
        floor = max(floor, sequence);
    }

    /** Drops a deleted table. Writes to a new table of that name have higher sequences than `before`. */
    private synchronized void forget(String table, long before) {
        String name = tableName(table);
        if (Long.compareUnsigned(sequences.getOrDefault(name, 0L), before) <= 0) {
            sequences.remove(name);
        }
    }

    /** To be given to {@link #learn}. */
    long before(Object request) {
        return request instanceof DeleteTableRequest r ? sequenceOf(r.getTableName()) : 0;
    }

    private static boolean isHigher(long sequence, long than) {
        return Long.compareUnsigned(sequence, than) > 0;
    }

    /** The request with the sequence that it must see. */
    @SuppressWarnings("unchecked")
    <Q> Q prepare(Q request) {
        if (request instanceof QueryRequest r && r.hasIndexName()) {
            long sequence = sequenceOf(r.getTableName());
            return isHigher(sequence, r.getAtLeastSequence()) ? (Q) r.toBuilder().setAtLeastSequence(sequence).build() : request;
        } else if (request instanceof ScanRequest r && r.hasIndexName()) {
            long sequence = sequenceOf(r.getTableName());
            return isHigher(sequence, r.getAtLeastSequence()) ? (Q) r.toBuilder().setAtLeastSequence(sequence).build() : request;
        } else if (request instanceof ExecuteStatementRequest r && Repeats.isSelect(r.getStatement())) {
            long sequence = highest();
            return isHigher(sequence, r.getAtLeastSequence()) ? (Q) r.toBuilder().setAtLeastSequence(sequence).build() : request;
        }
        return request;
    }

    /** Remembers the sequence of a successful write. */
    void learn(Object request, Object response, long before) {
        if (response instanceof PutItemResponse r) {
            raise(Repeats.tableOf(request), r.getChangeSequence());
        } else if (response instanceof UpdateItemResponse r) {
            raise(Repeats.tableOf(request), r.getChangeSequence());
        } else if (response instanceof DeleteItemResponse r) {
            raise(Repeats.tableOf(request), r.getChangeSequence());
        } else if (response instanceof BatchWriteItemResponse r) {
            ((BatchWriteItemRequest) request).getRequestItemsMap().keySet().forEach(table -> raise(table, r.getChangeSequence()));
        } else if (response instanceof TransactWriteItemsResponse r) {
            for (TransactWriteItem action : ((TransactWriteItemsRequest) request).getTransactItemsList()) {
                switch (action.getActionCase()) {
                    case PUT -> raise(action.getPut().getTableName(), r.getChangeSequence());
                    case UPDATE -> raise(action.getUpdate().getTableName(), r.getChangeSequence());
                    case DELETE -> raise(action.getDelete().getTableName(), r.getChangeSequence());
                    default -> { }
                }
            }
        } else if (response instanceof ExecuteStatementResponse r) {
            raiseAll(r.getChangeSequence());
        } else if (response instanceof BatchExecuteStatementResponse r) {
            raiseAll(r.getChangeSequence());
        } else if (response instanceof ExecuteTransactionResponse r) {
            raiseAll(r.getChangeSequence());
        } else if (request instanceof DeleteTableRequest r) {
            forget(r.getTableName(), before);
        }
    }
}
