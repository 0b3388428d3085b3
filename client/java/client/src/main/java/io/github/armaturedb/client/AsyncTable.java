package io.github.armaturedb.client;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * One table, with items of one type: {@link Item}, records, or others by an {@link ItemMapper}. Its operations give futures, and what follows on them runs in the executor of the client. Safe for concurrent
 * use, and cheap.
 *
 * <p>A key is a map, such as {@code Map.of("id", "ann")}, or a record with {@code @PartitionKey} and {@code @SortKey}, of
 * which only these count. Arguments that are not valid are refused with an {@link IllegalArgumentException} before
 * anything is sent.
 *
 * @param <T> the type of the items
 */
public final class AsyncTable<T> {
    private final Requests<T> requests;
    private final Caller caller;

    AsyncTable(Caller caller, String name, ItemMapper<T> mapper) {
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
        return "AsyncTable(" + name() + ", " + caller.settings().hints().address() + ")";
    }

    /** The item of a key, if there is one. */
    public CompletableFuture<Optional<T>> get(Object key) {
        return get(key, o -> {});
    }

    /** The item of a key, if there is one. */
    public CompletableFuture<Optional<T>> get(Object key, Consumer<GetOptions> options) {
        return caller.start(requests.get(key, options), null);
    }

    /** Creates an item, or replaces it as a whole. */
    public CompletableFuture<WriteResult<T>> put(T item) {
        return put(item, o -> {});
    }

    /** Creates an item, or replaces it as a whole. */
    public CompletableFuture<WriteResult<T>> put(T item, Consumer<PutOptions> options) {
        return caller.start(requests.put(item, options), null);
    }

    /** Deletes an item. A missing item is no error. */
    public CompletableFuture<WriteResult<T>> delete(Object key) {
        return delete(key, o -> {});
    }

    /** Deletes an item. A missing item is no error. */
    public CompletableFuture<WriteResult<T>> delete(Object key, Consumer<DeleteOptions> options) {
        return caller.start(requests.delete(key, options), null);
    }

    /** Changes attributes of an item, or creates the item. */
    public CompletableFuture<WriteResult<T>> update(Object key, Expression update) {
        return update(key, update, o -> {});
    }

    /** Changes attributes of an item, or creates the item. */
    public CompletableFuture<WriteResult<T>> update(Object key, Expression update, Consumer<UpdateOptions> options) {
        return caller.start(requests.update(key, update, options), null);
    }

    /** Changes attributes of an item by a text without parameters, such as "REMOVE note". */
    public CompletableFuture<WriteResult<T>> update(Object key, String update) {
        return update(key, update, o -> {});
    }

    /** Changes attributes of an item by a text such as "SET visits = visits + $n", whose parameters are in the options. */
    public CompletableFuture<WriteResult<T>> update(Object key, String update, Consumer<UpdateOptions> options) {
        return update(key, Expression.text(update), options);
    }

    /** The items of any number of keys, as far as they are there, in no order. */
    public CompletableFuture<List<T>> batchGet(Iterable<?> keys) {
        return batchGet(keys, o -> {});
    }

    /** The items of any number of keys, as far as they are there, in no order. */
    public CompletableFuture<List<T>> batchGet(Iterable<?> keys, Consumer<GetOptions> options) {
        BatchGet batch = new BatchGet().keys(name(), keys, options);
        return Caller.mapped(batch.start(caller, null), found -> mapped(found.get(name())));
    }

    private List<T> mapped(List<Item> items) {
        return items.stream().map(requests.mapper()::fromItem).toList();
    }

    /** The items of one partition that satisfy a condition on the keys, whose parameters are in the options, in the order of the sort key. */
    public AsyncPages<T> query(String keys, Consumer<QueryOptions> options) {
        return new AsyncPages<>(requests.query(caller, Expression.text(keys), options, false));
    }

    /** Number of items of a query, without reading them. */
    public CompletableFuture<Long> count(String keys, Consumer<QueryOptions> options) {
        return sum(new AsyncPages<>(requests.query(caller, Expression.text(keys), options, true)));
    }

    /** The items of one partition that satisfy a condition on the keys, in the order of the sort key. */
    public AsyncPages<T> query(Expression keys, Consumer<QueryOptions> options) {
        return new AsyncPages<>(requests.query(caller, keys, options, false));
    }

    /** Number of items of a query, without reading them. */
    public CompletableFuture<Long> count(Expression keys, Consumer<QueryOptions> options) {
        return sum(new AsyncPages<>(requests.query(caller, keys, options, true)));
    }

    /** The items of one partition that satisfy a built condition on the keys, in the order of the sort key. */
    public AsyncPages<T> query(Expression keys) {
        return query(keys, o -> {});
    }

    /** All items of the table. */
    public AsyncPages<T> scan() {
        return scan(o -> {});
    }

    /** All items of the table or an index. */
    public AsyncPages<T> scan(Consumer<ScanOptions> options) {
        return new AsyncPages<>(requests.scan(caller, options, false));
    }

    /** Number of items of the table, by a scan without reading them. */
    public CompletableFuture<Long> scanCount() {
        return scanCount(o -> {});
    }

    /** Number of items of a scan, without reading them. */
    public CompletableFuture<Long> scanCount(Consumer<ScanOptions> options) {
        return sum(new AsyncPages<>(requests.scan(caller, options, true)));
    }

    private CompletableFuture<Long> sum(AsyncPages<T> pages) {
        long[] count = {0};
        return Caller.mapped(AsyncPages.each(pages.pages(), page -> count[0] += page.count()), end -> count[0]);
    }

    /** Queries all shards of a spread partition: see {@link Table#shardedQuery}. */
    public Flow.Publisher<T> shardedQuery(String keys, Shards shards, Consumer<QueryOptions> options) {
        return new SourcePublisher<ShardedPage<T>, T>(
                ShardedSource.of(caller, requests, keys, shards, options), page -> page.items().iterator());
    }

    /** The pages of a sharded query. */
    public Flow.Publisher<ShardedPage<T>> shardedPages(String keys, Shards shards, Consumer<QueryOptions> options) {
        return new SourcePublisher<>(ShardedSource.of(caller, requests, keys, shards, options), page -> List.of(page).iterator());
    }

    /**
     * The changes of the table as they are made: see {@link Table#watch}. Each subscription is a watch of its own, which
     * ends when it is cancelled.
     */
    public Flow.Publisher<Change<T>> watch(Consumer<WatchOptions> options) {
        WatchOptions watched = new WatchOptions();
        options.accept(watched);
        WatchSource.requestOf(name(), watched);
        return new SourcePublisher<WatchSource.Batch, Change<T>>(
                () -> new WatchSource(caller, name(), watched), batch -> batch.changes(requests.mapper()).iterator());
    }
}
