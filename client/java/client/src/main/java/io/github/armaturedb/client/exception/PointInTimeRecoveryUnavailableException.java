package io.github.armaturedb.client.exception;

/** Point-in-time recovery is off. */
public final class PointInTimeRecoveryUnavailableException extends InUseException {
    private static final long serialVersionUID = 1L;

    PointInTimeRecoveryUnavailableException(Failure failure) {
        super(failure);
    }
}
