package io.github.armaturedb.client;

import com.google.protobuf.ByteString;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.BinarySet;
import io.github.armaturedb.api.v1.ListValue;
import io.github.armaturedb.api.v1.MapValue;
import io.github.armaturedb.api.v1.NumberSet;
import io.github.armaturedb.api.v1.StringSet;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Native values to attribute values and back. */
final class Values {
    /** The daemon has a lower bound. This one keeps a value that contains itself from filling the stack. */
    private static final int DEPTH_MAX = 100;

    private static final AttributeValue NULL = AttributeValue.newBuilder().setNull(true).build();
    private static final AttributeValue TRUE = AttributeValue.newBuilder().setBool(true).build();
    private static final AttributeValue FALSE = AttributeValue.newBuilder().setBool(false).build();

    private Values() {}

    static AttributeValue encode(Object value, String path) {
        return encode(value, path, 0);
    }

    private static AttributeValue encode(Object value, String path, int depth) {
        if (depth > DEPTH_MAX) {
            throw new MappingException(path, "is nested too deeply");
        }
        if (value instanceof CharSequence text) {
            return text(text.toString());
        } else if (value instanceof Number number) {
            return number(numberText(number, path));
        } else if (value == null) {
            return NULL;
        } else if (value instanceof Boolean bool) {
            return bool(bool);
        } else if (isBytes(value)) {
            return AttributeValue.newBuilder().setB(bytesOf(value)).build();
        } else if (value instanceof Item item) {
            return map(item.attributes());
        } else if (value instanceof Map<?, ?> map) {
            return encodeMap(map, path, depth);
        } else if (value instanceof Set<?> set) {
            return encodeSet(set, path);
        } else if (value instanceof Collection<?> list) {
            ListValue.Builder values = ListValue.newBuilder();
            int at = 0;
            for (Object element : list) {
                values.addValues(encode(element, path + "[" + at++ + "]", depth + 1));
            }
            return AttributeValue.newBuilder().setL(values).build();
        } else if (value instanceof Record record) {
            return map(RecordMapper.write(record, path).getAttributesMap());
        } else if (value instanceof AttributeValue attribute) {
            return attribute;
        }
        return encodeOther(value, path);
    }

    private static AttributeValue encodeOther(Object value, String path) {
        Scalars.Scalar scalar = Scalars.of(value.getClass());
        if (scalar != null) {
            return scalar.write(value, path);
        }
        if (value instanceof Optional<?>) {
            throw new MappingException(path, "is an Optional; leave the attribute out, or give its value");
        }
        throw new MappingException(path, "a value of " + value.getClass().getName() + " has no form as an attribute");
    }

    private static AttributeValue encodeMap(Map<?, ?> map, String path, int depth) {
        MapValue.Builder entries = MapValue.newBuilder();
        map.forEach((key, value) -> {
            if (!(key instanceof String name)) {
                throw new MappingException(path, "the names in a map are texts, not " + (key == null ? "null" : key.getClass().getName()));
            }
            entries.putEntries(name, encode(value, join(path, name), depth + 1));
        });
        return AttributeValue.newBuilder().setM(entries).build();
    }

