package io.github.armaturedb.client.exception;

/** Another import has the token or the table. */
public final class ImportConflictException extends InUseException {
    private static final long serialVersionUID = 1L;

    ImportConflictException(Failure failure) {
        super(failure);
    }
}
