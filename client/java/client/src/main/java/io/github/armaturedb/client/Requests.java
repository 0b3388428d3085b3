package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.DeleteItemRequest;
import io.github.armaturedb.api.v1.DeleteItemResponse;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.GetItemResponse;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.PutItemResponse;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.QueryResponse;
import io.github.armaturedb.api.v1.ReturnValues;
import io.github.armaturedb.api.v1.ReturnValuesOnConditionCheckFailure;
import io.github.armaturedb.api.v1.ScanRequest;
import io.github.armaturedb.api.v1.ScanResponse;
import io.github.armaturedb.api.v1.Select;
import io.github.armaturedb.api.v1.UpdateItemRequest;
import io.github.armaturedb.api.v1.UpdateItemResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes the requests of operations on one table, for both clients. Constant.
 *
 * @param <T> the type of the items
 */
record Requests<T>(String table, ItemMapper<T> mapper) {
    static final ReturnValuesOnConditionCheckFailure OLD_ON_FAILURE =
            ReturnValuesOnConditionCheckFailure.RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;

    Optional<T> itemOf(boolean isThere, io.github.armaturedb.api.v1.Item item) {
        return isThere ? Optional.of(mapper.fromItem(Item.of(item))) : Optional.empty();
    }

    private WriteResult<T> written(boolean isThere, io.github.armaturedb.api.v1.Item attributes, long sequence) {
        return new WriteResult<>(isThere ? Item.of(attributes) : null, mapper, sequence);
    }

    /** The key in a map, a record with key annotations, or an item of the type of the table. */
    @SuppressWarnings("unchecked")
    static io.github.armaturedb.api.v1.Item key(Object key) {
        if (key instanceof Map<?, ?> map) {
            return Mappers.messageOf(map);
        } else if (key instanceof Record record) {
            RecordMapper<Record> mapper = RecordMapper.of((Class<Record>) record.getClass());
            return new Item(mapper.keyOf(record)).toMessage();
        }
        throw new IllegalArgumentException("a key is a map, or a record with @PartitionKey");
    }

    static Binder binderOf(RequestOptions<?> options, Expression... expressions) {
        Binder binder = new Binder(options.params);
        for (Expression expression : expressions) {
            binder.reserve(expression);
        }
        return binder;
    }

    Prepared<GetItemRequest, GetItemResponse, Optional<T>> get(Object key, Consumer<GetOptions> change) {
        GetOptions options = new GetOptions();
        change.accept(options);
        GetItemRequest.Builder request = GetItemRequest.newBuilder().setTableName(table).setKey(key(key));
        Binder binder = binderOf(options, options.projection);
        if (options.projection != null) {
            request.setProjectionExpression(options.projection.compile(binder)).putAllExpressionAttributeNames(binder.names());
        }
        binder.finish();
        if (options.isConsistent) {
            request.setConsistentRead(true);
        }
        return new Prepared<>(ItemServiceGrpc.getGetItemMethod(), request.build(), options.settings(), r -> itemOf(r.hasItem(), r.getItem()));
    }

    Prepared<PutItemRequest, PutItemResponse, WriteResult<T>> put(T item, Consumer<PutOptions> change) {
        PutOptions options = new PutOptions();
        change.accept(options);
        PutItemRequest.Builder request = PutItemRequest.newBuilder().setTableName(table).setItem(Mappers.toMessage(mapper, item));
        Binder binder = binderOf(options, options.condition);
        if (options.condition != null) {
            request.setConditionExpression(options.condition.compile(binder))
                    .putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        }
        binder.finish();
        if (options.returnsOld) {
            request.setReturnValues(ReturnValues.RETURN_VALUES_ALL_OLD);
        }
        if (options.returnsItemOnFailure) {
            request.setReturnValuesOnConditionCheckFailure(OLD_ON_FAILURE);
        }
        return new Prepared<>(ItemServiceGrpc.getPutItemMethod(), request.build(), options.settings(),
                r -> written(r.hasAttributes(), r.getAttributes(), r.getChangeSequence()));
    }

    Prepared<UpdateItemRequest, UpdateItemResponse, WriteResult<T>> update(Object key, Expression update, Consumer<UpdateOptions> change) {
        UpdateOptions options = new UpdateOptions();
        change.accept(options);
        UpdateItemRequest.Builder request = UpdateItemRequest.newBuilder().setTableName(table).setKey(key(key));
        Binder binder = binderOf(options, update, options.condition);
        request.setUpdateExpression(update.compile(binder));
        if (options.condition != null) {
            request.setConditionExpression(options.condition.compile(binder));
        }
        binder.finish();
        request.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        request.setReturnValues(options.returns);
        if (options.returnsItemOnFailure) {
            request.setReturnValuesOnConditionCheckFailure(OLD_ON_FAILURE);
        }
        return new Prepared<>(ItemServiceGrpc.getUpdateItemMethod(), request.build(), options.settings(),
                r -> written(r.hasAttributes(), r.getAttributes(), r.getChangeSequence()));
    }

