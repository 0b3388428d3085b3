package io.github.armaturedb.client.exception;

/** The credentials do not permit the operation. */
public final class AccessDeniedException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    AccessDeniedException(Failure failure) {
        super(failure);
    }
}
