package io.github.armaturedb.client.exception;

/** The items of a partition with local indexes are too large. */
public final class ItemCollectionSizeLimitExceededException extends LimitException {
    private static final long serialVersionUID = 1L;

    ItemCollectionSizeLimitExceededException(Failure failure) {
        super(failure);
    }
}
