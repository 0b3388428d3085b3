package io.github.armaturedb.scenarios;

import io.github.armaturedb.api.v1.StreamViewType;
import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.client.ActionOptions;
import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.BatchGet;
import io.github.armaturedb.client.Change;
import io.github.armaturedb.client.Expression;
import io.github.armaturedb.client.GetOptions;
import io.github.armaturedb.client.Item;
import io.github.armaturedb.client.Page;
import io.github.armaturedb.client.Pipeline;
import io.github.armaturedb.client.ReadOptions;
import io.github.armaturedb.client.ShardedPage;
import io.github.armaturedb.client.Shards;
import io.github.armaturedb.client.Statement;
import io.github.armaturedb.client.TableSchema;
import io.github.armaturedb.client.TransactGet;
import io.github.armaturedb.client.TransactWrite;
import io.github.armaturedb.client.Watch;
import io.github.armaturedb.client.WriteOptions;
import io.github.armaturedb.client.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The operations of one scenario. */
final class Operations implements AutoCloseable {
    private static final long WATCH_SECONDS = 20;

    private final Map<String, Object> definitions; // of tables.yaml
    private final boolean isAsync;
    private final Map<String, Watched> watches = new HashMap<>();
    private Item position; // of the last query_page

    private record Watched(ArmatureClient client, String table, Watch<Item> watch) {}

    Operations(Map<String, Object> definitions, boolean isAsync) {
        this.definitions = definitions;
        this.isAsync = isAsync;
    }

    /** Makes a call and gives its result. */
    Object call(ArmatureClient client, String kind, Object given, Duration timeout) {
        return call(client, Face.of(client, isAsync), kind, given, timeout);
    }

    private Object call(ArmatureClient client, Face face, String kind, Object node, Duration timeout) {
        Map<String, Object> given = node instanceof Map<?, ?> ? Nodes.map(node) : Map.of();
        String table = given.get("table") instanceof String name ? name : "";
        return switch (kind) {
            case "put" -> itemOf(face.put(table, Nodes.item(given.get("item")), o -> {
                write(o, given, timeout);
                if ("all_old".equals(given.get("return"))) {
                    o.returnOld();
                }
            }));
            case "get" -> face.get(table, Nodes.item(given.get("key")), o -> get(o, given, timeout));
            case "update" -> update(face, table, given, timeout);
            case "delete" -> itemOf(face.delete(table, Nodes.item(given.get("key")), o -> {
                write(o, given, timeout);
                if ("all_old".equals(given.get("return"))) {
                    o.returnOld();
                }
            }));
            case "query", "query_page", "query_pages", "count" -> query(face, kind, table, given, timeout);
            case "scan" -> face.scan(table, o -> {
                read(o, given, timeout);
                if (given.get("segments") instanceof Integer segments) {
                    o.segments(segments);
                }
            });
            case "scan_count" -> face.scanCount(table, o -> read(o, given, timeout));
            case "sharded_query" -> sharded(face, table, given, timeout);
            case "put_many", "write_many" -> writeMany(face, table, given, node);
            case "batch_get", "batch_get_count" -> batchGet(face, kind, given, timeout);
            case "transact_write" -> transactWrite(face, given, timeout);
            case "transact_get" -> transactGet(face, given);
            case "pipeline" -> pipeline(client, Nodes.list(node), timeout);
            case "statement" -> face.execute(Statement.of((String) given.get("text"), Nodes.list(Nodes.value(given.get("parameters"))).toArray()));
            case "watch" -> watch(client, table, given);
            case "watch_start" -> watchStart(client, table, given);
            case "watch_resume" -> watchResume((String) given.get("name"));
            default -> administer(face, kind, table, given);
        };
    }

    private Object administer(Face face, String kind, String table, Map<String, Object> given) {
        switch (kind) {
            case "create_table" -> face.createTable(schema(table, Nodes.map(definitions.get((String) given.get("like")))));
            case "delete_table" -> face.deleteTable(table);
            case "list_tables" -> {
                return face.listTables();
            }
            case "describe_table" -> {
                TableDescription description = face.describeTable(table);
                List<String> indexes = new ArrayList<>();
                description.getGlobalSecondaryIndexesList().forEach(i -> indexes.add(i.getIndexName()));
                description.getLocalSecondaryIndexesList().forEach(i -> indexes.add(i.getIndexName()));
                indexes.sort(null);
                return Map.of("status", description.getTableStatus().name().substring("TABLE_STATUS_".length()), "indexes", indexes);
            }
            case "wait_for_indexes" -> face.waitForIndexes(table);
            default -> throw new IllegalStateException("unknown operation " + kind);
        }
        return null;
    }

