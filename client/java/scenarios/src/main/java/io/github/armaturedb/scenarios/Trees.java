package io.github.armaturedb.scenarios;

import io.github.armaturedb.client.Condition;
import io.github.armaturedb.client.Expression;
import io.github.armaturedb.client.Expressions;
import io.github.armaturedb.client.Operand;
import io.github.armaturedb.client.Update;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Expressions of operations. */
final class Trees {
    private Trees() {}

    /** Null: absent. */
    static Expression expression(Map<String, Object> given, String member) {
        Object node = given.get(member);
        if (node == null) {
            return null;
        }
        if (node instanceof String text) {
            return Expression.text(text, params(given));
        }
        return member.equals("update") ? changes(null, Nodes.list(node)) : tree(Nodes.list(node));
    }

    private static Map<String, Object> params(Map<String, Object> given) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (String member : List.of("params", "values", "names")) {
            Nodes.map(given.get(member)).forEach((name, value) -> all.put(name, Nodes.value(value)));
        }
        return all;
    }

    private static Object operand(Object node) {
        return node instanceof Map<?, ?> map && map.containsKey("$path") ? Expressions.attr((String) map.get("$path")) : Nodes.value(node);
    }

    private static Expression tree(List<Object> list) {
        String name = (String) list.get(0);
        List<Object> rest = list.subList(1, list.size());
        switch (name) {
            case "fields":
                return Expressions.fields(Nodes.texts(rest).toArray(String[]::new));
            case "text":
                return condition(list);
            default:
                return condition(list);
        }
    }

    private static Condition condition(List<Object> list) {
        String name = (String) list.get(0);
        List<Object> rest = list.subList(1, list.size());
        switch (name) {
            case "text":
                Object[] params = Nodes.map(rest.get(1)).entrySet().stream()
                        .flatMap(e -> java.util.stream.Stream.of(e.getKey(), Nodes.value(e.getValue()))).toArray();
                return Expressions.text((String) rest.get(0), params);
            case "not":
                return Expressions.not(condition(Nodes.list(rest.get(0))));
            case "and", "or":
                Condition result = condition(Nodes.list(rest.get(0)));
                for (Object part : rest.subList(1, rest.size())) {
                    Condition other = condition(Nodes.list(part));
                    result = name.equals("and") ? result.and(other) : result.or(other);
                }
                return result;
            default:
                return comparison(name, rest);
        }
    }

    private static Condition comparison(String operator, List<Object> rest) {
        Operand path = Expressions.attr((String) rest.get(0));
        String name = operator;
        if (name.startsWith("size_")) {
            path = path.size();
            name = name.substring("size_".length());
        }
        Object[] operands = rest.subList(1, rest.size()).stream().map(Trees::operand).toArray();
        return switch (name) {
            case "exists" -> path.exists();
            case "not_exists" -> path.notExists();
            case "in" -> path.in(operands);
            case "between" -> path.between(operands[0], operands[1]);
            case "begins_with" -> path.beginsWith(operands[0]);
            case "contains" -> path.contains(operands[0]);
            case "type" -> path.hasType((String) operands[0]);
            case "eq" -> path.eq(operands[0]);
            case "ne" -> path.ne(operands[0]);
            case "lt" -> path.lt(operands[0]);
            case "le" -> path.le(operands[0]);
            case "gt" -> path.gt(operands[0]);
            case "ge" -> path.ge(operands[0]);
            default -> throw new IllegalStateException("the operator " + name);
        };
    }

    private static Update changes(Update begun, List<Object> list) {
        String name = (String) list.get(0);
        Update update = begun;
        if (name.equals("all")) {
            for (Object part : list.subList(1, list.size())) {
                update = changes(update, Nodes.list(part));
            }
            return update;
        }
        String path = (String) list.get(1);
        Object value = list.size() > 2 ? operand(list.get(2)) : null;
        return switch (name) {
            case "remove" -> begun == null ? Expressions.remove(path) : begun.remove(path);
            case "set" -> set(begun, path, value);
            case "set_if_missing" -> set(begun, path, Expressions.attr(path).orElse(value));
            case "increment" -> set(begun, path, Expressions.attr(path).plus(value));
            case "append" -> set(begun, path, Expressions.attr(path).append((List<?>) value));
            case "add" -> begun == null ? Expressions.add(path, value) : begun.add(path, value);
            case "delete" -> begun == null ? Expressions.delete(path, value) : begun.delete(path, value);
            default -> throw new IllegalStateException("the action " + name);
        };
    }

    private static Update set(Update begun, String path, Object value) {
        return begun == null ? Expressions.set(path, value) : begun.set(path, value);
    }
}
