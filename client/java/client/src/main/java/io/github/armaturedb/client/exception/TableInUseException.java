package io.github.armaturedb.client.exception;

/** The target table of a restore is being restored already. */
public final class TableInUseException extends InUseException {
    private static final long serialVersionUID = 1L;

    TableInUseException(Failure failure) {
        super(failure);
    }
}
