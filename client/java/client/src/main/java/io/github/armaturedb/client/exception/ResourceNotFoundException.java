package io.github.armaturedb.client.exception;

/** A table, an index or a stream does not exist. */
public final class ResourceNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    ResourceNotFoundException(Failure failure) {
        super(failure);
    }
}
