package io.github.armaturedb.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.github.armaturedb.api.v1.AttributeDefinition;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.CreateTableResponse;
import io.github.armaturedb.api.v1.DescribeTableResponse;
import io.github.armaturedb.api.v1.KeySchemaElement;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.TableDescription;
import io.github.armaturedb.api.v1.UpdateTableResponse;
import io.github.armaturedb.client.exception.Failure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Facts about failed calls that their texts leave out. docs/develop/clients/README.md lists them. Safe for concurrent use. */
final class Hints {
    private static final int SCHEMAS_MAX = 1000;
    private static final int ITEM_BYTES_MAX = 409_600;
    private static final int DIGITS_MAX = 38;
    private static final Pattern RESERVED_WORD = Pattern.compile("reserved keyword: (\\w+)");
    private static final Pattern WORD = Pattern.compile("[#:]?[A-Za-z_]\\w*(?!\\w*\\s*\\()");

    private final String address;
    /** The keys of tables and indexes as the client has seen them described last, by "table" or "table/index". */
    private final Map<String, String> schemas = new ConcurrentHashMap<>();

    /** The address is for errors. */
    Hints(String address) {
        this.address = address;
    }

    String address() {
        return address;
    }

    /** Notes the description in a response, if it has one. */
    void learn(Object response) {
        TableDescription table = null;
        if (response instanceof DescribeTableResponse r) {
            table = r.getTable();
        } else if (response instanceof CreateTableResponse r) {
            table = r.getTableDescription();
        } else if (response instanceof UpdateTableResponse r) {
            table = r.getTableDescription();
        }
        if (table == null || schemas.size() >= SCHEMAS_MAX) {
            return;
        }
        Map<String, String> types = new HashMap<>();
        for (AttributeDefinition one : table.getAttributeDefinitionsList()) {
            String type = one.getAttributeType().name();
            types.put(one.getAttributeName(), type.substring(type.lastIndexOf('_') + 1));
        }
        String name = table.getTableName();
        note(name, table.getKeySchemaList(), types);
        table.getGlobalSecondaryIndexesList().forEach(i -> note(name + "/" + i.getIndexName(), i.getKeySchemaList(), types));
        table.getLocalSecondaryIndexesList().forEach(i -> note(name + "/" + i.getIndexName(), i.getKeySchemaList(), types));
    }

    private void note(String name, List<KeySchemaElement> schema, Map<String, String> types) {
        List<String> key = schema.stream().map(e -> e.getAttributeName() + " (" + types.get(e.getAttributeName()) + ")").toList();
        schemas.put(name, String.join(", ", key));
    }

    private String keyOf(String name) {
        String key = schemas.get(name);
        return key == null ? "" : "the key of " + name + " is " + key;
    }

    /** The failure with the reason why there is no connection, or with a hint about the request. */
    Failure explain(Failure failure, Object request) {
        if (failure.exception().isEmpty()) {
            return failure.message().contains("over TLS") ? failure.withHint("connect with TLS") : failure.at(address);
        }
        return request instanceof Message message ? failure.withHint(hintOf(failure.message(), message)) : failure;
    }

    private String hintOf(String message, Message request) {
        List<String> parts = new ArrayList<>();
        Set<String> tables = tablesOf(request);
        if (tables.size() > 1) {
            parts.add("tables " + String.join(", ", tables));
        } else {
            tables.stream().filter(table -> !message.endsWith(table)).forEach(table -> parts.add("table " + table));
        }
        String index = get(request, "index_name", String.class).orElse("");
        parts.add(index.isEmpty() ? "" : "index " + index);
        Matcher reserved = RESERVED_WORD.matcher(message);
        if (reserved.find()) {
            parts.add("in an expression, #" + reserved.group(1) + " stands for the attribute " + reserved.group(1));
        } else if (message.contains("does not match the schema")) {
            parts.add(keyHint(request));
            tables.forEach(table -> parts.add(keyOf(table)));
        } else if (message.contains("key schema element") || message.contains("key condition not supported")) {
            parts.add(request instanceof QueryRequest query ? conditionHint(query) : "");
            tables.forEach(table -> parts.add(keyOf(index.isEmpty() ? table : table + "/" + index)));
        } else if (message.contains("Item size")) {
            parts.add(sizeHint(request));
        } else if (message.contains("significant digits")) {
            parts.add(digitsHint(request));
        }
        parts.removeIf(String::isEmpty);
        return String.join("; ", parts);
    }

