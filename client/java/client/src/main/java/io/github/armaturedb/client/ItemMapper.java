package io.github.armaturedb.client;

/**
 * Converts a type to items and back. The client has mappers of records and of {@link Item}; a program may have its own for
 * {@link ArmatureClient#table(String, ItemMapper)}. It must be safe for concurrent use.
 *
 * @param <T> the type
 */
public interface ItemMapper<T> {
    /** The item of a value. */
    Item toItem(T value);

    /** The value of an item. */
    T fromItem(Item item);
}
