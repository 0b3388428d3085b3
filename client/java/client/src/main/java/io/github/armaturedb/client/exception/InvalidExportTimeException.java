package io.github.armaturedb.client.exception;

/** The time of an export is outside of the recovery period. */
public final class InvalidExportTimeException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    InvalidExportTimeException(Failure failure) {
        super(failure);
    }
}
