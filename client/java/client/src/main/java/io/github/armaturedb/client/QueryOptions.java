package io.github.armaturedb.client;

/** Options of a query. */
public final class QueryOptions extends ReadOptions<QueryOptions> {
    boolean isDescending;

    /** From the highest sort key to the lowest. */
    public QueryOptions descending() {
        isDescending = true;
        return this;
    }

    QueryOptions() {}

    @Override
    QueryOptions self() {
        return this;
    }
}
