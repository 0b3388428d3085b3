package io.github.armaturedb.client.exception;

/** A table cannot be restored to that time. */
public final class InvalidRestoreTimeException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    InvalidRestoreTimeException(Failure failure) {
        super(failure);
    }
}
