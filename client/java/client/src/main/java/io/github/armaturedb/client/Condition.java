package io.github.armaturedb.client;

import java.util.List;

/** A built condition: of a write, a filter, or on keys. Immutable. */
public final class Condition extends Expression {
    private final Operand text;
    private final boolean isAtom; // needs no parentheses within others

    Condition(Operand text, boolean isAtom) {
        this.text = text;
        this.isAtom = isAtom;
    }

    @Override
    String compile(Binder binder) {
        return text.compile.apply(binder);
    }

    private static Operand group(Expression expression) {
        if (expression instanceof Condition condition && condition.isAtom) {
            return condition.text;
        }
        return new Operand(b -> "(" + expression.compile(b) + ")");
    }

    /** Both are true. */
    public Condition and(Expression other) {
        return new Condition(Operand.joined(" AND ", List.of(group(this), group(other))), false);
    }

    /** One of both is true. */
    public Condition or(Expression other) {
        return new Condition(Operand.joined(" OR ", List.of(group(this), group(other))), false);
    }

    static Condition not(Expression expression) {
        return new Condition(Operand.joined("", List.of(Operand.literal("NOT "), group(expression))), true);
    }

    /** A text, or a condition, as a condition. */
    static Condition of(Expression expression) {
        return expression instanceof Condition condition ? condition : new Condition(new Operand(expression::compile), false);
    }
}
