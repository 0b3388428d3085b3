package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.ChangeRecord;
import io.github.armaturedb.api.v1.StreamRecord;
import java.time.Instant;
import java.util.Optional;

/**
 * A change of an item.
 *
 * @param event the kind
 * @param key the key
 * @param newItem the item after the change, as far as the stream has it
 * @param oldItem the item before the change, as far as the stream has it
 * @param position behind this change, for {@link WatchOptions#after}
 * @param time of the change, rounded to the second
 * @param isExpiry the time to live has deleted the item
 * @param <T> the type of the items
 */
public record Change<T>(
        Event event, Item key, Optional<T> newItem, Optional<T> oldItem, String position, Instant time, boolean isExpiry) {
    /** Kinds of changes. */
    public enum Event {
        /** A new item. */
        INSERT,
        /** A changed item. */
        MODIFY,
        /** A deleted item. */
        REMOVE
    }

    static <T> Change<T> of(ChangeRecord record, ItemMapper<T> mapper) {
        StreamRecord data = record.getDynamodb();
        Event event = switch (record.getEventName()) {
            case EVENT_NAME_INSERT -> Event.INSERT;
            case EVENT_NAME_REMOVE -> Event.REMOVE;
            default -> Event.MODIFY;
        };
        return new Change<>(event, Item.of(data.getKeys()),
                data.hasNewImage() ? Optional.of(mapper.fromItem(Item.of(data.getNewImage()))) : Optional.empty(),
                data.hasOldImage() ? Optional.of(mapper.fromItem(Item.of(data.getOldImage()))) : Optional.empty(),
                data.getSequenceNumber(), Instant.ofEpochMilli(data.getApproximateCreationDateTimeMs()), record.hasUserIdentity());
    }
}
