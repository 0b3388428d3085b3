package io.github.armaturedb.client.exception;

/** Continuous backups are off. */
public final class ContinuousBackupsUnavailableException extends InUseException {
    private static final long serialVersionUID = 1L;

    ContinuousBackupsUnavailableException(Failure failure) {
        super(failure);
    }
}
