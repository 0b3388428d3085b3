package io.github.armaturedb.client;

import java.util.Map;

/**
 * A condition, a filter, an update or a projection of a request. {@link #text} makes one from a text, {@link Expressions}
 * builds one from attributes. Immutable.
 *
 * <p>In a text, {@code $name} stands for the value of that parameter, and {@code #name} for the attribute of that name, so
 * that reserved words do no harm:
 *
 * <pre>{@code
 * Expression.text("#status = $old AND visits > $least", "old", "open", "least", 10)
 * }</pre>
 *
 * <p>Parameters whose name begins with ':' or '#' are the placeholders of the documented API and are written as such in
 * the text: {@code text("#s = :s", "#s", "full.state", ":s", "open")}. A parameter without a value, and one that no text
 * of the request uses, are refused before anything is sent.
 */
public abstract sealed class Expression permits TextExpression, Condition, Update, Projection {
    Expression() {}

    /** The text for the request, whose names and values are in the binder. */
    abstract String compile(Binder binder);

    /** An expression as text, with its parameters in turns of names and values. */
    public static Expression text(String text, Object... params) {
        return new TextExpression(text, Params.mapOf(params));
    }

    /** An expression as text. */
    public static Expression text(String text, Map<String, ?> params) {
        return new TextExpression(text, params);
    }
}
