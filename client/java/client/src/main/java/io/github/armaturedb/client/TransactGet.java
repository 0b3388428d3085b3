package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.Get;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.TransactGetItem;
import io.github.armaturedb.api.v1.TransactGetItemsRequest;
import io.github.armaturedb.api.v1.TransactGetItemsResponse;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The keys of up to a hundred items that are read at one moment. Not safe for concurrent use. */
public final class TransactGet {
    private final TransactGetItemsRequest.Builder request = TransactGetItemsRequest.newBuilder();
    private CallSettings settings = CallSettings.DEFAULT;

    /** A read without keys. */
    public TransactGet() {}

    /** Adds an item. */
    public TransactGet get(String table, Object key) {
        return get(table, key, o -> {});
    }

    /** Adds an item, perhaps with a projection. The timeout is for the whole read. */
    public TransactGet get(String table, Object key, Consumer<GetOptions> change) {
        GetOptions options = new GetOptions();
        change.accept(options);
        Get.Builder get = Get.newBuilder().setTableName(table).setKey(Requests.key(key));
        Binder binder = Requests.binderOf(options, options.projection);
        if (options.projection != null) {
            get.setProjectionExpression(options.projection.compile(binder)).putAllExpressionAttributeNames(binder.names());
        }
        binder.finish();
        if (options.settings().timeout() != null) {
            settings = options.settings();
        }
        request.addTransactItems(TransactGetItem.newBuilder().setGet(get));
        return this;
    }

    Prepared<TransactGetItemsRequest, TransactGetItemsResponse, List<Optional<Item>>> prepared() {
        return new Prepared<>(ItemServiceGrpc.getTransactGetItemsMethod(), request.build(), settings,
                r -> r.getResponsesList().stream()
                        .map(one -> one.hasItem() ? Optional.of(Item.of(one.getItem())) : Optional.<Item>empty())
                        .toList());
    }
}
