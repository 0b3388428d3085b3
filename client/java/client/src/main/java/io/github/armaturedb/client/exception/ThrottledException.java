package io.github.armaturedb.client.exception;

/** The daemon refuses calls of this kind now, after the last repeat. */
public class ThrottledException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected ThrottledException(Failure failure) {
        super(failure);
    }
}
