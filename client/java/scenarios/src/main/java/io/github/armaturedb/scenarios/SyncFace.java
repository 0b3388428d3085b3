package io.github.armaturedb.scenarios;

import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.BatchGet;
import io.github.armaturedb.client.BatchWriter;
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
import java.util.function.Consumer;

/** The synchronous face. */
record SyncFace(ArmatureClient client) implements Face {
    @Override
    public Optional<Item> get(String table, Map<String, Object> key, Consumer<GetOptions> options) {
        return client.table(table).get(key, options);
    }

    @Override
    public WriteResult<Item> put(String table, Map<String, Object> item, Consumer<PutOptions> options) {
        return client.table(table).put(Item.from(item), options);
    }

    @Override
    public WriteResult<Item> update(String table, Map<String, Object> key, Expression update, Consumer<UpdateOptions> options) {
        return client.table(table).update(key, update, options);
    }

    @Override
    public WriteResult<Item> delete(String table, Map<String, Object> key, Consumer<DeleteOptions> options) {
        return client.table(table).delete(key, options);
    }

    @Override
    public List<Item> query(String table, Expression keys, Consumer<QueryOptions> options) {
        List<Item> all = new ArrayList<>();
        client.table(table).query(keys, options).forEach(all::add);
        return all;
    }

    @Override
    public List<Page<Item>> queryPages(String table, Expression keys, long most, Consumer<QueryOptions> options) {
        List<Page<Item>> all = new ArrayList<>();
        for (Page<Item> page : client.table(table).query(keys, options).pages()) {
            all.add(page);
            if (all.size() == most) {
                break;
            }
        }
        return all;
    }

    @Override
    public Optional<Item> first(String table, Expression keys, Consumer<QueryOptions> options) {
        return client.table(table).query(keys, options).first();
    }

    @Override
    public long count(String table, Expression keys, Consumer<QueryOptions> options) {
        return client.table(table).count(keys, options);
    }

    @Override
    public List<Item> scan(String table, Consumer<ScanOptions> options) {
        return client.table(table).scan(options).toList();
    }

    @Override
    public long scanCount(String table, Consumer<ScanOptions> options) {
        return client.table(table).scanCount(options);
    }

    @Override
    public List<Item> sharded(String table, String keys, Shards shards, Consumer<QueryOptions> options) {
        List<Item> all = new ArrayList<>();
        client.table(table).shardedQuery(keys, shards, options).forEach(all::add);
        return all;
    }

    @Override
    public ShardedPage<Item> shardedPage(String table, String keys, Shards shards, Consumer<QueryOptions> options) {
        return client.table(table).shardedPages(keys, shards, options).iterator().next();
    }

    @Override
    public Map<String, List<Item>> batchGet(BatchGet batch) {
        return client.batchGet(batch);
    }

    @Override
    public void write(TransactWrite transaction) {
        client.write(transaction);
    }

    @Override
    public List<Optional<Item>> read(TransactGet transaction) {
        return client.read(transaction);
    }

    @Override
    public List<Item> execute(Statement statement) {
        return client.execute(statement);
    }

    @Override
    public void createTable(TableSchema schema) {
        client.createTable(schema);
    }

    @Override
    public void deleteTable(String table) {
        client.deleteTable(table);
    }

    @Override
    public List<String> listTables() {
        return client.listTables();
    }

    @Override
    public TableDescription describeTable(String table) {
        return client.describeTable(table);
    }

    @Override
    public void waitForIndexes(String table) {
        client.waitForIndexes(table);
    }

    @Override
    public void writeMany(List<Many> writes) {
        BatchWriter writer = client.batchWriter();
        for (Many write : writes) {
            if (write.isDelete()) {
                writer.delete(write.table(), write.item());
            } else {
                writer.put(write.table(), write.item());
            }
        }
        writer.flush();
    }
}
