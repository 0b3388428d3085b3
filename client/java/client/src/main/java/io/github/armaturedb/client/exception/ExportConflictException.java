package io.github.armaturedb.client.exception;

/** Another export has the token. */
public final class ExportConflictException extends InUseException {
    private static final long serialVersionUID = 1L;

    ExportConflictException(Failure failure) {
        super(failure);
    }
}