    private static Item itemOf(WriteResult<Item> result) {
        return result.item().orElse(null);
    }

    private static <O extends WriteOptions<O>> void write(O options, Map<String, Object> given, Duration timeout) {
        Expression condition = Trees.expression(given, "condition");
        if (condition != null) {
            options.condition(condition);
        }
        if (Nodes.is(given, "return_on_failure")) {
            options.returnItemOnFailure();
        }
        if (timeout != null) {
            options.timeout(timeout);
        }
    }

    private static void get(GetOptions options, Map<String, Object> given, Duration timeout) {
        Expression projection = Trees.expression(given, "projection");
        if (projection != null) {
            options.projection(projection);
        }
        if (Nodes.is(given, "consistent")) {
            options.consistent();
        }
        if (timeout != null) {
            options.timeout(timeout);
        }
    }

    private static <O extends ReadOptions<O>> void read(O options, Map<String, Object> given, Duration timeout) {
        Expression filter = Trees.expression(given, "filter");
        if (filter != null) {
            options.filter(filter);
        }
        Expression projection = Trees.expression(given, "projection");
        if (projection != null) {
            options.projection(projection);
        }
        if (given.get("index") instanceof String index) {
            options.index(index);
        }
        if (given.get("page_size") instanceof Integer size) {
            options.pageSize(size);
        }
        if (Nodes.is(given, "consistent")) {
            options.consistent();
        }
        if (timeout != null) {
            options.timeout(timeout);
        }
    }

    private static Object update(Face face, String table, Map<String, Object> given, Duration timeout) {
        return face.update(table, Nodes.item(given.get("key")), Trees.expression(given, "update"), o -> {
            write(o, given, timeout);
            if (Nodes.is(given, "idempotent")) {
                o.idempotent();
            }
            switch (String.valueOf(given.get("return"))) {
                case "all_old" -> o.returnOld();
                case "all_new" -> o.returnNew();
                case "updated_old" -> o.returnUpdatedOld();
                case "updated_new" -> o.returnUpdatedNew();
                default -> { }
            }
        }).attributes();
    }

    private Object query(Face face, String kind, String table, Map<String, Object> given, Duration timeout) {
        Expression keys = Trees.expression(given, "key_condition");
        Consumer<io.github.armaturedb.client.QueryOptions> options = o -> {
            read(o, given, timeout);
            if (Nodes.is(given, "descending")) {
                o.descending();
            }
            if (Nodes.is(given, "after")) {
                o.startAfter(position);
            }
        };
        switch (kind) {
            case "count" -> {
                return face.count(table, keys, options);
            }
            case "query_pages" -> {
                return face.queryPages(table, keys, Long.MAX_VALUE, options).stream().map(page -> page.items().size()).toList();
            }
            case "query_page" -> {
                Page<Item> page = face.queryPages(table, keys, 1, options).get(0);
                position = page.lastKey().orElse(null);
                return Map.of("items", page.items(), "more", position != null);
            }
            default -> {
                List<Item> items = face.query(table, keys, options);
                int take = given.get("take") instanceof Integer count ? count : items.size();
                return items.subList(0, Math.min(take, items.size()));
            }
        }
    }

    private static Object sharded(Face face, String table, Map<String, Object> given, Duration timeout) {
        int count = (Integer) given.get("shards");
        String param = (String) given.get("shard_param");
        Shards shards = given.get("prefix") instanceof String prefix ? Shards.suffixed(param, prefix, count) : Shards.numbered(param, count);
        if (given.get("page_size") instanceof Integer size) {
            shards = shards.withPageItems(size);
        }
        Map<String, Object> members = new LinkedHashMap<>(given);
        members.remove("page_size");
        Consumer<io.github.armaturedb.client.QueryOptions> options = o -> {
            read(o, members, timeout);
            if (Nodes.is(given, "descending")) {
                o.descending();
            }
            Nodes.map(given.get("params")).forEach((name, value) -> o.param(name, Nodes.value(value)));
        };
        String keys = (String) given.get("key_condition");
        if (!Nodes.is(given, "resume")) {
            return face.sharded(table, keys, shards, options);
        }
        List<Item> all = new ArrayList<>();
        for (Optional<String> next = Optional.of(""); next.isPresent();) {
            ShardedPage<Item> page = face.shardedPage(table, keys, shards.continueAt(next.get()), options); // a new query
            all.addAll(page.items());
            next = page.continuation();
        }
        return all;
    }

