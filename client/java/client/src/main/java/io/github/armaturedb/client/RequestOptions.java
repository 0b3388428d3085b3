package io.github.armaturedb.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options that all requests have. Given as a function that changes them:
 *
 * <pre>{@code
 * users.update(key, "SET visits = visits + $n", o -> o.param("n", 1).condition("visits < $max").param("max", 10));
 * }</pre>
 *
 * @param <O> the class of options
 */
public abstract class RequestOptions<O extends RequestOptions<O>> {
    final Map<String, Object> params = new LinkedHashMap<>();
    private Duration timeout;
    private boolean isIdempotent;

    RequestOptions() {}

    abstract O self();

    /** The value of a parameter of the texts of the request: {@code $name}, {@code #name} or {@code :name}. */
    public O param(String name, Object value) {
        params.put(name, value);
        return self();
    }

    /** Values of parameters. */
    public O params(Map<String, ?> values) {
        params.putAll(values);
        return self();
    }

    /** The time that the call may take with all its attempts. */
    public O timeout(Duration value) {
        timeout = CallSettings.checkTimeout(value);
        return self();
    }

    void setIdempotent() {
        isIdempotent = true;
    }

    CallSettings settings() {
        return timeout == null && !isIdempotent ? CallSettings.DEFAULT : new CallSettings(timeout, null, isIdempotent);
    }
}
