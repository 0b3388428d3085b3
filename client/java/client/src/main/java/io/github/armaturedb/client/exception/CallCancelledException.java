package io.github.armaturedb.client.exception;

/** The program has cancelled the call, by an interrupt or by its future, or has closed the client. */
public final class CallCancelledException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    CallCancelledException(Failure failure) {
        super(failure);
    }
}
