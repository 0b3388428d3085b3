package io.github.armaturedb.client.exception;

/** An export does not exist. */
public final class ExportNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    ExportNotFoundException(Failure failure) {
        super(failure);
    }
}
