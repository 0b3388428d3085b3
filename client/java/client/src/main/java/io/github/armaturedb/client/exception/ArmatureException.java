package io.github.armaturedb.client.exception;

import io.github.armaturedb.api.v1.ErrorDetail;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;

/**
 * A failed call. Each documented exception of the API has a class of its own below this one: decide by the class or by
 * {@link #exception}, never by the text.
 *
 * <p>Only {@link OutcomeUnknownException} leaves open if a write was applied.
 */
public class ArmatureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Failure failure;

    /** Made by the client. */
    public ArmatureException(Failure failure) {
        this(failure, failure.text(), failure.status().getCause());
    }

    ArmatureException(Failure failure, String message, Throwable cause) {
        super(message, cause);
        this.failure = failure;
    }

    /** The facts of the failure. */
    public final Failure failure() {
        return failure;
    }

    /** The operation, such as "PutItem". */
    public final String operation() {
        return failure.operation();
    }

    /** The name of the error in the documented API, such as "ValidationException". Empty if the daemon did not answer. */
    public final String exception() {
        return failure.exception();
    }

    /** The facts that the client knows beside the daemon's text, such as the table; may be empty. {@link #getMessage} has both. */
    public final String hint() {
        return failure.hint();
    }

    /** The code of gRPC. */
    public final Status.Code code() {
        return failure.code();
    }

    /** Names the call in the daemon's log. Empty if the daemon has no request log, unless the error is its own. */
    public final String requestId() {
        return failure.requestId();
    }

    /** The pause that the daemon advises before a repeat; zero: no advice. */
    public final Duration retryAfter() {
        return failure.retryAfter();
    }

    /** The whole error of the daemon. */
    public final Optional<ErrorDetail> detail() {
        return failure.detail();
    }

    /** The call has certainly changed nothing: each attempt was refused by the daemon, or was never sent. */
    public boolean isNotApplied() {
        return failure.isNotApplied();
    }
}
