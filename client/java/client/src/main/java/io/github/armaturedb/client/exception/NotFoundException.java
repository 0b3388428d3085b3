package io.github.armaturedb.client.exception;

/** A table, an index, a backup or the like does not exist. */
public class NotFoundException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected NotFoundException(Failure failure) {
        super(failure);
    }
}
