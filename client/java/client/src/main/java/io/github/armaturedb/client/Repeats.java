package io.github.armaturedb.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.github.armaturedb.api.v1.BatchExecuteStatementRequest;
import io.github.armaturedb.api.v1.DeleteItemRequest;
import io.github.armaturedb.api.v1.ExecuteStatementRequest;
import io.github.armaturedb.api.v1.ExecuteTransactionRequest;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.ReturnValues;
import io.github.armaturedb.api.v1.ScanRequest;
import io.github.armaturedb.api.v1.TransactWriteItemsRequest;
import io.github.armaturedb.api.v1.UpdateItemRequest;
import io.grpc.MethodDescriptor;
import java.util.UUID;

/** Which calls may be done twice. */
final class Repeats {
    private Repeats() {}

    /** The call changes nothing. */
    static boolean isRead(MethodDescriptor<?, ?> method, Object request) {
        if (request instanceof ExecuteStatementRequest r) {
            return isSelect(r.getStatement());
        } else if (request instanceof BatchExecuteStatementRequest r) {
            return r.getStatementsList().stream().allMatch(s -> isSelect(s.getStatement()));
        }
        return method.isSafe();
    }

    /** Doing the call twice leaves the same data and gives an equivalent answer. */
    static boolean isHarmless(MethodDescriptor<?, ?> method, Object request) {
        if (method.isSafe() || method.isIdempotent()) {
            return true;
        } else if (request instanceof PutItemRequest r) {
            return r.getConditionExpression().isEmpty() && r.getExpectedCount() == 0 && returnsNothing(r.getReturnValues());
        } else if (request instanceof DeleteItemRequest r) {
            return r.getConditionExpression().isEmpty() && r.getExpectedCount() == 0 && returnsNothing(r.getReturnValues());
        } else if (request instanceof TransactWriteItemsRequest r) {
            return !r.getClientRequestToken().isEmpty();
        } else if (request instanceof ExecuteTransactionRequest r) {
            return !r.getClientRequestToken().isEmpty();
        }
        return isRead(method, request);
    }

    /** A second attempt would return the item of the first one. */
    private static boolean returnsNothing(ReturnValues values) {
        return values == ReturnValues.RETURN_VALUES_UNSPECIFIED || values == ReturnValues.RETURN_VALUES_NONE;
    }

    static boolean isSelect(String statement) {
        String text = statement.strip();
        return text.length() > 6 && text.regionMatches(true, 0, "select", 0, 6);
    }

    /** A transaction gets a token, so that all attempts are one transaction. */
    @SuppressWarnings("unchecked")
    static <Q> Q withToken(Q request) {
        if (request instanceof TransactWriteItemsRequest r && !r.hasClientRequestToken()) {
            return (Q) r.toBuilder().setClientRequestToken(newToken()).build();
        } else if (request instanceof ExecuteTransactionRequest r && !r.hasClientRequestToken()) {
            return (Q) r.toBuilder().setClientRequestToken(newToken()).build();
        }
        return request;
    }

    static String newToken() {
        return UUID.randomUUID().toString();
    }

    /** The table of a request on one table, or empty. */
    static String tableOf(Object request) {
        if (request instanceof GetItemRequest r) {
            return r.getTableName();
        } else if (request instanceof PutItemRequest r) {
            return r.getTableName();
        } else if (request instanceof UpdateItemRequest r) {
            return r.getTableName();
        } else if (request instanceof DeleteItemRequest r) {
            return r.getTableName();
        } else if (request instanceof QueryRequest r) {
            return r.getTableName();
        } else if (request instanceof ScanRequest r) {
            return r.getTableName();
        } else if (request instanceof Message message) {
            FieldDescriptor field = message.getDescriptorForType().findFieldByName("table_name");
            return field == null || field.getJavaType() != FieldDescriptor.JavaType.STRING ? "" : (String) message.getField(field);
        }
        return "";
    }
}
