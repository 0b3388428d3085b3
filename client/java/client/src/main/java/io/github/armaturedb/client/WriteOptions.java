package io.github.armaturedb.client;

/**
 * Options of writes.
 *
 * @param <O> the class of options
 */
public abstract class WriteOptions<O extends WriteOptions<O>> extends RequestOptions<O> {
    Expression condition;
    boolean returnsItemOnFailure;

    WriteOptions() {}

    /** The write is done only if the item that is there satisfies this. */
    public O condition(Expression value) {
        condition = value;
        return self();
    }

    /** The write is done only if the item that is there satisfies this text. */
    public O condition(String text) {
        return condition(Expression.text(text));
    }

    /** The exception of a false condition has the item that is there. */
    public O returnItemOnFailure() {
        returnsItemOnFailure = true;
        return self();
    }

    /**
     * The write may be done twice without harm, so that it is repeated after its answer was lost. Example: an update that
     * only sets attributes to constants.
     */
    public O idempotent() {
        setIdempotent();
        return self();
    }
}
