package io.github.armaturedb.client.exception;

/** Another transaction holds the item, after the last repeat. */
public final class TransactionConflictException extends TransactionAbortedException {
    private static final long serialVersionUID = 1L;

    TransactionConflictException(Failure failure) {
        super(failure);
    }
}
