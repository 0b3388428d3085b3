package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.ReturnValues;

/** Options of an update. */
public final class UpdateOptions extends WriteOptions<UpdateOptions> {
    ReturnValues returns = ReturnValues.RETURN_VALUES_UNSPECIFIED;

    /** The result has the item after the update. */
    public UpdateOptions returnNew() {
        returns = ReturnValues.RETURN_VALUES_ALL_NEW;
        return this;
    }

    /** The result has the item before the update. */
    public UpdateOptions returnOld() {
        returns = ReturnValues.RETURN_VALUES_ALL_OLD;
        return this;
    }

    /** The result has the updated attributes, as they are after the update. */
    public UpdateOptions returnUpdatedNew() {
        returns = ReturnValues.RETURN_VALUES_UPDATED_NEW;
        return this;
    }

    /** The result has the updated attributes, as they were before the update. */
    public UpdateOptions returnUpdatedOld() {
        returns = ReturnValues.RETURN_VALUES_UPDATED_OLD;
        return this;
    }

    UpdateOptions() {}

    @Override
    UpdateOptions self() {
        return this;
    }
}
