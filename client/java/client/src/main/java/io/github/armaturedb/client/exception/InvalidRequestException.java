package io.github.armaturedb.client.exception;

/** The request is invalid, and would be refused each time. */
public class InvalidRequestException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected InvalidRequestException(Failure failure) {
        super(failure);
    }
}
