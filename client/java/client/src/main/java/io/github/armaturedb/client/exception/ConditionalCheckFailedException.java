package io.github.armaturedb.client.exception;

import io.github.armaturedb.api.v1.ErrorDetail;
import io.github.armaturedb.client.Item;
import java.util.Optional;

/** A write whose condition was false. Nothing was changed. */
public final class ConditionalCheckFailedException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    ConditionalCheckFailedException(Failure failure) {
        super(failure);
    }

    /** The item that failed the condition. Empty without {@code returnItemOnFailure()}, or if there is none. */
    public Optional<Item> item() {
        return failure().detail().filter(ErrorDetail::hasItem).map(d -> Item.of(d.getItem()));
    }

    /** The item that failed the condition, as a record. */
    public <T extends Record> Optional<T> item(Class<T> type) {
        return item().map(i -> i.as(type));
    }

    /** The item is too large for an error; read it with a get. */
    public boolean isItemOmitted() {
        return failure().detail().map(ErrorDetail::getItemOmitted).orElse(false);
    }
}
