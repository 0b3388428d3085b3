package io.github.armaturedb.client.exception;

/** The call has no credentials. */
public final class MissingAuthenticationTokenException extends UnauthenticatedException {
    private static final long serialVersionUID = 1L;

    MissingAuthenticationTokenException(Failure failure) {
        super(failure);
    }
}
