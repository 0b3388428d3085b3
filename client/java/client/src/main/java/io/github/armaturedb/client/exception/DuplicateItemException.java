package io.github.armaturedb.client.exception;

/** A statement inserts an item whose key exists. */
public final class DuplicateItemException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    DuplicateItemException(Failure failure) {
        super(failure);
    }
}
