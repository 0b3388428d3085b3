package io.github.armaturedb.client;

import com.google.protobuf.ByteString;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.AttributeValue.ValueCase;
import io.github.armaturedb.api.v1.ListValue;
import io.github.armaturedb.api.v1.MapValue;
import io.github.armaturedb.client.annotation.AsList;
import io.github.armaturedb.client.annotation.UnixTime;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Converts the values of one component of a record, or of the elements of one. */
interface FieldConverter {
    /** Null: the attribute is left out. */
    AttributeValue write(Object value, String path);

    /** The value of an attribute. Null: it is absent. */
    Object read(AttributeValue value, String path);

    /** The type of the attribute, if the component can be a key. */
    default ValueCase kind() {
        return ValueCase.VALUE_NOT_SET;
    }

    static FieldConverter of(RecordComponent component, String title) {
        if (component.isAnnotationPresent(UnixTime.class)) {
            if (component.getType() != Instant.class) {
                throw new IllegalArgumentException(title + ": @UnixTime is for an Instant");
            }
            return new UnixTimes();
        }
        if (component.isAnnotationPresent(AsList.class)) {
            if (component.getType() != Set.class) {
                throw new IllegalArgumentException(title + ": @AsList is for a Set");
            }
            return new Lists(of(argument(component.getGenericType(), 0), title), true);
        }
        return of(component.getGenericType(), title);
    }

    static FieldConverter of(Type generic, String title) {
        Class<?> type = generic instanceof ParameterizedType p ? (Class<?>) p.getRawType() : generic instanceof Class<?> c ? c : null;
        if (type == null) {
            throw new IllegalArgumentException(title + ": the type " + generic + " has no form as an attribute");
        }
        if (type == Optional.class) {
            return new Optionals(of(argument(generic, 0), title));
        } else if (type == List.class || type == Collection.class) {
            return new Lists(of(argument(generic, 0), title), false);
        } else if (type == Set.class) {
            return new Sets(ofElement(argument(generic, 0), title));
        } else if (type == Map.class && argument(generic, 0) == String.class) {
            return new Maps(of(argument(generic, 1), title));
        } else if (type == Object.class || type == Item.class) {
            return new Natives(type);
        } else if (type.isRecord()) {
            return new Records(type.asSubclass(Record.class));
        }
        Scalars.Scalar scalar = Scalars.of(type);
        if (scalar == null) {
            throw new IllegalArgumentException(title + ": the type " + generic.getTypeName() + " has no form as an attribute");
        }
        return new OfScalar(scalar);
    }

    private static Type argument(Type generic, int index) {
        return generic instanceof ParameterizedType p ? p.getActualTypeArguments()[index] : Object.class;
    }

    private static Scalars.Scalar ofElement(Type generic, String title) {
        Scalars.Scalar scalar = generic instanceof Class<?> type && type != Boolean.class ? Scalars.of(type) : null;
        if (scalar == null) {
            throw new IllegalArgumentException(title + ": a set has texts, numbers or bytes; @AsList stores a Set of others as a list");
        }
        return scalar;
    }

    private static boolean isAbsent(AttributeValue value) {
        return value == null || value.getValueCase() == ValueCase.NULL;
    }

