package io.github.armaturedb.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A built update: what it sets, removes, adds and deletes. Immutable: each method gives a longer one. */
public final class Update extends Expression {
    static final Update NONE = new Update(Map.of());

    private enum Clause {
        SET,
        REMOVE,
        ADD,
        DELETE
    }

    private final Map<Clause, List<Operand>> clauses;

    private Update(Map<Clause, List<Operand>> clauses) {
        this.clauses = clauses;
    }

    private Update with(Clause clause, List<Operand> actions) {
        Map<Clause, List<Operand>> all = new TreeMap<>(clauses);
        List<Operand> list = new ArrayList<>(all.getOrDefault(clause, List.of()));
        list.addAll(actions);
        all.put(clause, list);
        return new Update(Collections.unmodifiableMap(all));
    }

    private static Operand pair(String separator, String path, Object value) {
        return Operand.joined(separator, List.of(Expressions.attr(path), Operand.of(value)));
    }

    /** Also sets the attribute at a path to an operand or a value. */
    public Update set(String path, Object value) {
        return with(Clause.SET, List.of(pair(" = ", path, value)));
    }

    /** Also removes attributes. */
    public Update remove(String... paths) {
        return with(Clause.REMOVE, Arrays.stream(paths).map(Expressions::attr).toList());
    }

    /** Also adds a number to a number, or the elements of a set to a set. */
    public Update add(String path, Object value) {
        return with(Clause.ADD, List.of(pair(" ", path, value)));
    }

    /** Also removes the elements of a set from a set. */
    public Update delete(String path, Object value) {
        return with(Clause.DELETE, List.of(pair(" ", path, value)));
    }

    @Override
    String compile(Binder binder) {
        List<String> parts = new ArrayList<>();
        clauses.forEach((clause, actions) -> parts.add(clause + " " + Operand.joined(", ", actions).compile.apply(binder)));
        return String.join(" ", parts);
    }
}
