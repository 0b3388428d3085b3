package io.github.armaturedb.client.exception;

/** A table of that name exists, or is being changed. */
public final class ResourceInUseException extends InUseException {
    private static final long serialVersionUID = 1L;

    ResourceInUseException(Failure failure) {
        super(failure);
    }
}
