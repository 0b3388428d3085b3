package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.DescribeTableRequest;
import io.github.armaturedb.api.v1.Item;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.QueryResponse;
import io.github.armaturedb.api.v1.TableServiceGrpc;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The pages of a query over all shards. Each shard with items in memory is in the heap; the next item is at its top. */
final class ShardedSource<T> implements Source<ShardedPage<T>> {
    /** Entries requested from a shard beyond twice its even share of a page, so that small pages seldom need a second call. */
    private static final int SPARE_ENTRIES = 10;

    private final Caller caller;
    private final ItemMapper<T> mapper;
    private final Shards shards;
    private final CallSettings settings;
    private final List<Shard> cursors = new ArrayList<>();
    private final PriorityQueue<Shard> heap;
    private ShardKeys keys; // null: not known yet
    private boolean hasEnded;
    private volatile boolean isClosed;

    private ShardedSource(Caller caller, ItemMapper<T> mapper, Shards shards, List<QueryRequest> requests, boolean isDescending,
            List<ShardKeys.Position> positions, CallSettings settings) {
        this.caller = caller;
        this.mapper = mapper;
        this.shards = shards;
        this.settings = settings;
        for (int i = 0; i < requests.size(); ++i) {
            cursors.add(new Shard(i, requests.get(i), positions.get(i)));
        }
        heap = new PriorityQueue<>((a, b) -> {
            int order = keys.compare(a.items.peek(), b.items.peek());
            order = order == 0 ? Integer.compare(a.number, b.number) : order;
            return isDescending ? -order : order;
        });
    }

    static <T> Supplier<Source<ShardedPage<T>>> of(
            Caller caller, Requests<T> table, String keys, Shards shards, Consumer<QueryOptions> change) {
        QueryOptions options = new QueryOptions();
        change.accept(options);
        if (options.startAfter != null) {
            throw new IllegalArgumentException("a sharded query begins at a continuation, not behind a key");
        }
        if (options.params.containsKey(shards.param())) {
            throw new IllegalArgumentException("the parameter " + shards.param() + " is the one of the shard");
        }
        int share = (shards.pageItems() - 1) / shards.count() + 1;
        List<QueryRequest> requests = new ArrayList<>();
        for (int i = 0; i < shards.count(); ++i) {
            options.params.put(shards.param(), shards.value().apply(shards.first() + i));
            QueryRequest.Builder request = table.queryRequest(Expression.text(keys), options);
            if (!request.hasLimit()) {
                request.setLimit(Math.min(shards.pageItems(), 2 * share + SPARE_ENTRIES));
            }
            requests.add(request.build());
        }
        List<ShardKeys.Position> positions = ShardKeys.positions(shards, ShardKeys.identityOf(requests.get(0), shards));
        return () -> new ShardedSource<>(caller, table.mapper(), shards, requests, options.isDescending, positions, options.settings());
    }

    @Override
    public CompletableFuture<ShardedPage<T>> next(Executor executor) {
        if (hasEnded) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> known = CompletableFuture.completedFuture(null);
        if (keys == null) {
            QueryRequest first = cursors.get(0).request;
            DescribeTableRequest request = DescribeTableRequest.newBuilder().setTableName(first.getTableName()).build();
            known = caller.start(TableServiceGrpc.getDescribeTableMethod(), request, settings, executor)
                    .thenAccept(r -> keys = ShardKeys.of(r.getTable(), first.getIndexName()));
        }
        return known.thenCompose(k -> fill(new ArrayList<>(), executor)).thenApply(this::page);
    }

    /** Takes items until the page is full or no shard has more. */
    private CompletableFuture<List<Item>> fill(List<Item> page, Executor executor) {
        return fetchWhereLow(executor).thenCompose(fetched -> {
            heap.clear();
            cursors.stream().filter(Shard::hasItem).forEach(heap::add);
            while (page.size() < shards.pageItems() && !heap.isEmpty()) {
                Shard shard = heap.poll();
                page.add(shard.take());
                if (shard.hasItem()) {
                    heap.add(shard);
                } else if (!shard.isExhausted) {
                    // Its next item may be the next one of all.
                    return page.size() < shards.pageItems() ? fill(page, executor) : CompletableFuture.completedFuture(page);
                }
            }
            return CompletableFuture.completedFuture(page);
        });
    }

