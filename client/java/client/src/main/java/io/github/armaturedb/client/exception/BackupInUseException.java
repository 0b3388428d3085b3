package io.github.armaturedb.client.exception;

/** A backup is being restored or deleted. */
public final class BackupInUseException extends InUseException {
    private static final long serialVersionUID = 1L;

    BackupInUseException(Failure failure) {
        super(failure);
    }
}
