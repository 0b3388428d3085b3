package io.github.armaturedb.client;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How failed calls are repeated. A call is repeated if its error may pass with time, if it has certainly changed nothing or
 * does no harm when it is done twice, and if the pause ends before its deadline.
 *
 * @param attempts the largest number of attempts, with the first one. 1: no repeats
 * @param initial the pause after attempt n is random between one half of initial * 2^(n-1), at most max, and all of it. An
 *     advice of the daemon is waited for in addition
 * @param max the longest pause without advice
 */
public record RetryPolicy(int attempts, Duration initial, Duration max) {
    private static final Duration PAUSE_MAX = Duration.ofDays(36500); // still a number of nanoseconds
    private static final Duration ADVICE_MAX = Duration.ofHours(1);

    /** Twenty attempts, with pauses of 25 milliseconds to two seconds. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(20, Duration.ofMillis(25), Duration.ofSeconds(2));

    /** No repeats. */
    public static final RetryPolicy NONE = new RetryPolicy(1, Duration.ZERO, Duration.ZERO);

    /** Checks the members. */
    public RetryPolicy {
        if (attempts < 1 || initial.isNegative() || Objects.requireNonNull(max).compareTo(initial) < 0) {
            throw new IllegalArgumentException("attempts must be at least 1, initial not negative, and max at least initial");
        }
        if (max.compareTo(PAUSE_MAX) > 0) {
            throw new IllegalArgumentException("max must be at most " + PAUSE_MAX.toDays() + " days");
        }
    }

    /** The pause between the attempt of this number and the next one, in nanoseconds. */
    long pauseNanos(int attempt, Duration advice) {
        long full = initial.toNanos();
        for (int n = 1; n < attempt && full < max.toNanos(); ++n) {
            full *= 2;
        }
        full = Math.min(full, max.toNanos());
        long jittered = full / 2 + ThreadLocalRandom.current().nextLong(full / 2 + 1);
        // All clients get the same advice, and should not come back together.
        return (advice.compareTo(ADVICE_MAX) < 0 ? advice : ADVICE_MAX).toNanos() + jittered;
    }
}
