package io.github.armaturedb.client.exception;

/** An import does not exist. */
public final class ImportNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    ImportNotFoundException(Failure failure) {
        super(failure);
    }
}
