package io.github.armaturedb.client.exception;

/** The changes behind a position are no longer kept. */
public final class TrimmedDataAccessException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    TrimmedDataAccessException(Failure failure) {
        super(failure);
    }
}
