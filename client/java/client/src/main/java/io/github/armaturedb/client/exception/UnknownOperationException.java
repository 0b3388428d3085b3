package io.github.armaturedb.client.exception;

/** The daemon does not know the operation. */
public final class UnknownOperationException extends ServerException {
    private static final long serialVersionUID = 1L;

    UnknownOperationException(Failure failure) {
        super(failure);
    }
}
