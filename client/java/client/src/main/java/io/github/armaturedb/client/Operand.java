package io.github.armaturedb.client;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * An attribute, or a function of one, in a built expression. Arguments are operands or native values. Immutable.
 *
 * @see Expressions#attr
 */
public final class Operand {
    final Function<Binder, String> compile;

    Operand(Function<Binder, String> compile) {
        this.compile = compile;
    }

    static Operand of(Object value) {
        return value instanceof Operand operand ? operand : new Operand(b -> b.value("v", value));
    }

    static Operand literal(String text) {
        return new Operand(b -> text);
    }

    static Operand joined(String separator, List<Operand> parts) {
        return new Operand(b -> parts.stream().map(p -> p.compile.apply(b)).collect(Collectors.joining(separator)));
    }

    static Operand function(String name, Operand... arguments) {
        return joined("", List.of(literal(name + "("), joined(", ", List.of(arguments)), literal(")")));
    }

    private Condition compare(String operator, Object value) {
        return new Condition(joined(operator, List.of(this, of(value))), true);
    }

    /** The size: characters, bytes or elements. */
    public Operand size() {
        return function("size", this);
    }

    /** The sum, for an update. */
    public Operand plus(Object value) {
        return joined(" + ", List.of(this, of(value)));
    }

    /** The difference, for an update. */
    public Operand minus(Object value) {
        return joined(" - ", List.of(this, of(value)));
    }

    /** The attribute, or a value if the item does not have it, for an update. */
    public Operand orElse(Object value) {
        return function("if_not_exists", this, of(value));
    }

    /** The list with further elements at its end, for an update. */
    public Operand append(List<?> values) {
        return function("list_append", this, of(values));
    }

    /** The list with further elements at its beginning, for an update. */
    public Operand prepend(List<?> values) {
        return function("list_append", of(values), this);
    }

    /** Both are equal. */
    public Condition eq(Object value) {
        return compare(" = ", value);
    }

    /** They differ. */
    public Condition ne(Object value) {
        return compare(" <> ", value);
    }

    /** Less than the value. */
    public Condition lt(Object value) {
        return compare(" < ", value);
    }

    /** At most the value. */
    public Condition le(Object value) {
        return compare(" <= ", value);
    }

    /** Greater than the value. */
    public Condition gt(Object value) {
        return compare(" > ", value);
    }

    /** At least the value. */
    public Condition ge(Object value) {
        return compare(" >= ", value);
    }

    /** At least the lower and at most the upper value. */
    public Condition between(Object low, Object high) {
        return new Condition(joined("", List.of(this, literal(" BETWEEN "), of(low), literal(" AND "), of(high))), true);
    }

    /** Equal to one of the values: 1 to 100. */
    public Condition in(Object... values) {
        return new Condition(joined("", List.of(this, literal(" IN ("),
                joined(", ", Arrays.stream(values).map(Operand::of).toList()), literal(")"))), true);
    }

    /** The text or the bytes begin so. */
    public Condition beginsWith(Object prefix) {
        return new Condition(function("begins_with", this, of(prefix)), true);
    }

    /** The value is in the text, the set or the list. */
    public Condition contains(Object value) {
        return new Condition(function("contains", this, of(value)), true);
    }

    /** The item has the attribute. */
    public Condition exists() {
        return new Condition(function("attribute_exists", this), true);
    }

    /** The item does not have the attribute. */
    public Condition notExists() {
        return new Condition(function("attribute_not_exists", this), true);
    }

    /** The attribute has a type: "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L" or "M". */
    public Condition hasType(String type) {
        return new Condition(function("attribute_type", this, of(type)), true);
    }
}
