package io.github.armaturedb.client.exception;

/** The target of a restore exists. */
public final class TableAlreadyExistsException extends InUseException {
    private static final long serialVersionUID = 1L;

    TableAlreadyExistsException(Failure failure) {
        super(failure);
    }
}
