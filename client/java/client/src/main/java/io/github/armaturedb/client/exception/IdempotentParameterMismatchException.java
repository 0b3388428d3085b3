package io.github.armaturedb.client.exception;

/** The token was used for other actions. */
public final class IdempotentParameterMismatchException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    IdempotentParameterMismatchException(Failure failure) {
        super(failure);
    }
}
