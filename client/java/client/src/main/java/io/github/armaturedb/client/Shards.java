package io.github.armaturedb.client;

import java.util.Objects;
import java.util.function.IntFunction;

/**
 * How a partition is spread. A partition key with few values, such as a day, takes all writes in few partitions; a writer
 * avoids that by a number from 1 to N in the key, "2024-10-01.7", or in a partition attribute of its own.
 *
 * @param param the parameter of the key condition that stands for the partition value of a shard
 * @param value the partition value of a shard
 * @param first number of the first shard
 * @param count number of shards, 1 to 1000
 * @param pageItems number of items of a page
 * @param parallel number of concurrent calls
 * @param continuation begins behind a page: {@link ShardedPage#continuation}. Empty: at the beginning
 */
public record Shards(String param, IntFunction<?> value, int first, int count, int pageItems, int parallel, String continuation) {
    private static final int SHARDS_MAX = 1000;

    /** Checks the members. */
    public Shards {
        Objects.requireNonNull(value);
        Objects.requireNonNull(continuation);
        param = param.startsWith("$") ? param.substring(1) : param;
        if (count < 1 || count > SHARDS_MAX) {
            throw new IllegalArgumentException("a partition has 1 to 1000 shards");
        }
        if (pageItems < 1 || parallel < 1) {
            throw new IllegalArgumentException("pageItems and parallel must be positive");
        }
    }

    /** The partition values are the texts prefix.1 to prefix.N. */
    public static Shards suffixed(String param, String prefix, int count) {
        return of(param, shard -> prefix + "." + shard, count);
    }

    /** The partition values are the numbers 1 to N. */
    public static Shards numbered(String param, int count) {
        return of(param, shard -> shard, count);
    }

    /** Other partition values. */
    public static Shards of(String param, IntFunction<?> value, int count) {
        return new Shards(param, value, 1, count, 1000, 8, "");
    }

    /** With another size of pages. */
    public Shards withPageItems(int items) {
        return new Shards(param, value, first, count, items, parallel, continuation);
    }

    /** Begins behind a page, also of another process. */
    public Shards continueAt(String position) {
        return new Shards(param, value, first, count, pageItems, parallel, position);
    }
}