    /** A field of a message, if it has one of this name and type. */
    private static <T> Optional<T> get(Message message, String name, Class<T> type) {
        FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
        return Optional.ofNullable(field).map(message::getField).filter(type::isInstance).map(type::cast);
    }

    /** The entries of a map of values, or the attributes of an item, by name. */
    private static Map<String, AttributeValue> valuesOf(Message message, String field) {
        Map<String, AttributeValue> values = new TreeMap<>();
        get(message, field, List.class).ifPresent(entries -> {
            for (Object entry : entries) {
                get((Message) entry, "value", AttributeValue.class).ifPresent(
                        value -> values.put(get((Message) entry, "key", String.class).orElse(""), value));
            }
        });
        return values;
    }

    private static Map<String, AttributeValue> attributesOf(Message request, String field) {
        return get(request, field, Message.class).map(item -> valuesOf(item, "attributes")).orElse(Map.of());
    }

    /** The tables that a request names. */
    private static Set<String> tablesOf(Message request) {
        Set<String> tables = new TreeSet<>();
        get(request, "table_name", String.class).ifPresent(tables::add);
        get(request, "request_items", List.class).ifPresent(entries -> {
            for (Object entry : entries) {
                get((Message) entry, "key", String.class).ifPresent(tables::add);
            }
        });
        get(request, "transact_items", List.class).ifPresent(actions -> {
            for (Object action : actions) {
                ((Message) action).getAllFields().values().forEach(part -> get((Message) part, "table_name", String.class).ifPresent(tables::add));
            }
        });
        tables.remove("");
        return tables;
    }

    private static String keyHint(Message request) {
        List<String> key = new ArrayList<>();
        attributesOf(request, "key").forEach((name, value) -> key.add(name + " (" + value.getValueCase() + ")"));
        return key.isEmpty() ? "" : "the given key is " + String.join(", ", key);
    }

    /** The attributes that a key condition names. */
    private static String conditionHint(QueryRequest query) {
        Set<String> names = new LinkedHashSet<>();
        WORD.matcher(query.getKeyConditionExpression()).results().map(m -> m.group()).forEach(word -> {
            if (!word.startsWith(":") && !word.equalsIgnoreCase("and") && !word.equalsIgnoreCase("between")) {
                names.add(query.getExpressionAttributeNamesOrDefault(word, word));
            }
        });
        return names.isEmpty() ? "" : "the key condition names " + String.join(", ", names);
    }

    private static String sizeHint(Message request) {
        String limit = "an item has at most " + ITEM_BYTES_MAX + " bytes, with the names of its attributes";
        return attributesOf(request, "item").entrySet().stream()
                .max(Comparator.comparingInt(e -> e.getValue().getSerializedSize()))
                .map(e -> limit + "; the largest attribute is " + e.getKey() + " with " + e.getValue().getSerializedSize() + " bytes")
                .orElse(limit);
    }

    /** The place of a number with too many digits. */
    private static String digitsHint(Message request) {
        String attribute = placeIn(attributesOf(request, "item"));
        if (attribute != null) {
            return "the number is in the attribute " + attribute;
        }
        String value = placeIn(valuesOf(request, "expression_attribute_values"));
        return value == null ? "" : "the number is in the value " + value;
    }

    private static String placeIn(Map<String, AttributeValue> values) {
        for (Map.Entry<String, AttributeValue> entry : values.entrySet()) {
            String place = placeIn(entry.getValue());
            if (place != null) {
                return entry.getKey() + place;
            }
        }
        return null;
    }

    /** The path behind the name of an attribute; null: its numbers have few digits. */
    private static String placeIn(AttributeValue value) {
        if (hasManyDigits(value.getN()) || value.getNs().getValuesList().stream().anyMatch(Hints::hasManyDigits)) {
            return "";
        }
        String inMap = placeIn(new TreeMap<>(value.getM().getEntriesMap()));
        if (inMap != null) {
            return "." + inMap;
        }
        for (int i = 0; i < value.getL().getValuesCount(); ++i) {
            String place = placeIn(value.getL().getValues(i));
            if (place != null) {
                return "[" + i + "]" + place;
            }
        }
        return null;
    }

    private static boolean hasManyDigits(String number) {
        return number.replaceFirst("[eE].*", "").replaceAll("[^0-9]", "").replaceAll("^0+|0+$", "").length() > DIGITS_MAX;
    }
}