    Prepared<DeleteItemRequest, DeleteItemResponse, WriteResult<T>> delete(Object key, Consumer<DeleteOptions> change) {
        DeleteOptions options = new DeleteOptions();
        change.accept(options);
        DeleteItemRequest.Builder request = DeleteItemRequest.newBuilder().setTableName(table).setKey(key(key));
        Binder binder = binderOf(options, options.condition);
        if (options.condition != null) {
            request.setConditionExpression(options.condition.compile(binder))
                    .putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        }
        binder.finish();
        if (options.returnsOld) {
            request.setReturnValues(ReturnValues.RETURN_VALUES_ALL_OLD);
        }
        if (options.returnsItemOnFailure) {
            request.setReturnValuesOnConditionCheckFailure(OLD_ON_FAILURE);
        }
        return new Prepared<>(ItemServiceGrpc.getDeleteItemMethod(), request.build(), options.settings(),
                r -> written(r.hasAttributes(), r.getAttributes(), r.getChangeSequence()));
    }

    QueryRequest.Builder queryRequest(Expression keys, QueryOptions options) {
        QueryRequest.Builder request = QueryRequest.newBuilder().setTableName(table);
        Binder binder = binderOf(options, keys, options.filter, options.projection);
        request.setKeyConditionExpression(keys.compile(binder));
        if (options.filter != null) {
            request.setFilterExpression(options.filter.compile(binder));
        }
        if (options.projection != null) {
            request.setProjectionExpression(options.projection.compile(binder));
        }
        binder.finish();
        request.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        if (options.index != null) {
            request.setIndexName(options.index);
        }
        if (options.isDescending) {
            request.setScanIndexForward(false);
        }
        if (options.isConsistent) {
            request.setConsistentRead(true);
        }
        if (options.pageSize > 0) {
            request.setLimit(options.pageSize);
        }
        return request.setAtLeastSequence(options.atLeastSequence);
    }

    Source<Page<T>> query(Caller caller, QueryRequest request, QueryOptions options) {
        return new PageSource<>(caller, options.startAfter, position -> {
            QueryRequest page = position == null ? request : request.toBuilder().setExclusiveStartKey(position.toMessage()).build();
            return new Prepared<>(ItemServiceGrpc.getQueryMethod(), page, options.settings(), this::pageOf);
        });
    }

    /** The pages of one partition. */
    java.util.function.Supplier<Source<Page<T>>> query(Caller caller, Expression keys, Consumer<QueryOptions> change, boolean isCount) {
        QueryOptions options = new QueryOptions();
        change.accept(options);
        QueryRequest.Builder request = queryRequest(keys, options);
        if (isCount) {
            request.setSelect(Select.SELECT_COUNT);
        }
        QueryRequest built = request.build();
        return () -> query(caller, built, options);
    }

    private Page<T> pageOf(QueryResponse r) {
        return page(r.getItemsList(), r.getCount(), r.getScannedCount(), r.hasLastEvaluatedKey() ? Item.of(r.getLastEvaluatedKey()) : null);
    }

    private Page<T> pageOf(ScanResponse r) {
        return page(r.getItemsList(), r.getCount(), r.getScannedCount(), r.hasLastEvaluatedKey() ? Item.of(r.getLastEvaluatedKey()) : null);
    }

    private Page<T> page(List<io.github.armaturedb.api.v1.Item> items, int count, int scanned, Item last) {
        List<T> values = new ArrayList<>(items.size());
        for (io.github.armaturedb.api.v1.Item item : items) {
            values.add(mapper.fromItem(Item.of(item)));
        }
        return new Page<>(values, count, scanned, Optional.ofNullable(last));
    }

    /** The pages of the table, or of a segment. */
    java.util.function.Supplier<Source<Page<T>>> scan(Caller caller, Consumer<ScanOptions> change, boolean isCount) {
        ScanOptions options = new ScanOptions();
        change.accept(options);
        ScanRequest.Builder request = ScanRequest.newBuilder().setTableName(table);
        Binder binder = binderOf(options, options.filter, options.projection);
        if (options.filter != null) {
            request.setFilterExpression(options.filter.compile(binder));
        }
        if (options.projection != null) {
            request.setProjectionExpression(options.projection.compile(binder));
        }
        binder.finish();
        request.putAllExpressionAttributeNames(binder.names()).putAllExpressionAttributeValues(binder.values());
        if (options.index != null) {
            request.setIndexName(options.index);
        }
        if (options.isConsistent) {
            request.setConsistentRead(true);
        }
        if (options.pageSize > 0) {
            request.setLimit(options.pageSize);
        }
        if (isCount) {
            request.setSelect(Select.SELECT_COUNT);
        }
        ScanRequest built = request.setAtLeastSequence(options.atLeastSequence).build();
        if (options.segments == 1) {
            return () -> scan(caller, built, options);
        }
        if (options.isOneSegment) {
            ScanRequest segment = built.toBuilder().setSegment(options.segment).setTotalSegments(options.segments).build();
            return () -> scan(caller, segment, options);
        }
        if (options.startAfter != null) {
            throw new IllegalArgumentException("a parallel scan cannot begin behind a key: each segment has a position of its own");
        }
        return () -> {
            List<Source<Page<T>>> sources = new ArrayList<>(options.segments);
            for (int i = 0; i < options.segments; ++i) {
                sources.add(scan(caller, built.toBuilder().setSegment(i).setTotalSegments(options.segments).build(), options));
            }
            return new ParallelSource<>(sources);
        };
    }

    private Source<Page<T>> scan(Caller caller, ScanRequest request, ScanOptions options) {
        return new PageSource<>(caller, options.startAfter, position -> {
            ScanRequest page = position == null ? request : request.toBuilder().setExclusiveStartKey(position.toMessage()).build();
            return new Prepared<>(ItemServiceGrpc.getScanMethod(), page, options.settings(), this::pageOf);
        });
    }
}
