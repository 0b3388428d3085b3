package io.github.armaturedb.client.exception;

/** The request cannot be read. */
public final class SerializationException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    SerializationException(Failure failure) {
        super(failure);
    }
}
