package io.github.armaturedb.client.exception;

/** A limit of the daemon is reached. */
public class LimitException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected LimitException(Failure failure) {
        super(failure);
    }
}
