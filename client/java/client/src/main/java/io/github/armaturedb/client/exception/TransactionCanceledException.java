package io.github.armaturedb.client.exception;

import io.github.armaturedb.client.Item;
import java.util.List;
import java.util.Optional;

/** A transaction of which nothing was applied. */
public final class TransactionCanceledException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    TransactionCanceledException(Failure failure) {
        super(failure);
    }

    /** The result of each action, in their order. */
    public List<Reason> reasons() {
        return failure().detail().stream()
                .flatMap(d -> d.getCancellationReasonsList().stream())
                .map(r -> new Reason(
                        r.getCode(), r.getMessage(), r.hasItem() ? Optional.of(Item.of(r.getItem())) : Optional.empty(), r.getItemOmitted()))
                .toList();
    }

    /**
     * The result of one action.
     *
     * @param code "None" if this action did not fail; else such as "ConditionalCheckFailed"
     * @param message empty with "None"
     * @param item the item that failed the condition, if asked for
     * @param isItemOmitted the item is too large for an error; read it with a get
     */
    public record Reason(String code, String message, Optional<Item> item, boolean isItemOmitted) {}
}
