package io.github.armaturedb.scenarios;

import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.client.ArmatureAsyncClient;
import io.github.armaturedb.client.AsyncBatchWriter;
import io.github.armaturedb.client.BatchGet;
import io.github.armaturedb.client.DeleteOptions;
import io.github.armaturedb.client.Expression;
import io.github.armaturedb.client.GetOptions;
import io.github.armaturedb.client.Item;
import io.github.armaturedb.client.Page;
import io.github.armaturedb.client.PutOptions;
import io.github.armaturedb.client.QueryOptions;
import io.github.armaturedb.client.ScanOptions;
import io.github.armaturedb.client.ShardedPage;
import io.github.armaturedb.client.Shards;
import io.github.armaturedb.client.Statement;
import io.github.armaturedb.client.TableSchema;
import io.github.armaturedb.client.TransactGet;
import io.github.armaturedb.client.TransactWrite;
import io.github.armaturedb.client.UpdateOptions;
import io.github.armaturedb.client.WriteResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/** The asynchronous face. */
record AsyncFace(ArmatureAsyncClient client) implements Face {
    @Override
    public Optional<Item> get(String table, Map<String, Object> key, Consumer<GetOptions> options) {
        return join(client.table(table).get(key, options));
    }

    @Override
    public WriteResult<Item> put(String table, Map<String, Object> item, Consumer<PutOptions> options) {
        return join(client.table(table).put(Item.from(item), options));
    }

    @Override
    public WriteResult<Item> update(String table, Map<String, Object> key, Expression update, Consumer<UpdateOptions> options) {
        return join(client.table(table).update(key, update, options));
    }

    @Override
    public WriteResult<Item> delete(String table, Map<String, Object> key, Consumer<DeleteOptions> options) {
        return join(client.table(table).delete(key, options));
    }

    @Override
    public List<Item> query(String table, Expression keys, Consumer<QueryOptions> options) {
        return join(client.table(table).query(keys, options).toList());
    }

    @Override
    public List<Page<Item>> queryPages(String table, Expression keys, long most, Consumer<QueryOptions> options) {
        return collect(client.table(table).query(keys, options).pages(), most);
    }

    @Override
    public Optional<Item> first(String table, Expression keys, Consumer<QueryOptions> options) {
        return join(client.table(table).query(keys, options).first());
    }

    @Override
    public long count(String table, Expression keys, Consumer<QueryOptions> options) {
        return join(client.table(table).count(keys, options));
    }

    @Override
    public List<Item> scan(String table, Consumer<ScanOptions> options) {
        return join(client.table(table).scan(options).toList());
    }

    @Override
    public long scanCount(String table, Consumer<ScanOptions> options) {
        return join(client.table(table).scanCount(options));
    }

    @Override
    public List<Item> sharded(String table, String keys, Shards shards, Consumer<QueryOptions> options) {
        return collect(client.table(table).shardedQuery(keys, shards, options), Long.MAX_VALUE);
    }

    @Override
    public ShardedPage<Item> shardedPage(String table, String keys, Shards shards, Consumer<QueryOptions> options) {
        return collect(client.table(table).shardedPages(keys, shards, options), 1).get(0);
    }

    @Override
    public Map<String, List<Item>> batchGet(BatchGet batch) {
        return join(client.batchGet(batch));
    }

    @Override
    public void write(TransactWrite transaction) {
        join(client.write(transaction));
    }

    @Override
    public List<Optional<Item>> read(TransactGet transaction) {
        return join(client.read(transaction));
    }

    @Override
    public List<Item> execute(Statement statement) {
        return join(client.execute(statement));
    }

    @Override
    public void createTable(TableSchema schema) {
        join(client.createTable(schema));
    }

    @Override
    public void deleteTable(String table) {
        join(client.deleteTable(table));
    }

    @Override
    public List<String> listTables() {
        return join(client.listTables());
    }

    @Override
    public TableDescription describeTable(String table) {
        return join(client.describeTable(table));
    }

    @Override
    public void waitForIndexes(String table) {
        join(client.waitForIndexes(table));
    }

    @Override
    public void writeMany(List<Many> writes) {
        AsyncBatchWriter writer = client.batchWriter();
        for (Many write : writes) {
            join(write.isDelete() ? writer.delete(write.table(), write.item()) : writer.put(write.table(), write.item()));
        }
        join(writer.flush());
    }

    static <V> V join(CompletableFuture<V> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Takes so many elements one by one, and cancels. */
    static <E> List<E> collect(Flow.Publisher<E> publisher, long most) {
        List<E> all = new ArrayList<>();
        CompletableFuture<List<E>> result = new CompletableFuture<>();
        publisher.subscribe(new Flow.Subscriber<>() {
            private Flow.Subscription subscription;

            @Override
            public void onSubscribe(Flow.Subscription begun) {
                subscription = begun;
                begun.request(1);
            }

            @Override
            public void onNext(E element) {
                all.add(element);
                if (all.size() == most) {
                    subscription.cancel();
                    result.complete(all);
                } else {
                    subscription.request(1);
                }
            }

            @Override
            public void onError(Throwable failure) {
                result.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                result.complete(all);
            }
        });
        return join(result);
    }
}
