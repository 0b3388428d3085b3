package io.github.armaturedb.client.exception;

/** The state of a resource forbids the operation now. */
public class InUseException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected InUseException(Failure failure) {
        super(failure);
    }
}
