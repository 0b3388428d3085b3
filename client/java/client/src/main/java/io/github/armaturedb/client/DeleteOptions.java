package io.github.armaturedb.client;

/** Options of a delete. */
public final class DeleteOptions extends WriteOptions<DeleteOptions> {
    boolean returnsOld;

    /** The result has the item that was deleted. */
    public DeleteOptions returnOld() {
        returnsOld = true;
        return this;
    }

    DeleteOptions() {}

    @Override
    DeleteOptions self() {
        return this;
    }
}
