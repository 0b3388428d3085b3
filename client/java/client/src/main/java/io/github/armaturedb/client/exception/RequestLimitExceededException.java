package io.github.armaturedb.client.exception;

/** Too many requests of this client. */
public final class RequestLimitExceededException extends ThrottledException {
    private static final long serialVersionUID = 1L;

    RequestLimitExceededException(Failure failure) {
        super(failure);
    }
}
