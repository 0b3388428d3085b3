package io.github.armaturedb.client.exception;

/** A backup does not exist. */
public final class BackupNotFoundException extends NotFoundException {
    private static final long serialVersionUID = 1L;

    BackupNotFoundException(Failure failure) {
        super(failure);
    }
}
