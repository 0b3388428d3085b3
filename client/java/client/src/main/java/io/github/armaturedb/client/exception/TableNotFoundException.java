package io.github.armaturedb.client.exception;

/** A table does not exist. */
public final class TableNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    TableNotFoundException(Failure failure) {
        super(failure);
    }
}