    static String join(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** A set, whose type is that of its first element. */
    static AttributeValue encodeSet(Collection<?> set, String path) {
        if (set.isEmpty()) {
            throw new MappingException(path, "is an empty set, which the database does not have; leave the attribute out");
        }
        Object first = set.iterator().next();
        if (first instanceof Number) {
            NumberSet.Builder values = NumberSet.newBuilder();
            set.forEach(element -> values.addValues(numberText(ofSet(element, Number.class, path), path)));
            return AttributeValue.newBuilder().setNs(values).build();
        } else if (first instanceof CharSequence) {
            StringSet.Builder values = StringSet.newBuilder();
            set.forEach(element -> values.addValues(ofSet(element, CharSequence.class, path).toString()));
            return AttributeValue.newBuilder().setSs(values).build();
        } else if (first != null && isBytes(first)) {
            BinarySet.Builder values = BinarySet.newBuilder();
            for (Object element : set) {
                if (element == null || !isBytes(element)) {
                    throw new MappingException(path, "the elements of a set have one type");
                }
                values.addValues(bytesOf(element));
            }
            return AttributeValue.newBuilder().setBs(values).build();
        } else if (first != null && Scalars.of(first.getClass()) != null && Scalars.of(first.getClass()).kind() == AttributeValue.ValueCase.S) {
            Class<?> type = first instanceof Enum<?> constant ? constant.getDeclaringClass() : first.getClass();
            return encodeSet(set.stream().map(element -> encode(ofSet(element, type, path), path).getS()).toList(), path);
        }
        throw new MappingException(path, "a set has texts, numbers or bytes");
    }

    private static <T> T ofSet(Object element, Class<T> type, String path) {
        if (!type.isInstance(element)) {
            throw new MappingException(path, "the elements of a set have one type");
        }
        return type.cast(element);
    }

    static boolean isBytes(Object value) {
        return value instanceof byte[] || value instanceof ByteBuffer || value instanceof ByteString;
    }

    static ByteString bytesOf(Object value) {
        if (value instanceof byte[] array) {
            return ByteString.copyFrom(array);
        }
        return value instanceof ByteBuffer buffer ? ByteString.copyFrom(buffer.duplicate()) : (ByteString) value;
    }

    static String numberText(Number number, String path) {
        if (number instanceof Integer || number instanceof Long || number instanceof BigDecimal || number instanceof BigInteger
                || number instanceof Short || number instanceof Byte) {
            return number.toString();
        }
        if (number instanceof Double || number instanceof Float) {
            if (!Double.isFinite(number.doubleValue())) {
                throw new MappingException(path, number + " is not a number of the database");
            }
            return number.toString();
        }
        try {
            return new BigDecimal(number.toString()).toString(); // such as AtomicLong
        } catch (NumberFormatException e) {
            throw new MappingException(path, "a number of " + number.getClass().getName() + " has no form as an attribute");
        }
    }

    static AttributeValue text(String text) {
        return AttributeValue.newBuilder().setS(text).build();
    }

    static AttributeValue number(String text) {
        return AttributeValue.newBuilder().setN(text).build();
    }

    static AttributeValue bool(boolean value) {
        return value ? TRUE : FALSE;
    }

    static AttributeValue nothing() {
        return NULL;
    }

    static AttributeValue map(Map<String, AttributeValue> entries) {
        return AttributeValue.newBuilder().setM(MapValue.newBuilder().putAllEntries(entries)).build();
    }

    /** The exact number of a text, in the form in which equal numbers are equal objects. */
    static BigDecimal decimal(String text) {
        BigDecimal number = new BigDecimal(text);
        if (number.scale() > 0) {
            number = number.stripTrailingZeros();
        }
        return number.scale() < 0 ? number.setScale(0) : number;
    }

    static Object decode(AttributeValue value) {
        return switch (value.getValueCase()) {
            case S -> value.getS();
            case N -> decimal(value.getN());
            case B -> value.getB().asReadOnlyByteBuffer();
            case BOOL -> value.getBool();
            case NULL, VALUE_NOT_SET -> null;
            case SS -> unmodifiable(value.getSs().getValuesList());
            case NS -> unmodifiable(value.getNs().getValuesList().stream().map(Values::decimal).toList());
            case BS -> unmodifiable(value.getBs().getValuesList().stream().map(ByteString::asReadOnlyByteBuffer).toList());
            case L -> list(value.getL().getValuesList());
            case M -> new Item(value.getM().getEntriesMap());
        };
    }

    private static <T> Set<T> unmodifiable(List<T> values) {
        return Collections.unmodifiableSet(new LinkedHashSet<>(values));
    }

    static List<Object> list(List<AttributeValue> values) {
        return new DecodedList(values);
    }

    /** Decodes the elements when they are read. */
    private static final class DecodedList extends AbstractList<Object> {
        private final List<AttributeValue> values;

        DecodedList(List<AttributeValue> values) {
            this.values = values;
        }

        @Override
        public Object get(int index) {
            return decode(values.get(index));
        }

        @Override
        public int size() {
            return values.size();
        }
    }
}
