package io.github.armaturedb.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An expression as text with parameters. */
final class TextExpression extends Expression {
    private static final Pattern PARAMETER = Pattern.compile("\\$([A-Za-z_][A-Za-z0-9_]*)?");

    /** As in the documented API. */
    static final Pattern PLACEHOLDER = Pattern.compile("[#:][A-Za-z0-9_]+");

    private final String text;
    private final Map<String, Object> params;

    TextExpression(String text, Map<String, ?> params) {
        this.text = java.util.Objects.requireNonNull(text, "the text of an expression");
        this.params = Collections.unmodifiableMap(new LinkedHashMap<>(params));
    }

    String text() {
        return text;
    }

    @Override
    String compile(Binder binder) {
        binder.given(params.keySet());
        Matcher placeholders = PLACEHOLDER.matcher(text);
        while (placeholders.find()) {
            String placeholder = placeholders.group();
            binder.use(placeholder);
            if (isGiven(binder, placeholder)) {
                binder.define(placeholder, find(binder, placeholder));
            } else if (placeholder.charAt(0) == '#') {
                binder.define(placeholder, placeholder.substring(1));
            } else {
                throw missing(placeholder);
            }
        }
        return PARAMETER.matcher(text).replaceAll(match -> {
            String name = match.group(1);
            if (name == null || !isGiven(binder, name)) {
                throw missing(match.group());
            }
            binder.use(name);
            return Matcher.quoteReplacement(binder.value(name, find(binder, name)));
        });
    }

    private boolean isGiven(Binder binder, String name) {
        return params.containsKey(name) || binder.params().containsKey(name);
    }

    private Object find(Binder binder, String name) {
        return params.containsKey(name) ? params.get(name) : binder.params().get(name);
    }

    private IllegalArgumentException missing(String parameter) {
        return new IllegalArgumentException(parameter + ": the expression \"" + text + "\" has no such parameter");
    }
}
