package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeValue;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Collects the placeholders of all expressions of one request. */
final class Binder {
    private static final Pattern INDEXES = Pattern.compile("(\\[[0-9]+\\])+");

    private final Map<String, Object> params; // of the request, for all its texts
    private final Map<String, String> names = new LinkedHashMap<>(); // placeholder to attribute
    private final Map<String, String> placeholders = new HashMap<>(); // attribute to generated placeholder
    private final Map<String, AttributeValue> values = new LinkedHashMap<>();
    private final Set<String> reserved = new HashSet<>(); // placeholders of the program
    private final Set<String> used = new HashSet<>();
    private final Set<String> given = new LinkedHashSet<>();
    private int nameCount;

    Binder(Map<String, Object> params) {
        this.params = params;
        given.addAll(params.keySet());
    }

    Map<String, Object> params() {
        return params;
    }

    Map<String, String> names() {
        return names;
    }

    Map<String, AttributeValue> values() {
        return values;
    }

    void given(Collection<String> parameters) {
        given.addAll(parameters);
    }

    void use(String parameter) {
        used.add(parameter);
    }

    /** Refuses a parameter that is in no expression of the request: it is probably misspelt. */
    void finish() {
        for (String name : given) {
            if (!used.contains(name)) {
                throw new IllegalArgumentException("the parameter " + name + " is in no expression of the request");
            }
        }
    }

    /**
     * Keeps generated placeholders apart from those of the program, which may be in a later expression. Texts within built
     * conditions are not looked into: their placeholders must not be ":v" or "#n0".
     */
    void reserve(Expression expression) {
        if (expression instanceof TextExpression text) {
            Matcher matcher = TextExpression.PLACEHOLDER.matcher(text.text());
            while (matcher.find()) {
                reserved.add(matcher.group());
            }
        }
    }

    /** The placeholder of an attribute name. */
    String name(String attribute) {
        String known = placeholders.get(attribute);
        if (known != null) {
            return known;
        }
        String placeholder;
        do {
            placeholder = "#n" + nameCount++;
        } while (reserved.contains(placeholder) || names.containsKey(placeholder));
        names.put(placeholder, attribute);
        placeholders.put(attribute, placeholder);
        return placeholder;
    }

    /** The placeholder of a value. The hint makes it readable in messages of the daemon. */
    String value(String hint, Object value) {
        AttributeValue encoded = Values.encode(value, "$" + hint);
        for (int n = 0; ; ++n) {
            String placeholder = n == 0 ? ":" + hint : ":" + hint + "_" + n;
            AttributeValue known = values.get(placeholder);
            if (!reserved.contains(placeholder) && (known == null || known.equals(encoded))) {
                values.put(placeholder, encoded);
                return placeholder;
            }
        }
    }

    /** Sets a placeholder of the program. */
    void define(String placeholder, Object value) {
        if (placeholder.charAt(0) == '#') {
            if (!(value instanceof String attribute)) {
                throw new IllegalArgumentException(placeholder + ": the name of an attribute is a text");
            }
            String known = names.putIfAbsent(placeholder, attribute);
            if (known != null && !known.equals(attribute)) {
                throw new IllegalArgumentException(placeholder + " means both " + known + " and " + attribute + " in one request");
            }
            return;
        }
        AttributeValue encoded = Values.encode(value, placeholder);
        AttributeValue known = values.putIfAbsent(placeholder, encoded);
        if (known != null && !known.equals(encoded)) {
            throw new IllegalArgumentException(placeholder + " has two values in one request");
        }
    }

    /** A document path, such as a.b[0], with placeholders for its names. */
    String path(String path) {
        StringBuilder out = new StringBuilder();
        for (String part : path.split("\\.", -1)) {
            int bracket = part.indexOf('[');
            String name = bracket < 0 ? part : part.substring(0, bracket);
            String indexes = bracket < 0 ? "" : part.substring(bracket);
            if (name.isEmpty() || bracket >= 0 && !INDEXES.matcher(indexes).matches()) {
                throw new IllegalArgumentException("\"" + path + "\" is not the path of an attribute; use name(...) for a name with a dot");
            }
            if (out.length() > 0) {
                out.append('.');
            }
            out.append(name(name)).append(indexes);
        }
        return out.toString();
    }
}
