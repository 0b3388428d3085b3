package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeDefinition;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.BillingMode;
import io.github.armaturedb.api.v1.CreateTableRequest;
import io.github.armaturedb.api.v1.GlobalSecondaryIndex;
import io.github.armaturedb.api.v1.KeySchemaElement;
import io.github.armaturedb.api.v1.KeyType;
import io.github.armaturedb.api.v1.LocalSecondaryIndex;
import io.github.armaturedb.api.v1.ProjectionType;
import io.github.armaturedb.api.v1.ProvisionedThroughput;
import io.github.armaturedb.api.v1.ScalarAttributeType;
import io.github.armaturedb.api.v1.StreamSpecification;
import io.github.armaturedb.api.v1.StreamViewType;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Definition of a table. Not safe for concurrent use.
 *
 * <pre>{@code
 * new TableSchema("orders").partition(Key.text("customer")).sort(Key.number("number"))
 *         .globalIndex("by_status", Key.text("status"), Key.number("total"))
 *         .stream()
 * }</pre>
 */
public final class TableSchema {
    private final CreateTableRequest.Builder request = CreateTableRequest.newBuilder().setBillingMode(BillingMode.BILLING_MODE_PAY_PER_REQUEST);
    private final Map<String, ScalarAttributeType> types = new TreeMap<>();

    /** A table without keys. */
    public TableSchema(String name) {
        request.setTableName(name);
    }

    /** A table whose keys are those of a record, by {@code @PartitionKey} and {@code @SortKey}. */
    public static TableSchema of(String name, Class<? extends Record> type) {
        TableSchema schema = new TableSchema(name);
        for (boolean isSort : new boolean[] {false, true}) {
            for (RecordMapper.Field field : RecordMapper.of(type).fields()) {
                if (isSort ? field.isSortKey() : field.isPartitionKey()) {
                    Key key = new Key(field.name(), Key.typeOf(field, type));
                    schema.request.addKeySchema(schema.element(key, isSort ? KeyType.KEY_TYPE_RANGE : KeyType.KEY_TYPE_HASH));
                }
            }
        }
        if (schema.request.getKeySchemaCount() == 0) {
            throw new IllegalArgumentException(type.getName() + " has no component with the annotation @PartitionKey");
        }
        return schema;
    }

    /**
     * An attribute of a key.
     *
     * @param name the name of the attribute
     */
    public record Key(String name, ScalarAttributeType type) {
        /** A text. */
        public static Key text(String name) {
            return new Key(name, ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_S);
        }

        /** A number. */
        public static Key number(String name) {
            return new Key(name, ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_N);
        }

        /** Bytes. */
        public static Key bytes(String name) {
            return new Key(name, ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_B);
        }

        static ScalarAttributeType typeOf(RecordMapper.Field field, Class<?> record) {
            AttributeValue.ValueCase kind = field.converter().kind();
            return switch (kind) {
                case S -> ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_S;
                case N -> ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_N;
                case B -> ScalarAttributeType.SCALAR_ATTRIBUTE_TYPE_B;
                default -> throw new IllegalArgumentException(record.getName() + "." + field.name() + ": a key is a text, a number or bytes");
            };
        }
    }

    private KeySchemaElement.Builder element(Key key, KeyType kind) {
        ScalarAttributeType known = types.putIfAbsent(key.name, key.type);
        if (known != null && known != key.type) {
            throw new IllegalArgumentException("the attribute " + key.name + " has two types");
        }
        return KeySchemaElement.newBuilder().setAttributeName(key.name).setKeyType(kind);
    }

    /** The partition key of the table. */
    public TableSchema partition(Key key) {
        request.addKeySchema(element(key, KeyType.KEY_TYPE_HASH));
        return this;
    }

    /** The sort key of the table. */
    public TableSchema sort(Key key) {
        request.addKeySchema(element(key, KeyType.KEY_TYPE_RANGE));
        return this;
    }

    /** A global index on one attribute. */
    public TableSchema globalIndex(String name, Key partition) {
        return globalIndex(name, List.of(partition), List.of(), i -> {});
    }

