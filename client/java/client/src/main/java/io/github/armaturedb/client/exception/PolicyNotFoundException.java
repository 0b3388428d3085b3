package io.github.armaturedb.client.exception;

/** A resource has no policy. */
public final class PolicyNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    PolicyNotFoundException(Failure failure) {
        super(failure);
    }
}
