package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeValue;
import java.util.Map;

/** The mappers of the client. */
final class Mappers {
    /** Items as they are. */
    static final ItemMapper<Item> ITEMS = new ItemMapper<>() {
        @Override
        public Item toItem(Item value) {
            return value;
        }

        @Override
        public Item fromItem(Item item) {
            return item;
        }
    };

    private Mappers() {}

    static <T> io.github.armaturedb.api.v1.Item toMessage(ItemMapper<T> mapper, T value) {
        return mapper.toItem(value).toMessage();
    }

    /** The item of a put: a record, or a map. */
    static io.github.armaturedb.api.v1.Item messageOf(Object item) {
        if (item instanceof Record record) {
            return RecordMapper.write(record, "");
        } else if (item instanceof Map<?, ?> map) {
            return messageOf(map);
        }
        throw new IllegalArgumentException("an item is a record or a map, not " + (item == null ? "null" : item.getClass().getName()));
    }

    static io.github.armaturedb.api.v1.Item messageOf(Map<?, ?> map) {
        if (map instanceof Item item) {
            return item.toMessage();
        }
        io.github.armaturedb.api.v1.Item.Builder message = io.github.armaturedb.api.v1.Item.newBuilder();
        map.forEach((name, value) -> {
            AttributeValue encoded = Values.encode(value, String.valueOf(name));
            message.putAttributes((String) name, encoded);
        });
        return message.build();
    }
}
