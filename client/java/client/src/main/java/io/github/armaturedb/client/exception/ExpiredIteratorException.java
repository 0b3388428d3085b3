package io.github.armaturedb.client.exception;

/** An iterator of a stream is older than 15 minutes. */
public final class ExpiredIteratorException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    ExpiredIteratorException(Failure failure) {
        super(failure);
    }
}
