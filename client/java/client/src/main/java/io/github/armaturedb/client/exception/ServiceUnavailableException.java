package io.github.armaturedb.client.exception;

/** The daemon stops, or cannot write. */
public final class ServiceUnavailableException extends ServerException {
    private static final long serialVersionUID = 1L;

    ServiceUnavailableException(Failure failure) {
        super(failure);
    }
}
