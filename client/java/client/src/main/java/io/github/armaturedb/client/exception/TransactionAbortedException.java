package io.github.armaturedb.client.exception;

/** A transaction, or a write beside one, was not applied. */
public class TransactionAbortedException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    protected TransactionAbortedException(Failure failure) {
        super(failure);
    }
}