    private ShardedPage<T> page(List<Item> items) {
        hasEnded = cursors.stream().noneMatch(s -> s.hasItem() || !s.isExhausted);
        List<T> values = items.stream().map(i -> mapper.fromItem(io.github.armaturedb.client.Item.of(i))).toList();
        if (hasEnded) {
            return new ShardedPage<>(values, Optional.empty());
        }
        List<ShardKeys.Position> positions = cursors.stream().map(Shard::position).toList();
        return new ShardedPage<>(values, Optional.of(ShardKeys.continuation(ShardKeys.identityOf(cursors.get(0).request, shards), positions)));
    }

    /** Fetches until each shard has items in memory or is finished. */
    private CompletableFuture<Void> fetchWhereLow(Executor executor) {
        if (isClosed || cursors.stream().noneMatch(s -> !s.hasItem() && !s.isExhausted)) {
            return CompletableFuture.completedFuture(null);
        }
        List<Shard> low = cursors.stream().filter(Shard::runsLow).toList();
        List<CompletableFuture<Void>> lanes = new ArrayList<>();
        Deque<Shard> queue = new ArrayDeque<>(low);
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < Math.min(shards.parallel(), low.size()); ++i) {
            lanes.add(lane(queue, calls, executor));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(lanes.toArray(CompletableFuture<?>[]::new));
        for (CompletableFuture<Void> lane : lanes) {
            lane.whenComplete((end, failure) -> {
                if (failure != null) {
                    all.completeExceptionally(Waiting.causeOf(failure)); // the first one, not those that it cancels
                    synchronized (queue) {
                        queue.clear();
                        calls.forEach(call -> call.cancel(true));
                    }
                }
            });
        }
        return all.thenCompose(end -> fetchWhereLow(executor));
    }

    /** One of the concurrent calls at a time. */
    private CompletableFuture<Void> lane(Deque<Shard> queue, List<CompletableFuture<?>> calls, Executor executor) {
        Shard shard;
        synchronized (queue) {
            shard = queue.poll();
        }
        if (shard == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<QueryResponse> call = caller.start(ItemServiceGrpc.getQueryMethod(), shard.request, settings, executor);
        synchronized (queue) {
            calls.add(call);
        }
        return call.thenCompose(response -> {
            shard.fetched(response);
            return lane(queue, calls, executor);
        });
    }

    @Override
    public void close() {
        isClosed = true;
    }

    /** Reads the items of one shard ahead. */
    private final class Shard {
        private final int number;
        private QueryRequest request; // of the next call
        private Item delivered; // key of the last item of a page; null: none
        private boolean isExhausted; // no more items to fetch
        private final Deque<Item> items = new ArrayDeque<>();
        private int fetched; // items of the last call

        Shard(int number, QueryRequest request, ShardKeys.Position position) {
            this.number = number;
            this.request = position.startAfter() == null ? request : request.toBuilder().setExclusiveStartKey(position.startAfter()).build();
            delivered = position.startAfter();
            isExhausted = position.isDone();
        }

        boolean hasItem() {
            return !items.isEmpty();
        }

        /** More items can be fetched, and half of the items of the last call are taken. */
        boolean runsLow() {
            return !isExhausted && items.size() <= fetched / 2;
        }

        Item take() {
            Item item = items.poll();
            delivered = keys.keyOf(item);
            return item;
        }

        void fetched(QueryResponse page) {
            page.getItemsList().forEach(keys::check);
            items.addAll(page.getItemsList());
            fetched = page.getItemsCount();
            isExhausted = !page.hasLastEvaluatedKey();
            QueryRequest.Builder next = request.toBuilder();
            request = isExhausted ? next.clearExclusiveStartKey().build() : next.setExclusiveStartKey(page.getLastEvaluatedKey()).build();
        }

        /** The one after the items of the pages. */
        ShardKeys.Position position() {
            if (hasItem()) {
                return new ShardKeys.Position(false, delivered);
            }
            // The start of the next call is behind the items that a filter has dropped, too.
            return isExhausted ? new ShardKeys.Position(true, null)
                    : new ShardKeys.Position(false, request.hasExclusiveStartKey() ? request.getExclusiveStartKey() : null);
        }
    }
}