    /** A global index on a partition and a sort key. */
    public TableSchema globalIndex(String name, Key partition, Key sort) {
        return globalIndex(name, List.of(partition), List.of(sort), i -> {});
    }

    /** A global index on several attributes. */
    public TableSchema globalIndex(String name, List<Key> partition, List<Key> sort, Consumer<Index> options) {
        Index index = new Index();
        options.accept(index);
        GlobalSecondaryIndex.Builder global = GlobalSecondaryIndex.newBuilder().setIndexName(name).setProjection(index.projection());
        partition.forEach(key -> global.addKeySchema(element(key, KeyType.KEY_TYPE_HASH)));
        sort.forEach(key -> global.addKeySchema(element(key, KeyType.KEY_TYPE_RANGE)));
        request.addGlobalSecondaryIndexes(global);
        return this;
    }

    /** A local index: the partitions of the table in another order. The keys of the table come first. */
    public TableSchema localIndex(String name, Key sort) {
        return localIndex(name, sort, i -> {});
    }

    /** A local index. */
    public TableSchema localIndex(String name, Key sort, Consumer<Index> options) {
        if (request.getKeySchemaCount() == 0) {
            throw new IllegalArgumentException("a local index follows the partition key of the table");
        }
        Index index = new Index();
        options.accept(index);
        request.addLocalSecondaryIndexes(LocalSecondaryIndex.newBuilder()
                .setIndexName(name)
                .setProjection(index.projection())
                .addKeySchema(request.getKeySchema(0))
                .addKeySchema(element(sort, KeyType.KEY_TYPE_RANGE)));
        return this;
    }

    /** Records the changes of the table, with old and new items, for watches and streams. */
    public TableSchema stream() {
        return stream(StreamViewType.STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
    }

    /** Records the changes of the table. */
    public TableSchema stream(StreamViewType view) {
        request.setStreamSpecification(StreamSpecification.newBuilder().setStreamEnabled(true).setStreamViewType(view));
        return this;
    }

    /** Bounds reads and writes in units a second. Without it there are no bounds. */
    public TableSchema throughput(long readUnits, long writeUnits) {
        request.setBillingMode(BillingMode.BILLING_MODE_PROVISIONED)
                .setProvisionedThroughput(ProvisionedThroughput.newBuilder().setReadCapacityUnits(readUnits).setWriteCapacityUnits(writeUnits));
        return this;
    }

    /** Other members of the request. */
    public TableSchema with(Consumer<CreateTableRequest.Builder> change) {
        change.accept(request);
        return this;
    }

    String name() {
        return request.getTableName();
    }

    CreateTableRequest toRequest() {
        CreateTableRequest.Builder complete = request.build().toBuilder();
        types.forEach((name, type) -> complete.addAttributeDefinitions(AttributeDefinition.newBuilder().setAttributeName(name).setAttributeType(type)));
        if (complete.getBillingMode() == BillingMode.BILLING_MODE_PROVISIONED) {
            complete.getGlobalSecondaryIndexesBuilderList().stream()
                    .filter(index -> !index.hasProvisionedThroughput())
                    .forEach(index -> index.setProvisionedThroughput(complete.getProvisionedThroughput()));
        }
        return complete.build();
    }

    /** Options of an index: all attributes unless chosen. */
    public static final class Index {
        private final io.github.armaturedb.api.v1.Projection.Builder projection =
                io.github.armaturedb.api.v1.Projection.newBuilder().setProjectionType(ProjectionType.PROJECTION_TYPE_ALL);

        private Index() {}

        /** The index has the keys only. */
        public Index keysOnly() {
            projection.setProjectionType(ProjectionType.PROJECTION_TYPE_KEYS_ONLY);
            return this;
        }

        /** The index has the keys and these attributes. */
        public Index include(String... attributes) {
            projection.setProjectionType(ProjectionType.PROJECTION_TYPE_INCLUDE).addAllNonKeyAttributes(List.of(attributes));
            return this;
        }

        private io.github.armaturedb.api.v1.Projection projection() {
            return projection.build();
        }
    }
}
