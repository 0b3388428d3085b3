package io.github.armaturedb.client.exception;

/** The request is invalid. */
public final class ValidationException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    ValidationException(Failure failure) {
        super(failure);
    }
}
