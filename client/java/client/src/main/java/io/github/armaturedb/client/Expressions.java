package io.github.armaturedb.client;

import java.util.List;

/**
 * Builds expressions from attributes. Names become placeholders, so that reserved words do no harm. For static import:
 *
 * <pre>{@code
 * import static io.github.armaturedb.client.Expressions.*;
 *
 * orders.update(key, set("status", "paid").set("total", attr("total").plus(5)), o -> o.condition(attr("status").eq("open")));
 * }</pre>
 */
public final class Expressions {
    private Expressions() {}

    /** The attribute at a document path, such as "address.lines[0]". */
    public static Operand attr(String path) {
        return new Operand(b -> b.path(path));
    }

    /** The attribute of a name that is taken literally: it may have dots. */
    public static Operand name(String attribute) {
        return new Operand(b -> b.name(attribute));
    }

    /** The condition is false. */
    public static Condition not(Expression condition) {
        return Condition.not(condition);
    }

    /** A condition as text, as a part of a built one. */
    public static Condition text(String text, Object... params) {
        return Condition.of(Expression.text(text, params));
    }

    /** An update that sets the attribute at a path to an operand or a value. */
    public static Update set(String path, Object value) {
        return Update.NONE.set(path, value);
    }

    /** An update that removes attributes. */
    public static Update remove(String... paths) {
        return Update.NONE.remove(paths);
    }

    /** An update that adds a number to a number, or the elements of a set to a set. */
    public static Update add(String path, Object value) {
        return Update.NONE.add(path, value);
    }

    /** An update that removes the elements of a set from a set. */
    public static Update delete(String path, Object value) {
        return Update.NONE.delete(path, value);
    }

    /** The attributes that a read returns, by their document paths. */
    public static Expression fields(String... paths) {
        return new Projection(List.of(paths));
    }
}
