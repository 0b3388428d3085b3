package io.github.armaturedb.client.exception;

/** A message above a limit on sizes: a request was not sent, or a response was not taken. */
public final class MessageTooLargeException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    MessageTooLargeException(Failure failure) {
        super(failure);
    }
}