    private static Object writeMany(Face face, String table, Map<String, Object> given, Object node) {
        List<Face.Many> writes = new ArrayList<>();
        if (node instanceof List<?> list) {
            for (Object write : list) {
                Map<String, Object> one = Nodes.map(write);
                boolean isDelete = one.containsKey("delete");
                Map<String, Object> members = Nodes.map(one.get(isDelete ? "delete" : "put"));
                writes.add(new Face.Many((String) members.get("table"), Nodes.item(members.get(isDelete ? "key" : "item")), isDelete));
            }
        } else {
            for (int i = 0; i < (Integer) given.get("count"); ++i) {
                writes.add(new Face.Many(table, Nodes.item(Nodes.numbered(given.get("item"), i)), false));
            }
        }
        face.writeMany(writes);
        return null;
    }

    private static Object batchGet(Face face, String kind, Map<String, Object> given, Duration timeout) {
        BatchGet batch = new BatchGet();
        given.forEach((table, node) -> {
            Map<String, Object> members = Nodes.map(node);
            List<Map<String, Object>> keys = new ArrayList<>();
            if (members.containsKey("keys")) {
                Nodes.list(members.get("keys")).forEach(key -> keys.add(Nodes.item(key)));
            } else {
                for (int i = 0; i < (Integer) members.get("count"); ++i) {
                    keys.add(Nodes.item(Nodes.numbered(members.get("key"), i)));
                }
            }
            batch.keys(table, keys, o -> get(o, members, timeout));
        });
        Map<String, List<Item>> found = face.batchGet(batch);
        if (kind.equals("batch_get")) {
            return found;
        }
        Map<String, Object> counts = new LinkedHashMap<>();
        found.forEach((table, items) -> counts.put(table, items.size()));
        return counts;
    }

    private static Object transactWrite(Face face, Map<String, Object> given, Duration timeout) {
        TransactWrite transaction = new TransactWrite();
        if (given.get("token") instanceof String token) {
            transaction.token(token);
        }
        if (timeout != null) {
            transaction.timeout(timeout);
        }
        List<Object> actions = new ArrayList<>(Nodes.list(given.get("actions")));
        for (int i = 0; given.containsKey("put") && i < (Integer) given.get("count"); ++i) {
            actions.add(Map.of("put", Nodes.numbered(given.get("put"), i)));
        }
        for (Object action : actions) {
            Nodes.map(action).forEach((kind, node) -> {
                Map<String, Object> members = Nodes.map(node);
                String table = (String) members.get("table");
                Consumer<ActionOptions> options = o -> write(o, members, null);
                switch (kind) {
                    case "put" -> transaction.put(table, Nodes.item(members.get("item")), options);
                    case "update" -> transaction.update(table, Nodes.item(members.get("key")), Trees.expression(members, "update"), options);
                    case "delete" -> transaction.delete(table, Nodes.item(members.get("key")), options);
                    default -> transaction.check(table, Nodes.item(members.get("key")), Trees.expression(members, "condition"));
                }
            });
        }
        face.write(transaction);
        return null;
    }

    private static Object transactGet(Face face, Map<String, Object> given) {
        TransactGet transaction = new TransactGet();
        for (Object key : Nodes.list(given.get("keys"))) {
            Map<String, Object> members = Nodes.map(key);
            transaction.get((String) members.get("table"), Nodes.item(members.get("key")), o -> get(o, given, null));
        }
        return face.read(transaction);
    }

