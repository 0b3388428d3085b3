package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeValue;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An item, or a map within an item: an immutable map from names to native values, which are decoded when they are read.
 *
 * <pre>{@code
 * Item ann = Item.of("id", "ann", "visits", 1, "tags", Set.of("new"));
 * int visits = ann.getInt("visits");
 * }</pre>
 *
 * <p>{@link #get} gives texts as {@link String}, numbers as {@link BigDecimal} (equal numbers are equal objects), bytes as
 * read-only {@link ByteBuffer}, sets as {@link Set} of these, lists as {@link List}, maps as {@code Item}, booleans, and null.
 * The getters with a type convert, and throw a {@link MappingException} if a value does not fit. They give null for an
 * absent attribute, and those of primitive types throw.
 *
 * <p>Values that can be written are those, and all numbers of Java, byte arrays, records, enums, and the types of
 * java.time that have a text.
 */
public final class Item extends AbstractMap<String, Object> {
    private static final Item EMPTY = new Item(Map.of());

    private final Map<String, AttributeValue> attributes; // never modified

    Item(Map<String, AttributeValue> attributes) {
        this.attributes = attributes;
    }

    /** An item without attributes. */
    public static Item of() {
        return EMPTY;
    }

    /** An item of names and values in turns. */
    public static Item of(String name, Object value, Object... namesAndValues) {
        return from(Params.mapOf(name, value, namesAndValues));
    }

    /** The item of a message of the protocol. */
    public static Item of(io.github.armaturedb.api.v1.Item message) {
        return new Item(message.getAttributesMap());
    }

    /** An item of a map with native values. */
    public static Item from(Map<String, ?> values) {
        if (values instanceof Item item) {
            return item;
        }
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        values.forEach((name, value) -> attributes.put(name, Values.encode(value, name)));
        return new Item(attributes);
    }

    /** The item of a record. */
    public static Item from(Record record) {
        return of(RecordMapper.write(record, ""));
    }

    /** This item with another value of an attribute. */
    public Item with(String name, Object value) {
        Map<String, AttributeValue> changed = new LinkedHashMap<>(attributes);
        changed.put(name, Values.encode(value, name));
        return new Item(changed);
    }

    /** This item without an attribute. */
    public Item without(String name) {
        Map<String, AttributeValue> changed = new LinkedHashMap<>(attributes);
        changed.remove(name);
        return new Item(changed);
    }

    /** This item as a record. */
    public <T extends Record> T as(Class<T> type) {
        return RecordMapper.of(type).read(attributes, "");
    }

    /** This item as a message of the protocol. */
    public io.github.armaturedb.api.v1.Item toMessage() {
        return io.github.armaturedb.api.v1.Item.newBuilder().putAllAttributes(attributes).build();
    }

    Map<String, AttributeValue> attributes() {
        return attributes;
    }

    /** A text. */
    public String getString(String name) {
        return (String) read(name, String.class);
    }

    /** A number that is an int. */
    public int getInt(String name) {
        return (Integer) primitive(name, Integer.class);
    }

    /** A number that is a long. */
    public long getLong(String name) {
        return (Long) primitive(name, Long.class);
    }

    /** The double nearest to a number. */
    public double getDouble(String name) {
        return (Double) primitive(name, Double.class);
    }

    /** A boolean. */
    public boolean getBoolean(String name) {
        return (Boolean) primitive(name, Boolean.class);
    }

    /** A number, exactly. */
    public BigDecimal getDecimal(String name) {
        return (BigDecimal) read(name, BigDecimal.class);
    }

    /** Bytes, copied. */
    public byte[] getBytes(String name) {
        return (byte[]) read(name, byte[].class);
    }

    /** A map. */
    public Item getItem(String name) {
        return hasType(name, AttributeValue.ValueCase.M, "a map") ? new Item(attributes.get(name).getM().getEntriesMap()) : null;
    }

    /** A list. */
    public List<Object> getList(String name) {
        return hasType(name, AttributeValue.ValueCase.L, "a list") ? Values.list(attributes.get(name).getL().getValuesList()) : null;
    }

    /** A set of texts. */
    public Set<String> getStrings(String name) {
        return hasType(name, AttributeValue.ValueCase.SS, "a set of texts") ? cast(name) : null;
    }

    /** A set of numbers. */
    public Set<BigDecimal> getNumbers(String name) {
        return hasType(name, AttributeValue.ValueCase.NS, "a set of numbers") ? cast(name) : null;
    }

    /** A set of bytes. */
    public Set<ByteBuffer> getBinaries(String name) {
        return hasType(name, AttributeValue.ValueCase.BS, "a set of bytes") ? cast(name) : null;
    }

    @SuppressWarnings("unchecked")
    private <T> T cast(String name) {
        return (T) Values.decode(attributes.get(name));
    }

    private boolean hasType(String name, AttributeValue.ValueCase kind, String title) {
        AttributeValue value = attributes.get(name);
        if (value == null || value.getValueCase() == AttributeValue.ValueCase.NULL) {
            return false;
        }
        if (value.getValueCase() != kind) {
            throw new MappingException(name, "an attribute of the type " + value.getValueCase() + " is not " + title);
        }
        return true;
    }

    private Object read(String name, Class<?> type) {
        AttributeValue value = attributes.get(name);
        if (value == null || value.getValueCase() == AttributeValue.ValueCase.NULL) {
            return null;
        }
        return Scalars.of(type).read(value, name);
    }

    private Object primitive(String name, Class<?> type) {
        Object value = read(name, type);
        if (value == null) {
            throw new MappingException(name, "the item has no such attribute");
        }
        return value;
    }

    @Override
    public Object get(Object name) {
        AttributeValue value = attributes.get(name);
        return value == null ? null : Values.decode(value);
    }

    @Override
    public boolean containsKey(Object name) {
        return attributes.containsKey(name);
    }

    @Override
    public int size() {
        return attributes.size();
    }

    @Override
    public Set<String> keySet() {
        return Collections.unmodifiableSet(attributes.keySet());
    }

    @Override
    public Set<Entry<String, Object>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return attributes.size();
            }

            @Override
            public Iterator<Entry<String, Object>> iterator() {
                Iterator<Entry<String, AttributeValue>> encoded = attributes.entrySet().iterator();
                return new Iterator<>() {
                    @Override
                    public boolean hasNext() {
                        return encoded.hasNext();
                    }

                    @Override
                    public Entry<String, Object> next() {
                        Entry<String, AttributeValue> entry = encoded.next();
                        return new SimpleImmutableEntry<>(entry.getKey(), Values.decode(entry.getValue()));
                    }
                };
            }
        };
    }
}
