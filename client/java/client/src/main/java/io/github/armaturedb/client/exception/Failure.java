package io.github.armaturedb.client.exception;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.github.armaturedb.api.v1.ErrorDetail;
import io.github.armaturedb.api.v1.RpcStatus;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** The facts of a failed attempt of a call. Immutable. */
public final class Failure {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> REQUEST_ID = Metadata.Key.of("x-armature-request-id", Metadata.ASCII_STRING_MARSHALLER);

    /** Codes of actions of a cancelled transaction that may succeed in another attempt. */
    private static final Set<String> PASSING_REASONS =
            Set.of("None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError");

    private final String operation;
    private final Status status;
    private final String message;
    private final String hint;
    private final boolean isLasting; // a repetition would fail in the same way
    private final boolean neverSent;
    private final ErrorDetail detail; // null: not from the daemon
    private final Duration retryAfter;
    private final String requestId;

    private Failure(String operation, Status status, RpcStatus details, Metadata trailers, boolean neverSent) {
        this.operation = operation;
        this.status = status;
        this.neverSent = neverSent;
        ErrorDetail found = null;
        Duration pause = Duration.ZERO;
        for (Any any : details.getDetailsList()) {
            try {
                if (any.is(ErrorDetail.class)) {
                    found = any.unpack(ErrorDetail.class);
                    pause = longer(pause, Duration.ofMillis(found.getRetryAfterMs()));
                } else if (any.is(RetryInfo.class)) {
                    com.google.protobuf.Duration delay = any.unpack(RetryInfo.class).getRetryDelay();
                    pause = longer(pause, Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
                }
            } catch (InvalidProtocolBufferException | ArithmeticException e) {
                // Without this detail the code still tells the kind of the failure.
            }
        }
        detail = found;
        retryAfter = pause;
        String inTrailer = trailers == null ? null : trailers.get(REQUEST_ID);
        requestId = inTrailer == null || !idOf(detail).isEmpty() ? idOf(detail) : inTrailer;
        message = textOf(status);
        hint = "";
        isLasting = false;
    }

    private Failure(Failure other, String message, String hint, boolean isLasting) {
        operation = other.operation;
        status = other.status;
        neverSent = other.neverSent;
        detail = other.detail;
        retryAfter = other.retryAfter;
        requestId = other.requestId;
        this.message = message;
        this.hint = hint;
        this.isLasting = isLasting;
    }

    /** This failure with a hint beside the message. */
    public Failure withHint(String text) {
        return new Failure(this, message, text, isLasting);
    }

    /** This failure, with the reason in place of the texts of libraries if the address could not be connected. */
    public Failure at(String address) {
        Connecting found = neverSent ? Connecting.of(address, status) : null;
        return found == null ? this : new Failure(this, found.reason(), hint, found.isLasting());
    }

    private static String idOf(ErrorDetail detail) {
        return detail == null ? "" : detail.getRequestId();
    }

    /** gRPC describes most failures of connections as "io exception" only, and says more in the cause. */
    private static String textOf(Status status) {
        String text = status.getDescription() == null ? "" : status.getDescription();
        if (status.getCause() == null) {
            return text;
        }
        Throwable first = status.getCause();
        while (first.getCause() != null) {
            first = first.getCause();
        }
        text = text.lines().findFirst().orElse(""); // what follows are names of classes of the connection
        // The nearest cause names the address, and the first one why a certificate is refused.
        for (Throwable each : new Throwable[] {status.getCause(), first}) {
            if (each.getMessage() != null && !text.contains(each.getMessage())) {
                text += (text.isEmpty() ? "" : ": ") + each.getMessage();
            }
        }
        return text;
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }

    /** The failure of a call of gRPC. */
    public static Failure of(String operation, Status status, Metadata trailers, boolean neverSent) {
        // The daemon has not read such a request. gRPC has no code of its own for it.
        boolean isRefused = status.getCode() == Status.Code.RESOURCE_EXHAUSTED && (trailers == null || !trailers.containsKey(DETAILS))
                && status.getDescription() != null && status.getDescription().contains("Received message larger than max");
        return ofStream(operation, status, trailers, neverSent || isRefused);
    }

    /** The failure of an operation whose stream has ended, perhaps because of another operation. */
    public static Failure ofStream(String operation, Status status, Metadata trailers, boolean neverSent) {
        byte[] bytes = trailers == null ? null : trailers.get(DETAILS);
        RpcStatus details = RpcStatus.getDefaultInstance();
        if (bytes != null) {
            try {
                details = RpcStatus.parseFrom(bytes);
            } catch (InvalidProtocolBufferException e) {
                // As above.
            }
        }
        // gRPC reports a connection that closes while a call begins on it as UNKNOWN.
        boolean isLost = status.getCode() == Status.Code.UNKNOWN && status.getCause() instanceof IOException;
        return new Failure(operation, isLost ? Status.UNAVAILABLE.withDescription(status.getDescription()).withCause(status.getCause()) : status,
                details, trailers, neverSent);
    }

    /** The failure of an operation of a pipeline. */
    public static Failure of(String operation, RpcStatus error) {
        return new Failure(operation, Status.fromCodeValue(error.getCode()).withDescription(error.getMessage()), error, null, false);
    }

    /** A failure that the client has found itself, before anything was sent. */
    public static Failure local(String operation, Status status) {
        return new Failure(operation, status, RpcStatus.getDefaultInstance(), null, true);
    }

    /** The time of the call ended in its last attempt. This failure with the text of the one before, which tells why. */
    public Failure after(Failure before) {
        String text = "the time is over; the attempt before: " + before.name() + ": " + before.message;
        Status both = status.withDescription(text).withCause(before.status.getCause());
        return new Failure(operation, both, RpcStatus.getDefaultInstance(), null, neverSent);
    }

    /** The operation, such as "PutItem". */
    public String operation() {
        return operation;
    }

    /** The code of gRPC. */
    public Status.Code code() {
        return status.getCode();
    }

    /** The status of gRPC. */
    public Status status() {
        return status;
    }

    /** The name of the error in the documented API, or empty. */
    public String exception() {
        return detail == null ? "" : detail.getException();
    }

    /** Names the call in the daemon's log, or empty. */
    public String requestId() {
        return requestId;
    }

    /** The advised pause, or zero. */
    public Duration retryAfter() {
        return retryAfter;
    }

    /** The whole error of the daemon. */
    public Optional<ErrorDetail> detail() {
        return Optional.ofNullable(detail);
    }

    private String name() {
        return exception().isEmpty() ? code().toString() : exception();
    }

    /** The text of the daemon, or of this package. */
    public String message() {
        return message;
    }

    /** The facts beside the message that the client knows, such as the table. May be empty. */
    public String hint() {
        return hint;
    }

    String text() {
        // Only of errors that the daemon has logged: these ones have it in their detail.
        String request = idOf(detail).isEmpty() ? "" : " (request " + idOf(detail) + ")";
        return operation + ": " + name() + ": " + message + (hint.isEmpty() ? "" : " (" + hint + ")") + request;
    }

    /** The call has certainly changed nothing. */
    public boolean isNotApplied() {
        if (neverSent || code() == Status.Code.UNIMPLEMENTED) {
            return true;
        }
        return switch (exception()) {
            case "", "InternalServerError", "ServiceUnavailable" -> false; // can occur in the middle of a write
            // Concerns one write of a batch; the others are done.
            case "ItemCollectionSizeLimitExceededException" -> !operation.equals("BatchWriteItem");
            default -> true;
        };
    }

    /** The daemon refused the call because of too many calls. */
    public boolean isThrottled() {
        return switch (exception()) {
            case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded" -> true;
            default -> false;
        };
    }

    /** Another attempt may succeed. */
    public boolean isTransient() {
        return switch (code()) {
            case UNAVAILABLE -> !isLasting;
            case RESOURCE_EXHAUSTED -> isThrottled();
            case ABORTED -> switch (exception()) {
                case "TransactionConflictException", "TransactionInProgressException" -> true;
                default -> detail != null && detail.getCancellationReasonsCount() > 0
                        && detail.getCancellationReasonsList().stream().allMatch(r -> PASSING_REASONS.contains(r.getCode()));
            };
            default -> false;
        };
    }

    /** The exception of the most precise class. */
    public ArmatureException toException() {
        ArmatureException documented = Documented.of(this);
        if (documented != null) {
            return documented;
        }
        return switch (code()) {
            case DEADLINE_EXCEEDED -> new DeadlineExceededException(this);
            case UNAVAILABLE -> new UnavailableException(this);
            case RESOURCE_EXHAUSTED -> new MessageTooLargeException(this);
            case UNAUTHENTICATED -> new UnauthenticatedException(this);
            case CANCELLED -> new CallCancelledException(this);
            default -> new ArmatureException(this);
        };
    }
}
