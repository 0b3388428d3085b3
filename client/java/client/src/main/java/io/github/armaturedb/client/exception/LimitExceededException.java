package io.github.armaturedb.client.exception;

/** Too many tables, indexes, watches or the like. */
public final class LimitExceededException extends LimitException {
    private static final long serialVersionUID = 1L;

    LimitExceededException(Failure failure) {
        super(failure);
    }
}
