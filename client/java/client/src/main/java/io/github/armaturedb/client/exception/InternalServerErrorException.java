package io.github.armaturedb.client.exception;

/** The daemon failed. */
public final class InternalServerErrorException extends ServerException {
    private static final long serialVersionUID = 1L;

    InternalServerErrorException(Failure failure) {
        super(failure);
    }
}
