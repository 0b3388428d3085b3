package io.github.armaturedb.client;

import java.util.List;
import java.util.Optional;

/**
 * A page of a sharded query.
 *
 * @param items the items in the order of the sort key
 * @param continuation the position of the next page, for {@link Shards#continueAt}; empty: this is the last one
 * @param <T> the type of the items
 */
public record ShardedPage<T>(List<T> items, Optional<String> continuation) {}
