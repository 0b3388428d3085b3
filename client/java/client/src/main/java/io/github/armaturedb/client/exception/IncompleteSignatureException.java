package io.github.armaturedb.client.exception;

/** The credentials are incomplete. */
public final class IncompleteSignatureException extends UnauthenticatedException {
    private static final long serialVersionUID = 1L;

    IncompleteSignatureException(Failure failure) {
        super(failure);
    }
}
