package io.github.armaturedb.client;

import java.util.Map;

/**
 * Options of queries and scans.
 *
 * @param <O> the class of options
 */
public abstract class ReadOptions<O extends ReadOptions<O>> extends RequestOptions<O> {
    String index;
    Expression filter;
    Expression projection;
    boolean isConsistent;
    int pageSize;
    Item startAfter;
    long atLeastSequence;

    ReadOptions() {}

    /** Reads an index instead of the table. */
    public O index(String name) {
        index = name;
        return self();
    }

    /** Leaves out items that do not satisfy this. They are read and count for the page. */
    public O filter(Expression value) {
        filter = value;
        return self();
    }

    /** Leaves out items that do not satisfy this text. */
    public O filter(String text) {
        return filter(Expression.text(text));
    }

    /** Only these attributes. */
    public O projection(Expression value) {
        projection = value;
        return self();
    }

    /** Only these attributes, as text such as "id, address.city". */
    public O projection(String text) {
        return projection(Expression.text(text));
    }

    /** Reads every write that was done before. Not on global indexes: see {@link ArmatureClient#session}. */
    public O consistent() {
        isConsistent = true;
        return self();
    }

    /** The largest number of items of a page, before the filter. Without it a page has one megabyte. */
    public O pageSize(int items) {
        if (items < 1) {
            throw new IllegalArgumentException("a page size must be positive");
        }
        pageSize = items;
        return self();
    }

    /** Begins behind a key, such as {@link Page#lastKey}. */
    public O startAfter(Map<String, ?> key) {
        startAfter = Item.from(key);
        return self();
    }

    /** Waits until the index has the write of a position: {@link WriteResult#changeSequence}. */
    public O atLeast(long changeSequence) {
        atLeastSequence = changeSequence;
        return self();
    }
}
