package io.github.armaturedb.scenarios;

import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.client.ArmatureClient;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The operations of a client, by one of its faces. */
interface Face {
    /** A write for the batch writer. */
    record Many(String table, Map<String, Object> item, boolean isDelete) {}

    Optional<Item> get(String table, Map<String, Object> key, Consumer<GetOptions> options);

    WriteResult<Item> put(String table, Map<String, Object> item, Consumer<PutOptions> options);

    WriteResult<Item> update(String table, Map<String, Object> key, Expression update, Consumer<UpdateOptions> options);

    WriteResult<Item> delete(String table, Map<String, Object> key, Consumer<DeleteOptions> options);

    List<Item> query(String table, Expression keys, Consumer<QueryOptions> options);

    List<Page<Item>> queryPages(String table, Expression keys, long most, Consumer<QueryOptions> options);

    Optional<Item> first(String table, Expression keys, Consumer<QueryOptions> options);

    long count(String table, Expression keys, Consumer<QueryOptions> options);

    List<Item> scan(String table, Consumer<ScanOptions> options);

    long scanCount(String table, Consumer<ScanOptions> options);

    List<Item> sharded(String table, String keys, Shards shards, Consumer<QueryOptions> options);

    ShardedPage<Item> shardedPage(String table, String keys, Shards shards, Consumer<QueryOptions> options);

    Map<String, List<Item>> batchGet(BatchGet batch);

    void write(TransactWrite transaction);

    List<Optional<Item>> read(TransactGet transaction);

    List<Item> execute(Statement statement);

    void createTable(TableSchema schema);

    void deleteTable(String table);

    List<String> listTables();

    TableDescription describeTable(String table);

    void waitForIndexes(String table);

    void writeMany(List<Many> writes);

    /** The face of a client that is tested. */
    static Face of(ArmatureClient client, boolean isAsync) {
        return isAsync ? new AsyncFace(client.async()) : new SyncFace(client);
    }
}