    /** All operations are outstanding at once. */
    private Object pipeline(ArmatureClient client, List<Object> list, Duration timeout) {
        try (Pipeline pipeline = client.pipeline()) {
            List<CompletableFuture<Object>> results = new ArrayList<>();
            for (Object one : list) {
                Map.Entry<String, Object> operation = Nodes.map(one).entrySet().iterator().next();
                // Each in a thread: the faces wait.
                results.add(CompletableFuture.supplyAsync(() -> {
                    try (Operations own = new Operations(definitions, isAsync)) { // query_page keeps a position
                        return result(own.call(client, new AsyncFace(pipeline.client()), operation.getKey(), operation.getValue(), timeout));
                    } catch (RuntimeException e) {
                        return Map.of("error", Failures.typeOf(e));
                    }
                }, task -> new Thread(task).start()));
            }
            return results.stream().map(CompletableFuture::join).toList();
        }
    }

    private static Object result(Object ok) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("ok", ok);
        return result;
    }

    private Object watchStart(ArmatureClient client, String table, Map<String, Object> given) {
        Watch<Item> watch = client.table(table).watch(o -> {
            o.heartbeat(Duration.ofSeconds(1));
            if ("oldest".equals(given.get("from"))) {
                o.fromOldest();
            }
            Expression filter = Trees.expression(given, "filter");
            if (filter != null) {
                o.filter(filter);
            }
            if (given.containsKey("partition")) {
                o.partition(Nodes.item(given.get("partition")));
            }
            if (given.get("after") instanceof String after) {
                o.after(after);
            }
        });
        inTime(watch::awaitStarted);
        watches.put(String.valueOf(given.get("name")), new Watched(client, table, watch));
        return null;
    }

    private static <V> V inTime(java.util.function.Supplier<V> wait) {
        CompletableFuture<V> result = CompletableFuture.supplyAsync(wait, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            thread.start();
        });
        try {
            return result.get(WATCH_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        } catch (InterruptedException | TimeoutException e) {
            throw new IllegalStateException("no change in time", e);
        }
    }

    private Object watch(ArmatureClient client, String table, Map<String, Object> given) {
        String name = String.valueOf(given.get("name"));
        if (!watches.containsKey(name)) {
            watchStart(client, table, given);
        }
        Watch<Item> watch = watches.get(name).watch;
        List<Object> changes = new ArrayList<>();
        while (changes.size() < (Integer) given.get("count")) {
            Change<Item> change = inTime(() -> watch.iterator().next());
            changes.add(Nodes.change(change));
        }
        if (!given.containsKey("name")) {
            watches.remove(name).watch.close();
        }
        return changes;
    }

    private Object watchResume(String name) {
        Watched before = watches.remove(name);
        before.watch.close();
        return watchStart(before.client, before.table, Map.of("name", name, "after", before.watch.position()));
    }

    @Override
    public void close() {
        endWatches();
    }

    void endWatches() {
        watches.values().forEach(watched -> watched.watch.close());
        watches.clear();
    }

    private static List<TableSchema.Key> keys(Object node) {
        return Nodes.list(node).stream().map(Nodes::texts).map(pair -> switch (pair.get(1)) {
            case "S" -> TableSchema.Key.text(pair.get(0));
            case "N" -> TableSchema.Key.number(pair.get(0));
            default -> TableSchema.Key.bytes(pair.get(0));
        }).toList();
    }

    private static void projection(TableSchema.Index index, Object node) {
        if ("keys".equals(node)) {
            index.keysOnly();
        } else if (node instanceof List<?>) {
            index.include(Nodes.texts(node).toArray(String[]::new));
        }
    }

    static TableSchema schema(String name, Map<String, Object> definition) {
        TableSchema schema = new TableSchema(name);
        keys(definition.get("partition")).forEach(schema::partition);
        keys(definition.get("sort")).forEach(schema::sort);
        if (definition.get("stream") instanceof String view) {
            schema.stream(StreamViewType.valueOf("STREAM_VIEW_TYPE_" + view));
        }
        if (definition.containsKey("capacity")) {
            List<Object> capacity = Nodes.list(definition.get("capacity"));
            schema.throughput((Integer) capacity.get(0), (Integer) capacity.get(1));
        }
        Nodes.map(definition.get("indexes")).forEach((index, node) -> {
            Map<String, Object> members = Nodes.map(node);
            schema.globalIndex(index, keys(members.get("partition")), keys(members.get("sort")), i -> projection(i, members.get("projection")));
        });
        Nodes.map(definition.get("local_indexes")).forEach((index, node) -> {
            Map<String, Object> members = Nodes.map(node);
            schema.localIndex(index, keys(members.get("sort")).get(0), i -> projection(i, members.get("projection")));
        });
        return schema;
    }
}
