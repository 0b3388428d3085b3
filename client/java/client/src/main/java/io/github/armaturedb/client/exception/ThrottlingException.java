package io.github.armaturedb.client.exception;

/** Too many operations. */
public final class ThrottlingException extends ThrottledException {
    private static final long serialVersionUID = 1L;

    ThrottlingException(Failure failure) {
        super(failure);
    }
}
