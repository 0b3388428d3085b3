package io.github.armaturedb.client;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One table, with items of one type: {@link Item}, records, or others by an {@link ItemMapper}. Its operations wait for their results. Safe for concurrent
 * use, and cheap.
 *
 * <p>A key is a map, such as {@code Map.of("id", "ann")}, or a record with {@code @PartitionKey} and {@code @SortKey}, of
 * which only these count. Arguments that are not valid are refused with an {@link IllegalArgumentException} before
 * anything is sent.
 *
 * @param <T> the type of the items
 */
public final class Table<T> {
    private final Requests<T> requests;
    private final Caller caller;

    Table(Caller caller, String name, ItemMapper<T> mapper) {
        this.caller = caller;
        requests = new Requests<>(name, mapper);
    }

    /** The name of the table. */
    public String name() {
        return requests.table();
    }

    /** Name and address. */
    @Override
    public String toString() {
        return "Table(" + name() + ", " + caller.settings().hints().address() + ")";
    }

    /** The item of a key, if there is one. */
    public Optional<T> get(Object key) {
        return get(key, o -> {});
    }

    /** The item of a key, if there is one. */
    public Optional<T> get(Object key, Consumer<GetOptions> options) {
        return caller.await(requests.get(key, options));
    }

    /** Creates an item, or replaces it as a whole. */
    public WriteResult<T> put(T item) {
        return put(item, o -> {});
    }

    /** Creates an item, or replaces it as a whole. */
    public WriteResult<T> put(T item, Consumer<PutOptions> options) {
        return caller.await(requests.put(item, options));
    }

    /** Deletes an item. A missing item is no error. */
    public WriteResult<T> delete(Object key) {
        return delete(key, o -> {});
    }

    /** Deletes an item. A missing item is no error. */
    public WriteResult<T> delete(Object key, Consumer<DeleteOptions> options) {
        return caller.await(requests.delete(key, options));
    }

    /** Changes attributes of an item, or creates the item. */
    public WriteResult<T> update(Object key, Expression update) {
        return update(key, update, o -> {});
    }

    /** Changes attributes of an item, or creates the item. */
    public WriteResult<T> update(Object key, Expression update, Consumer<UpdateOptions> options) {
        return caller.await(requests.update(key, update, options));
    }

    /** Changes attributes of an item by a text without parameters, such as "REMOVE note". */
    public WriteResult<T> update(Object key, String update) {
        return update(key, update, o -> {});
    }

    /** Changes attributes of an item by a text such as "SET visits = visits + $n", whose parameters are in the options. */
    public WriteResult<T> update(Object key, String update, Consumer<UpdateOptions> options) {
        return update(key, Expression.text(update), options);
    }

    /** The items of any number of keys, as far as they are there, in no order. */
    public List<T> batchGet(Iterable<?> keys) {
        return batchGet(keys, o -> {});
    }

    /** The items of any number of keys, as far as they are there, in no order. */
    public List<T> batchGet(Iterable<?> keys, Consumer<GetOptions> options) {
        BatchGet batch = new BatchGet().keys(name(), keys, options);
        return mapped(Waiting.await(executor -> batch.start(caller, executor)).get(name()));
    }

    private List<T> mapped(List<Item> items) {
        return items.stream().map(requests.mapper()::fromItem).toList();
    }

    /** The items of one partition that satisfy a condition on the keys, whose parameters are in the options, in the order of the sort key. */
    public Pages<T> query(String keys, Consumer<QueryOptions> options) {
        return new Pages<>(requests.query(caller, Expression.text(keys), options, false));
    }

    /** Number of items of a query, without reading them. */
    public long count(String keys, Consumer<QueryOptions> options) {
        return sum(new Pages<>(requests.query(caller, Expression.text(keys), options, true)));
    }

    /** The items of one partition that satisfy a condition on the keys, in the order of the sort key. */
    public Pages<T> query(Expression keys, Consumer<QueryOptions> options) {
        return new Pages<>(requests.query(caller, keys, options, false));
    }

    /** Number of items of a query, without reading them. */
    public long count(Expression keys, Consumer<QueryOptions> options) {
        return sum(new Pages<>(requests.query(caller, keys, options, true)));
    }

    /** The items of one partition that satisfy a built condition on the keys, in the order of the sort key. */
    public Pages<T> query(Expression keys) {
        return query(keys, o -> {});
    }

    /** All items of the table. */
    public Pages<T> scan() {
        return scan(o -> {});
    }

    /** All items of the table or an index. */
    public Pages<T> scan(Consumer<ScanOptions> options) {
        return new Pages<>(requests.scan(caller, options, false));
    }

    /** Number of items of the table, by a scan without reading them. */
    public long scanCount() {
        return scanCount(o -> {});
    }

    /** Number of items of a scan, without reading them. */
    public long scanCount(Consumer<ScanOptions> options) {
        return sum(new Pages<>(requests.scan(caller, options, true)));
    }

    private static <T> long sum(Pages<T> pages) {
        long count = 0;
        for (Page<T> page : pages.pages()) {
            count += page.count();
        }
        return count;
    }

    /**
     * Queries all shards of a spread partition at once, and gives their items in the order of the sort key:
     *
     * <pre>{@code
     * orders.shardedQuery("#day = $day AND amount >= $least", Shards.suffixed("day", "2024-10-01", 8),
     *         o -> o.index("by_day").param("least", 100))
     * }</pre>
     *
     * The parameter of the shard needs no value. Items with equal sort keys are in the order of their shards. The shards are
     * not read at one moment. A projection must keep all key attributes.
     */
    public Iterable<T> shardedQuery(String keys, Shards shards, Consumer<QueryOptions> options) {
        java.util.function.Supplier<Source<ShardedPage<T>>> sources = ShardedSource.of(caller, requests, keys, shards, options);
        return () -> new Pages.Flat<>(new Pages.Batches<>(sources.get()), page -> page.items().iterator());
    }

    /** The pages of a sharded query, with continuations. Only the last page has fewer items than {@link Shards#pageItems}. */
    public Iterable<ShardedPage<T>> shardedPages(String keys, Shards shards, Consumer<QueryOptions> options) {
        java.util.function.Supplier<Source<ShardedPage<T>>> sources = ShardedSource.of(caller, requests, keys, shards, options);
        return () -> new Pages.Batches<>(sources.get());
    }

    /** The changes of the table from now on. */
    public Watch<T> watch() {
        return watch(o -> {});
    }

    /**
     * The changes of the table as they are made, in one order. The table needs a stream: see {@link TableSchema}.
     *
     * <pre>{@code
     * try (Watch<Order> watch = orders.watch(o -> o.after(stored))) {
     *     for (Change<Order> change : watch) {
     *         handle(change);
     *         stored = change.position();
     *     }
     * }
     * }</pre>
     *
     * When the connection is lost or the daemon restarts, the watch continues behind the last change: none is lost, and none
     * comes twice.
     */
    public Watch<T> watch(Consumer<WatchOptions> options) {
        WatchOptions watched = new WatchOptions();
        options.accept(watched);
        return new Watch<>(new WatchSource(caller, name(), watched), requests.mapper());
    }
}
