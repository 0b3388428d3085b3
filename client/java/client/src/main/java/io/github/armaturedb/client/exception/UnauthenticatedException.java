package io.github.armaturedb.client.exception;

/** No credentials, unknown ones, or wrong ones. */
public class UnauthenticatedException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected UnauthenticatedException(Failure failure) {
        super(failure);
    }
}
