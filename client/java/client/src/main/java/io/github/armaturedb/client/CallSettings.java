package io.github.armaturedb.client;

import io.grpc.CallOptions;
import io.grpc.Deadline;
import io.grpc.Metadata;
import java.time.Duration;

/**
 * Settings of one call.
 *
 * @param timeout null: that of the client
 * @param deadline null: by the timeout
 * @param options of a generated stub
 * @param headers of a generated stub, or null
 */
record CallSettings(Duration timeout, Deadline deadline, boolean isIdempotent, CallOptions options, Metadata headers) {
    static final CallSettings DEFAULT = new CallSettings(null, null, false);

    CallSettings(Duration timeout, Deadline deadline, boolean isIdempotent) {
        this(timeout, deadline, isIdempotent, CallOptions.DEFAULT, null);
    }

    /** For the call of a generated stub. */
    CallSettings with(CallOptions stub, Metadata headersOfStub) {
        return new CallSettings(timeout, deadline, isIdempotent, stub, headersOfStub);
    }

    /** The headers of one attempt, to which gRPC adds its own. */
    Metadata newHeaders() {
        Metadata copy = new Metadata();
        if (headers != null) {
            copy.merge(headers);
        }
        return copy;
    }

    /** It has settings of gRPC that only a call of its own can have. */
    boolean isOfStub() {
        return headers != null && (!headers.keys().isEmpty() || options.getCredentials() != null || options.getCompressor() != null);
    }

    private static final Duration TIMEOUT_MAX = Duration.ofDays(36500); // still a number of nanoseconds

    static Duration checkTimeout(Duration timeout) {
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException("a timeout must be positive");
        }
        if (timeout.compareTo(TIMEOUT_MAX) > 0) {
            throw new IllegalArgumentException("a timeout must be at most " + TIMEOUT_MAX.toDays() + " days");
        }
        return timeout;
    }

    CallSettings until(Deadline end) {
        return new CallSettings(timeout, end, isIdempotent, options, headers);
    }
}