    /** A scalar. */
    record OfScalar(Scalars.Scalar scalar) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null ? null : scalar.write(value, path);
        }

        @Override
        public Object read(AttributeValue value, String path) {
            return isAbsent(value) ? null : scalar.read(value, path);
        }

        @Override
        public ValueCase kind() {
            return scalar.kind();
        }
    }

    /** Seconds since 1970. */
    record UnixTimes() implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null ? null : Values.number(Long.toString(((Instant) value).getEpochSecond()));
        }

        @Override
        public Object read(AttributeValue value, String path) {
            if (isAbsent(value)) {
                return null;
            }
            Scalars.require(value, ValueCase.N, Instant.class, path);
            BigDecimal seconds = Values.decimal(value.getN());
            try {
                return Instant.ofEpochSecond(seconds.longValueExact());
            } catch (RuntimeException e) {
                throw new MappingException(path, "the number " + value.getN() + " is not a time in seconds");
            }
        }

        @Override
        public ValueCase kind() {
            return ValueCase.N;
        }
    }

    /** A value that may be absent. */
    record Optionals(FieldConverter inner) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null ? null : inner.write(((Optional<?>) value).orElse(null), path);
        }

        @Override
        public Object read(AttributeValue value, String path) {
            return Optional.ofNullable(inner.read(value, path));
        }
    }

    /** A list, or a set as a list. */
    record Lists(FieldConverter inner, boolean isSet) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            if (value == null) {
                return null;
            }
            ListValue.Builder list = ListValue.newBuilder();
            int at = 0;
            for (Object element : (Collection<?>) value) {
                AttributeValue written = inner.write(element, path + "[" + at++ + "]");
                list.addValues(written == null ? Values.nothing() : written);
            }
            return AttributeValue.newBuilder().setL(list).build();
        }

        @Override
        public Object read(AttributeValue value, String path) {
            if (isAbsent(value)) {
                return null;
            }
            Scalars.require(value, ValueCase.L, List.class, path);
            Collection<Object> elements = isSet ? new LinkedHashSet<>() : new ArrayList<>(value.getL().getValuesCount());
            for (AttributeValue element : value.getL().getValuesList()) {
                elements.add(inner.read(element, path + "[]"));
            }
            return isSet ? Collections.unmodifiableSet((Set<?>) elements) : Collections.unmodifiableList((List<?>) elements);
        }
    }

    /** A set. The database has no empty sets: the attribute is left out, and an absent one is an empty set. */
    record Sets(Scalars.Scalar scalar) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null || ((Set<?>) value).isEmpty() ? null : Values.encodeSet((Set<?>) value, path);
        }

        @Override
        public Object read(AttributeValue value, String path) {
            Set<Object> elements = new LinkedHashSet<>();
            if (isAbsent(value)) {
                return Collections.unmodifiableSet(elements);
            }
            switch (value.getValueCase()) {
                case SS -> value.getSs().getValuesList().forEach(s -> elements.add(scalar.read(Values.text(s), path)));
                case NS -> value.getNs().getValuesList().forEach(n -> elements.add(scalar.read(Values.number(n), path)));
                case BS -> {
                    for (ByteString bytes : value.getBs().getValuesList()) {
                        elements.add(scalar.read(AttributeValue.newBuilder().setB(bytes).build(), path));
                    }
                }
                default -> throw new MappingException(path, "an attribute of the type " + value.getValueCase() + " does not fit into Set");
            }
            return Collections.unmodifiableSet(elements);
        }
    }

    /** A map with values of one type. */
    record Maps(FieldConverter inner) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            if (value == null) {
                return null;
            }
            MapValue.Builder map = MapValue.newBuilder();
            ((Map<?, ?>) value).forEach((name, element) -> {
                AttributeValue written = inner.write(element, Values.join(path, (String) name));
                map.putEntries((String) name, written == null ? Values.nothing() : written);
            });
            return AttributeValue.newBuilder().setM(map).build();
        }

        @Override
        public Object read(AttributeValue value, String path) {
            if (isAbsent(value)) {
                return null;
            }
            Scalars.require(value, ValueCase.M, Map.class, path);
            Map<String, Object> map = new LinkedHashMap<>();
            value.getM().getEntriesMap().forEach((name, element) -> map.put(name, inner.read(element, Values.join(path, name))));
            return Collections.unmodifiableMap(map);
        }
    }

    /** Any value, in its native form. */
    record Natives(Class<?> type) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null ? null : Values.encode(value, path);
        }

        @Override
        public Object read(AttributeValue value, String path) {
            if (isAbsent(value)) {
                return null;
            }
            if (type == Item.class) {
                Scalars.require(value, ValueCase.M, Item.class, path);
            }
            return Values.decode(value);
        }
    }

    /** A record within a record. */
    record Records(Class<? extends Record> type) implements FieldConverter {
        @Override
        public AttributeValue write(Object value, String path) {
            return value == null ? null : Values.map(RecordMapper.write((Record) value, path).getAttributesMap());
        }

        @Override
        public Object read(AttributeValue value, String path) {
            if (isAbsent(value)) {
                return null;
            }
            Scalars.require(value, ValueCase.M, type, path);
            return RecordMapper.of(type).read(value.getM().getEntriesMap(), path);
        }
    }
}
