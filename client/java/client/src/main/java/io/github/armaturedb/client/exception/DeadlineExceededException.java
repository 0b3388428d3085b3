package io.github.armaturedb.client.exception;

/** The deadline of a call has passed, and the call has certainly changed nothing. */
public final class DeadlineExceededException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    DeadlineExceededException(Failure failure) {
        super(failure);
    }
}
