package io.github.armaturedb.scenarios;

import io.github.armaturedb.client.Change;
import io.github.armaturedb.client.Item;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Nodes of YAML, and the values that they stand for. */
final class Nodes {
    private Nodes() {}

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object node) {
        return node == null ? Map.of() : (Map<String, Object>) node;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object node) {
        return node == null ? List.of() : (List<Object>) node;
    }

    static List<String> texts(Object node) {
        return list(node).stream().map(String::valueOf).toList();
    }

    static boolean is(Map<String, Object> node, String member) {
        return Boolean.TRUE.equals(node.get(member));
    }

    /** The native value of a node. */
    static Object value(Object node) {
        if (node instanceof List<?> list) {
            return list.stream().map(Nodes::value).toList();
        }
        if (!(node instanceof Map<?, ?> map)) {
            return node;
        }
        if (map.size() == 1) {
            String key = (String) map.keySet().iterator().next();
            Object inner = map.get(key);
            switch (key) {
                case "$n":
                    return new BigDecimal((String) inner);
                case "$b":
                    return Base64.getDecoder().decode((String) inner);
                case "$s":
                    return ((String) list(inner).get(0)).repeat((Integer) list(inner).get(1));
                case "$ss":
                    return new LinkedHashSet<>(texts(inner));
                case "$ns":
                    Set<Object> numbers = new LinkedHashSet<>();
                    texts(inner).forEach(n -> numbers.add(new BigDecimal(n)));
                    return numbers;
                case "$bs":
                    Set<Object> bytes = new LinkedHashSet<>();
                    texts(inner).forEach(b -> bytes.add(Base64.getDecoder().decode(b)));
                    return bytes;
                default:
                    break;
            }
        }
        Map<String, Object> values = new LinkedHashMap<>();
        map.forEach((name, inner) -> values.put((String) name, value(inner)));
        return values;
    }

    /** The native map of an item or a key. */
    static Map<String, Object> item(Object node) {
        return map(value(node));
    }

    /** Copies a node, with the number of the item in its place. */
    static Object numbered(Object node, int number) {
        if (node instanceof String text) {
            return text.replace("{i}", Integer.toString(number));
        } else if (node instanceof List<?> list) {
            return list.stream().map(e -> numbered(e, number)).toList();
        } else if (node instanceof Map<?, ?> map) {
            if (map.containsKey("$i")) {
                return number * (Integer) map.get("$i");
            }
            Map<String, Object> copy = new LinkedHashMap<>();
            map.forEach((name, inner) -> copy.put((String) name, numbered(inner, number)));
            return copy;
        }
        return node;
    }

    /** A text that is equal for equal values. */
    static String canonical(Object value, boolean unordered) {
        if (value instanceof Number number) {
            BigDecimal decimal = new BigDecimal(number.toString());
            return decimal.signum() == 0 ? "0" : decimal.stripTrailingZeros().toString();
        } else if (value instanceof byte[] bytes) {
            return "b:" + Base64.getEncoder().encodeToString(bytes);
        } else if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return canonical(bytes, unordered);
        } else if (value instanceof Optional<?> optional) {
            return canonical(optional.orElse(null), unordered);
        } else if (value instanceof Map<?, ?> map) {
            TreeMap<String, String> sorted = new TreeMap<>();
            map.forEach((name, inner) -> sorted.put((String) name, canonical(inner, unordered)));
            return sorted.toString();
        } else if (value instanceof Set<?> set) {
            return "set" + set.stream().map(e -> canonical(e, unordered)).sorted().toList();
        } else if (value instanceof Collection<?> list) {
            List<String> all = new ArrayList<>(list.stream().map(e -> canonical(e, unordered)).toList());
            if (unordered) {
                all.sort(null);
            }
            return all.toString();
        }
        return value instanceof String text ? '"' + text + '"' : String.valueOf(value);
    }

    static boolean same(Object a, Object b, boolean unordered) {
        return canonical(a, unordered).equals(canonical(b, unordered));
    }

    static Map<String, Object> change(Change<Item> change) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("event", change.event().name());
        result.put("key", change.key());
        change.newItem().ifPresent(item -> result.put("new", item));
        change.oldItem().ifPresent(item -> result.put("old", item));
        return result;
    }
}
