package io.github.armaturedb.client.exception;

/** No daemon was reached. */
public final class UnavailableException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    UnavailableException(Failure failure) {
        super(failure);
    }
}
