package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.Item.Builder;
import io.github.armaturedb.client.annotation.AttributeName;
import io.github.armaturedb.client.annotation.PartitionKey;
import io.github.armaturedb.client.annotation.SortKey;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Records as items. One mapper for each class of records, made at its first use. */
final class RecordMapper<T extends Record> implements ItemMapper<T> {
    private static final ClassValue<RecordMapper<?>> MAPPERS = new ClassValue<>() {
        @Override
        protected RecordMapper<?> computeValue(Class<?> type) {
            return new RecordMapper<>(type.asSubclass(Record.class));
        }
    };

    /** A component of the record. */
    record Field(
            String name, Class<?> type, FieldConverter converter, MethodHandle accessor, boolean isPartitionKey, boolean isSortKey) {}

    private final Class<T> type;
    private final Field[] fields;
    private final MethodHandle constructor; // takes an Object[]

    private RecordMapper(Class<T> type) {
        this.type = type;
        RecordComponent[] components = type.getRecordComponents();
        Set<String> names = new HashSet<>();
        fields = new Field[components.length];
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        try {
            for (int i = 0; i < components.length; ++i) {
                RecordComponent component = components[i];
                AttributeName renamed = component.getAnnotation(AttributeName.class);
                String name = renamed == null ? component.getName() : renamed.value();
                if (!names.add(name)) {
                    throw new IllegalArgumentException(type.getName() + ": two components are the attribute " + name);
                }
                Method accessor = component.getAccessor();
                accessor.setAccessible(true);
                FieldConverter converter = FieldConverter.of(component, type.getSimpleName() + "." + component.getName());
                fields[i] = new Field(name, component.getType(), converter,
                        lookup.unreflect(accessor).asType(MethodType.methodType(Object.class, Record.class)),
                        component.isAnnotationPresent(PartitionKey.class), component.isAnnotationPresent(SortKey.class));
            }
            Constructor<T> canonical =
                    type.getDeclaredConstructor(Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            canonical.setAccessible(true);
            constructor = lookup.unreflectConstructor(canonical)
                    .asSpreader(Object[].class, components.length)
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (ReflectiveOperationException | SecurityException | java.lang.reflect.InaccessibleObjectException e) {
            throw new IllegalArgumentException("the record " + type.getName() + " cannot be accessed: its module must open its package", e);
        }
    }

    @SuppressWarnings("unchecked")
    static <T extends Record> RecordMapper<T> of(Class<T> type) {
        return (RecordMapper<T>) MAPPERS.get(type);
    }

    @SuppressWarnings("unchecked")
    static <T extends Record> io.github.armaturedb.api.v1.Item write(T record, String path) {
        return of((Class<T>) record.getClass()).toMessage(record, path);
    }

    Field[] fields() {
        return fields;
    }

    @Override
    public Item toItem(T value) {
        return Item.of(toMessage(value, ""));
    }

    @Override
    public T fromItem(Item item) {
        return read(item.attributes(), "");
    }

    io.github.armaturedb.api.v1.Item toMessage(T record, String path) {
        Builder item = io.github.armaturedb.api.v1.Item.newBuilder();
        for (Field field : fields) {
            AttributeValue value = field.converter.write(valueOf(field, record), Values.join(path, field.name));
            if (value != null) {
                item.putAttributes(field.name, value);
            }
        }
        return item.build();
    }

    /** The key attributes of a record, by its annotations. */
    Map<String, AttributeValue> keyOf(T record) {
        Map<String, AttributeValue> key = new LinkedHashMap<>();
        for (Field field : fields) {
            if (field.isPartitionKey || field.isSortKey) {
                AttributeValue value = field.converter.write(valueOf(field, record), field.name);
                if (value == null) {
                    throw new MappingException(field.name, "the key of a " + type.getSimpleName() + " is null");
                }
                key.put(field.name, value);
            }
        }
        if (key.isEmpty()) {
            throw new IllegalArgumentException(type.getName() + " has no component with the annotation @PartitionKey");
        }
        return key;
    }

    private static Object valueOf(Field field, Record record) {
        try {
            return (Object) field.accessor.invokeExact(record);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    T read(Map<String, AttributeValue> attributes, String path) {
        Object[] values = new Object[fields.length];
        for (int i = 0; i < fields.length; ++i) {
            Field field = fields[i];
            AttributeValue value = attributes.get(field.name);
            // The path is made when it is needed: most values fit.
            try {
                values[i] = field.converter.read(value, field.name);
            } catch (MappingException e) {
                throw path.isEmpty() ? e : new MappingException(path, e.getMessage());
            }
            if (values[i] == null && field.type.isPrimitive()) {
                throw new MappingException(Values.join(path, field.name), (value == null ? "is absent" : "is null") + ", but " + type.getSimpleName()
                        + " needs " + field.type + "; use " + MethodType.methodType(field.type).wrap().returnType().getSimpleName() + " or Optional for attributes that may be absent");
            }
        }
        try {
            return type.cast((Object) constructor.invokeExact(values));
        } catch (RuntimeException | Error e) {
            throw e; // of the record's own checks
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
