package io.github.armaturedb.client.exception;

/** The credentials are unknown. */
public final class UnrecognizedClientException extends UnauthenticatedException {
    private static final long serialVersionUID = 1L;

    UnrecognizedClientException(Failure failure) {
        super(failure);
    }
}
