package io.github.armaturedb.client;

/** Options of an action of a transaction. */
public final class ActionOptions extends WriteOptions<ActionOptions> {

    ActionOptions() {}

    @Override
    ActionOptions self() {
        return this;
    }
}
