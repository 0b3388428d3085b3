package io.github.armaturedb.client.exception;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** The classes of the documented exceptions. */
final class Documented {
    private static final Map<String, Function<Failure, ArmatureException>> CLASSES = new HashMap<>();

    static {
        CLASSES.put("ConditionalCheckFailedException", ConditionalCheckFailedException::new);
        CLASSES.put("TransactionCanceledException", TransactionCanceledException::new);
        CLASSES.put("ValidationException", ValidationException::new);
        CLASSES.put("SerializationException", SerializationException::new);
        CLASSES.put("IdempotentParameterMismatchException", IdempotentParameterMismatchException::new);
        CLASSES.put("InvalidExportTimeException", InvalidExportTimeException::new);
        CLASSES.put("InvalidRestoreTimeException", InvalidRestoreTimeException::new);
        CLASSES.put("TrimmedDataAccessException", TrimmedDataAccessException::new);
        CLASSES.put("ExpiredIteratorException", ExpiredIteratorException::new);
        CLASSES.put("ResourceNotFoundException", ResourceNotFoundException::new);
        CLASSES.put("TableNotFoundException", TableNotFoundException::new);
        CLASSES.put("BackupNotFoundException", BackupNotFoundException::new);
        CLASSES.put("PolicyNotFoundException", PolicyNotFoundException::new);
        CLASSES.put("ExportNotFoundException", ExportNotFoundException::new);
        CLASSES.put("ImportNotFoundException", ImportNotFoundException::new);
        CLASSES.put("ResourceInUseException", ResourceInUseException::new);
        CLASSES.put("TableAlreadyExistsException", TableAlreadyExistsException::new);
        CLASSES.put("BackupInUseException", BackupInUseException::new);
        CLASSES.put("TableInUseException", TableInUseException::new);
        CLASSES.put("PointInTimeRecoveryUnavailableException", PointInTimeRecoveryUnavailableException::new);
        CLASSES.put("ContinuousBackupsUnavailableException", ContinuousBackupsUnavailableException::new);
        CLASSES.put("ExportConflictException", ExportConflictException::new);
        CLASSES.put("ImportConflictException", ImportConflictException::new);
        CLASSES.put("DuplicateItemException", DuplicateItemException::new);
        CLASSES.put("TransactionConflictException", TransactionConflictException::new);
        CLASSES.put("TransactionInProgressException", TransactionInProgressException::new);
        CLASSES.put("ProvisionedThroughputExceededException", ProvisionedThroughputExceededException::new);
        CLASSES.put("ThrottlingException", ThrottlingException::new);
        CLASSES.put("RequestLimitExceeded", RequestLimitExceededException::new);
        CLASSES.put("LimitExceededException", LimitExceededException::new);
        CLASSES.put("ItemCollectionSizeLimitExceededException", ItemCollectionSizeLimitExceededException::new);
        CLASSES.put("AccessDeniedException", AccessDeniedException::new);
        CLASSES.put("MissingAuthenticationTokenException", MissingAuthenticationTokenException::new);
        CLASSES.put("IncompleteSignatureException", IncompleteSignatureException::new);
        CLASSES.put("InvalidSignatureException", InvalidSignatureException::new);
        CLASSES.put("UnrecognizedClientException", UnrecognizedClientException::new);
        CLASSES.put("UnknownOperationException", UnknownOperationException::new);
        CLASSES.put("InternalServerError", InternalServerErrorException::new);
        CLASSES.put("ServiceUnavailable", ServiceUnavailableException::new);
    }

    private Documented() {}

    /** Null: the failure has no documented exception. */
    static ArmatureException of(Failure failure) {
        Function<Failure, ArmatureException> make = CLASSES.get(failure.exception());
        return make == null ? null : make.apply(failure);
    }
}
