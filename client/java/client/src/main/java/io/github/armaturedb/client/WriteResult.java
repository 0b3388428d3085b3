package io.github.armaturedb.client;

import java.util.Optional;

/**
 * The result of a write.
 *
 * @param <T> the type of the items
 */
public final class WriteResult<T> {
    private final Item attributes; // null: none
    private final ItemMapper<T> mapper;
    private final long changeSequence;

    WriteResult(Item attributes, ItemMapper<T> mapper, long changeSequence) {
        this.attributes = attributes;
        this.mapper = mapper;
        this.changeSequence = changeSequence;
    }

    /** The returned item, if one was asked for and is there. Parts of an item may not fit into a record: see {@link #attributes}. */
    public Optional<T> item() {
        return attributes().map(mapper::fromItem);
    }

    /** The returned attributes, if some were asked for and are there. */
    public Optional<Item> attributes() {
        return Optional.ofNullable(attributes);
    }

    /** The position of the write among all changes, unsigned, for sessions and {@code atLeast}. */
    public long changeSequence() {
        return changeSequence;
    }
}
