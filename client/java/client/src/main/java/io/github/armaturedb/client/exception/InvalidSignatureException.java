package io.github.armaturedb.client.exception;

/** The secret is wrong. */
public final class InvalidSignatureException extends UnauthenticatedException {
    private static final long serialVersionUID = 1L;

    InvalidSignatureException(Failure failure) {
        super(failure);
    }
}
