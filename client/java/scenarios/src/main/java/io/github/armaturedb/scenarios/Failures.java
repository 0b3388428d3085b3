package io.github.armaturedb.scenarios;

import io.github.armaturedb.client.exception.AccessDeniedException;
import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.BatchWriteException;
import io.github.armaturedb.client.exception.ConditionalCheckFailedException;
import io.github.armaturedb.client.exception.DeadlineExceededException;
import io.github.armaturedb.client.exception.DuplicateItemException;
import io.github.armaturedb.client.exception.IdempotentParameterMismatchException;
import io.github.armaturedb.client.exception.InUseException;
import io.github.armaturedb.client.exception.LimitException;
import io.github.armaturedb.client.exception.MessageTooLargeException;
import io.github.armaturedb.client.exception.NotFoundException;
import io.github.armaturedb.client.exception.OutcomeUnknownException;
import io.github.armaturedb.client.exception.SerializationException;
import io.github.armaturedb.client.exception.ThrottledException;
import io.github.armaturedb.client.exception.TransactionCanceledException;
import io.github.armaturedb.client.exception.TransactionConflictException;
import io.github.armaturedb.client.exception.TrimmedDataAccessException;
import io.github.armaturedb.client.exception.UnauthenticatedException;
import io.github.armaturedb.client.exception.UnavailableException;
import io.github.armaturedb.client.exception.ValidationException;
import io.grpc.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Errors of operations. */
final class Failures {
    /** Types of errors in the scenarios, by the classes of exceptions. */
    private static final Map<Class<? extends RuntimeException>, String> TYPES = new LinkedHashMap<>();

    static {
        TYPES.put(OutcomeUnknownException.class, "outcome_unknown");
        TYPES.put(IllegalArgumentException.class, "invalid_argument");
        TYPES.put(ConditionalCheckFailedException.class, "condition_failed");
        TYPES.put(TransactionCanceledException.class, "transaction_cancelled");
        TYPES.put(TransactionConflictException.class, "transaction_conflict");
        TYPES.put(IdempotentParameterMismatchException.class, "token_reused");
        TYPES.put(ValidationException.class, "validation");
        TYPES.put(SerializationException.class, "validation");
        TYPES.put(NotFoundException.class, "not_found");
        TYPES.put(InUseException.class, "in_use");
        TYPES.put(DuplicateItemException.class, "duplicate_item");
        TYPES.put(ThrottledException.class, "throttled");
        TYPES.put(LimitException.class, "limit_exceeded");
        TYPES.put(MessageTooLargeException.class, "limit_exceeded");
        TYPES.put(AccessDeniedException.class, "access_denied");
        TYPES.put(UnauthenticatedException.class, "unauthenticated");
        TYPES.put(TrimmedDataAccessException.class, "trimmed");
        TYPES.put(BatchWriteException.class, "batch_failed");
        TYPES.put(DeadlineExceededException.class, "deadline");
        TYPES.put(UnavailableException.class, "unavailable");
    }

    private Failures() {}

    static String typeOf(RuntimeException error) {
        return TYPES.entrySet().stream().filter(e -> e.getKey().isInstance(error)).map(Map.Entry::getValue).findFirst()
                .orElseGet(() -> otherTypeOf(error));
    }

    /** The package has no class for what a daemon does not serve. */
    private static String otherTypeOf(RuntimeException error) {
        boolean unserved = error instanceof ArmatureException e && e.code() == Status.Code.UNIMPLEMENTED;
        return unserved ? "unsupported" : error.toString();
    }

    /** Empty: the error is the wanted one. Else the difference. */
    static String difference(RuntimeException error, Map<String, Object> wanted) {
        Map<String, Object> facts = new LinkedHashMap<>();
        for (Map.Entry<String, Object> member : wanted.entrySet()) {
            facts.put(member.getKey(), fact(error, member.getKey(), member.getValue()));
        }
        return Nodes.same(facts, Nodes.value(wanted), true) ? "" : "the error " + facts + " (" + error + ") instead of " + wanted;
    }

    private static Object fact(RuntimeException error, String name, Object value) {
        List<TransactionCanceledException.Reason> reasons = error instanceof TransactionCanceledException e ? e.reasons() : List.of();
        return switch (name) {
            case "type" -> typeOf(error);
            case "exception" -> error instanceof ArmatureException e ? e.exception() : "";
            case "message" -> String.valueOf(error.getMessage()).contains((String) value) ? value : error.getMessage();
            case "item" -> error instanceof ConditionalCheckFailedException e ? e.item().orElse(null) : "no item";
            case "reasons" -> reasons.stream().map(TransactionCanceledException.Reason::code).toList();
            case "reason_items" -> reasons.stream().map(r -> (Object) r.item().orElse(null)).toList();
            case "failed" -> error instanceof BatchWriteException e ? e.failed().stream().map(BatchWriteException.Failed::item).toList() : List.of();
            default -> throw new IllegalStateException("unknown member of an error: " + name);
        };
    }
}
