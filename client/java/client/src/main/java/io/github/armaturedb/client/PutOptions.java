package io.github.armaturedb.client;

/** Options of a put. */
public final class PutOptions extends WriteOptions<PutOptions> {
    boolean returnsOld;

    /** The result has the item that was replaced. */
    public PutOptions returnOld() {
        returnsOld = true;
        return this;
    }

    PutOptions() {}

    @Override
    PutOptions self() {
        return this;
    }
}
