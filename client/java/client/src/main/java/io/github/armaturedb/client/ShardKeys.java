package io.github.armaturedb.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.GlobalSecondaryIndexDescription;
import io.github.armaturedb.api.v1.Item;
import io.github.armaturedb.api.v1.KeySchemaElement;
import io.github.armaturedb.api.v1.KeyType;
import io.github.armaturedb.api.v1.ListValue;
import io.github.armaturedb.api.v1.LocalSecondaryIndexDescription;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.TableDescription;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The key attributes that the items of a sharded query have, and the continuations.
 *
 * @param sort of the table or index, in their order
 */
record ShardKeys(List<String> sort, List<String> others) {
    /** The version of the form: a list of the version, the query, and a value for each shard: true: finished; null: not begun; else its last key. */
    private static final String CONTINUATION_VERSION = "1";

    /** A place in a shard. */
    record Position(boolean isDone, Item startAfter) {
        static final Position BEGINNING = new Position(false, null);
    }

    static ShardKeys of(TableDescription table, String index) {
        List<KeySchemaElement> schema = index.isEmpty() ? table.getKeySchemaList() : null;
        for (GlobalSecondaryIndexDescription global : table.getGlobalSecondaryIndexesList()) {
            schema = global.getIndexName().equals(index) ? global.getKeySchemaList() : schema;
        }
        for (LocalSecondaryIndexDescription local : table.getLocalSecondaryIndexesList()) {
            schema = local.getIndexName().equals(index) ? local.getKeySchemaList() : schema;
        }
        if (schema == null) {
            throw new IllegalArgumentException("the table " + table.getTableName() + " has no index " + index);
        }
        List<String> sort = new ArrayList<>();
        List<String> others = new ArrayList<>();
        schema.forEach(e -> (e.getKeyType() == KeyType.KEY_TYPE_RANGE ? sort : others).add(e.getAttributeName()));
        for (KeySchemaElement element : table.getKeySchemaList()) {
            if (!sort.contains(element.getAttributeName()) && !others.contains(element.getAttributeName())) {
                others.add(element.getAttributeName());
            }
        }
        return new ShardKeys(sort, others);
    }

    void check(Item item) {
        for (List<String> names : List.of(sort, others)) {
            for (String name : names) {
                if (!item.containsAttributes(name)) {
                    throw new IllegalArgumentException("an item lacks the key attribute " + name + ": the projection must keep all key attributes");
                }
            }
        }
    }

    Item keyOf(Item item) {
        Item.Builder key = Item.newBuilder();
        sort.forEach(name -> key.putAttributes(name, item.getAttributesOrThrow(name)));
        others.forEach(name -> key.putAttributes(name, item.getAttributesOrThrow(name)));
        return key.build();
    }

    int compare(Item a, Item b) {
        for (String name : sort) {
            int order = compare(a.getAttributesOrThrow(name), b.getAttributesOrThrow(name));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    /** Orders two values of one key attribute: numbers by value, texts and bytes by their bytes. */
    private static int compare(AttributeValue a, AttributeValue b) {
        return switch (a.getValueCase()) {
            case N -> Values.decimal(a.getN()).compareTo(Values.decimal(b.getN()));
            case S -> ByteString.unsignedLexicographicalComparator().compare(a.getSBytes(), b.getSBytes());
            case B -> ByteString.unsignedLexicographicalComparator().compare(a.getB(), b.getB());
            default -> 0;
        };
    }

    /** The parts of a query that must be equal for one query to continue another. */
    static ByteString identityOf(QueryRequest request, Shards shards) {
        String head = SessionState.tableName(request.getTableName()) + "\n" + request.getIndexName() + "\n"
                + (request.hasScanIndexForward() ? 0 : 1) + "\n" + shards.first() + "\n" + shards.count() + "\n";
        AttributeValue first = Values.encode(shards.value().apply(shards.first()), "the value of a shard");
        return ByteString.copyFrom(head, StandardCharsets.UTF_8).concat(first.toByteString());
    }

    static String continuation(ByteString identity, List<Position> positions) {
        ListValue.Builder values = ListValue.newBuilder()
                .addValues(Values.number(CONTINUATION_VERSION))
                .addValues(AttributeValue.newBuilder().setB(identity));
        for (Position position : positions) {
            if (position.isDone) {
                values.addValues(Values.bool(true));
            } else if (position.startAfter == null) {
                values.addValues(Values.nothing());
            } else {
                values.addValues(Values.map(position.startAfter.getAttributesMap()));
            }
        }
        return Base64.getUrlEncoder().encodeToString(AttributeValue.newBuilder().setL(values).build().toByteArray());
    }

    static List<Position> positions(Shards shards, ByteString identity) {
        List<Position> positions = new ArrayList<>();
        if (shards.continuation().isEmpty()) {
            for (int i = 0; i < shards.count(); ++i) {
                positions.add(Position.BEGINNING);
            }
            return positions;
        }
        List<AttributeValue> values;
        try {
            values = AttributeValue.parseFrom(Base64.getUrlDecoder().decode(shards.continuation())).getL().getValuesList();
        } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
            throw malformed();
        }
        if (values.size() < 2 || !values.get(0).getN().equals(CONTINUATION_VERSION)) {
            throw malformed();
        }
        if (!values.get(1).getB().equals(identity) || values.size() != shards.count() + 2) {
            throw new IllegalArgumentException("the continuation is that of another query");
        }
        for (AttributeValue value : values.subList(2, values.size())) {
            Map<String, AttributeValue> key = value.getM().getEntriesMap();
            if (!key.isEmpty()) {
                positions.add(new Position(false, Item.newBuilder().putAllAttributes(key).build()));
            } else if (value.getBool()) {
                positions.add(new Position(true, null));
            } else if (value.getNull()) {
                positions.add(Position.BEGINNING);
            } else {
                throw malformed();
            }
        }
        return positions;
    }

    private static IllegalArgumentException malformed() {
        return new IllegalArgumentException("this is not the continuation of a sharded query");
    }
}
