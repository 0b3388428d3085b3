package io.github.armaturedb.client;

import java.util.LinkedHashMap;
import java.util.Map;

/** Names and values in turns. */
final class Params {
    private Params() {}

    static Map<String, Object> mapOf(String name, Object value, Object... more) {
        Object[] all = new Object[more.length + 2];
        all[0] = name;
        all[1] = value;
        System.arraycopy(more, 0, all, 2, more.length);
        return mapOf(all);
    }

    static Map<String, Object> mapOf(Object... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("names and values come in turns: the last name has no value");
        }
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            if (!(namesAndValues[i] instanceof String name)) {
                throw new IllegalArgumentException("names and values come in turns: " + namesAndValues[i] + " is not a name");
            }
            if (map.containsKey(name)) {
                throw new IllegalArgumentException("the name " + name + " is given twice");
            }
            map.put(name, namesAndValues[i + 1]);
        }
        return map;
    }
}
