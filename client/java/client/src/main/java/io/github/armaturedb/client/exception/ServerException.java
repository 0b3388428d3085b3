package io.github.armaturedb.client.exception;

/** The daemon failed, or does not know the operation. */
public class ServerException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected ServerException(Failure failure) {
        super(failure);
    }
}
