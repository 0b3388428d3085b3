package io.github.armaturedb.client.exception;

/**
 * A write that may have been applied or not: its answer was lost or came too late, and a repeat is not safe or did not
 * succeed in time. Read the item, or repeat the write if that does no harm. The cause is the last failure.
 */
public final class OutcomeUnknownException extends ArmatureException {
    private static final long serialVersionUID = 1L;

    /** Made by the client. */
    public OutcomeUnknownException(ArmatureException last) {
        super(last.failure(), last.getMessage() + "; the write may have been applied or not", last);
    }

    @Override
    public boolean isNotApplied() {
        return false;
    }
}
