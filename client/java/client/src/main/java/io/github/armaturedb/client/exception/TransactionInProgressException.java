package io.github.armaturedb.client.exception;

/** A transaction with this token is under way. */
public final class TransactionInProgressException extends TransactionAbortedException {
    private static final long serialVersionUID = 1L;

    TransactionInProgressException(Failure failure) {
        super(failure);
    }
}
