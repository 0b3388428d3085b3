package io.github.armaturedb.client.exception;

/** The throughput of a table or index is used up. */
public final class ProvisionedThroughputExceededException extends ThrottledException {
    private static final long serialVersionUID = 1L;

    ProvisionedThroughputExceededException(Failure failure) {
        super(failure);
    }
}
