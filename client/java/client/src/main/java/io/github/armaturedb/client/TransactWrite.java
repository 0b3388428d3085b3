package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.ConditionCheck;
import io.github.armaturedb.api.v1.Delete;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.Put;
import io.github.armaturedb.api.v1.ReturnValuesOnConditionCheckFailure;
import io.github.armaturedb.api.v1.TransactWriteItem;
import io.github.armaturedb.api.v1.TransactWriteItemsRequest;
import io.github.armaturedb.api.v1.TransactWriteItemsResponse;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The actions of a transaction: up to a hundred, all or none of which are done. Each has parameters of its own.
 *
 * <pre>{@code
 * client.write(new TransactWrite()
 *         .put("orders", order, o -> o.condition("attribute_not_exists(customer)"))
 *         .update("users", Map.of("id", "ann"), "SET orders = orders + $n", o -> o.param("n", 1)));
 * }</pre>
 *
 * <p>A transaction has a token, so that it is applied once even if its answer is lost and it is repeated. Not safe for
 * concurrent use.
 */
public final class TransactWrite {
    private final TransactWriteItemsRequest.Builder request = TransactWriteItemsRequest.newBuilder();
    private CallSettings settings = CallSettings.DEFAULT;

    /** A transaction without actions. Its token is its own from now on, so that a program may write the same object again. */
    public TransactWrite() {
        request.setClientRequestToken(Repeats.newToken());
    }

    private static ActionOptions changed(Consumer<ActionOptions> change) {
        ActionOptions options = new ActionOptions();
        change.accept(options);
        return options;
    }

    private static ReturnValuesOnConditionCheckFailure onFailure(ActionOptions options) {
        return options.returnsItemOnFailure
                ? Requests.OLD_ON_FAILURE
                : ReturnValuesOnConditionCheckFailure.RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_UNSPECIFIED;
    }

    /** Puts a record or a map. */
    public TransactWrite put(String table, Object item) {
        return put(table, item, o -> {});
    }

    /** Puts a record or a map. */
    public TransactWrite put(String table, Object item, Consumer<ActionOptions> change) {
        ActionOptions options = changed(change);
        Put.Builder put = Put.newBuilder().setTableName(table).setItem(Mappers.messageOf(item));
        Binder binder = Requests.binderOf(options, options.condition);
        if (options.condition != null) {
            put.setConditionExpression(options.condition.compile(binder));
        }
        binder.finish();
        put.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        request.addTransactItems(TransactWriteItem.newBuilder().setPut(put.setReturnValuesOnConditionCheckFailure(onFailure(options))));
        return this;
    }

    /** Deletes an item. */
    public TransactWrite delete(String table, Object key) {
        return delete(table, key, o -> {});
    }

    /** Deletes an item. */
    public TransactWrite delete(String table, Object key, Consumer<ActionOptions> change) {
        ActionOptions options = changed(change);
        Delete.Builder delete = Delete.newBuilder().setTableName(table).setKey(Requests.key(key));
        Binder binder = Requests.binderOf(options, options.condition);
        if (options.condition != null) {
            delete.setConditionExpression(options.condition.compile(binder));
        }
        binder.finish();
        delete.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        request.addTransactItems(
                TransactWriteItem.newBuilder().setDelete(delete.setReturnValuesOnConditionCheckFailure(onFailure(options))));
        return this;
    }

    /** Updates an item, by a text without parameters, such as "REMOVE note". */
    public TransactWrite update(String table, Object key, String update) {
        return update(table, key, update, o -> {});
    }

    /** Updates an item, by a text whose parameters are in the options. */
    public TransactWrite update(String table, Object key, String update, Consumer<ActionOptions> change) {
        return update(table, key, Expression.text(update), change);
    }

    /** Updates an item. */
    public TransactWrite update(String table, Object key, Expression update) {
        return update(table, key, update, o -> {});
    }

    /** Updates an item. */
    public TransactWrite update(String table, Object key, Expression update, Consumer<ActionOptions> change) {
        ActionOptions options = changed(change);
        io.github.armaturedb.api.v1.Update.Builder action =
                io.github.armaturedb.api.v1.Update.newBuilder().setTableName(table).setKey(Requests.key(key));
        Binder binder = Requests.binderOf(options, update, options.condition);
        action.setUpdateExpression(update.compile(binder));
        if (options.condition != null) {
            action.setConditionExpression(options.condition.compile(binder));
        }
        binder.finish();
        action.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        request.addTransactItems(
                TransactWriteItem.newBuilder().setUpdate(action.setReturnValuesOnConditionCheckFailure(onFailure(options))));
        return this;
    }

    /** Requires a condition of an item that is not written, as text without parameters, such as "attribute_exists(id)". */
    public TransactWrite check(String table, Object key, String condition) {
        return check(table, key, condition, o -> {});
    }

    /** Requires a condition of an item that is not written, as text whose parameters are in the options. */
    public TransactWrite check(String table, Object key, String condition, Consumer<ActionOptions> change) {
        return check(table, key, Expression.text(condition), change);
    }

    /** Requires a condition of an item that is not written. */
    public TransactWrite check(String table, Object key, Expression condition) {
        return check(table, key, condition, o -> {});
    }

    /** Requires a condition of an item that is not written. */
    public TransactWrite check(String table, Object key, Expression condition, Consumer<ActionOptions> change) {
        ActionOptions options = changed(change);
        if (options.condition != null) {
            throw new IllegalArgumentException("a check has one condition");
        }
        ConditionCheck.Builder check = ConditionCheck.newBuilder().setTableName(table).setKey(Requests.key(key));
        Binder binder = Requests.binderOf(options, condition);
        check.setConditionExpression(condition.compile(binder));
        binder.finish();
        check.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        request.addTransactItems(
                TransactWriteItem.newBuilder().setConditionCheck(check.setReturnValuesOnConditionCheckFailure(onFailure(options))));
        return this;
    }

    /** A token of the program: the same actions with the same token are applied once within ten minutes. */
    public TransactWrite token(String token) {
        request.setClientRequestToken(token);
        return this;
    }

    /** The time that the transaction may take with all its attempts. */
    public TransactWrite timeout(Duration timeout) {
        settings = new CallSettings(CallSettings.checkTimeout(timeout), null, false);
        return this;
    }

    Prepared<TransactWriteItemsRequest, TransactWriteItemsResponse, Long> prepared() {
        return new Prepared<>(
                ItemServiceGrpc.getTransactWriteItemsMethod(), request.build(), settings, TransactWriteItemsResponse::getChangeSequence);
    }
}
