//! Errors of the documented API.
use std::fmt;

macro_rules! exceptions {
    ($($variant:ident $name:literal;)*) => {
        /// An error of the documented API, by its name there without the word "Exception".
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Exception {
            $(#[doc = $name] $variant,)*
            /// An error that this version of the client does not know.
            Other(String),
        }

        impl Exception {
            /// The name in the documented API, such as "ResourceNotFoundException".
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for Exception {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

exceptions! {
    AccessDenied "AccessDeniedException";
    BackupInUse "BackupInUseException";
    BackupNotFound "BackupNotFoundException";
    ConditionalCheckFailed "ConditionalCheckFailedException";
    ContinuousBackupsUnavailable "ContinuousBackupsUnavailableException";
    DuplicateItem "DuplicateItemException";
    ExpiredIterator "ExpiredIteratorException";
    ExportConflict "ExportConflictException";
    ExportNotFound "ExportNotFoundException";
    IdempotentParameterMismatch "IdempotentParameterMismatchException";
    ImportConflict "ImportConflictException";
    ImportNotFound "ImportNotFoundException";
    IncompleteSignature "IncompleteSignatureException";
    InternalServerError "InternalServerError";
    InvalidExportTime "InvalidExportTimeException";
    InvalidRestoreTime "InvalidRestoreTimeException";
    InvalidSignature "InvalidSignatureException";
    ItemCollectionSizeLimitExceeded "ItemCollectionSizeLimitExceededException";
    LimitExceeded "LimitExceededException";
    MissingAuthenticationToken "MissingAuthenticationTokenException";
    PointInTimeRecoveryUnavailable "PointInTimeRecoveryUnavailableException";
    PolicyNotFound "PolicyNotFoundException";
    ProvisionedThroughputExceeded "ProvisionedThroughputExceededException";
    RequestLimitExceeded "RequestLimitExceeded";
    ResourceInUse "ResourceInUseException";
    ResourceNotFound "ResourceNotFoundException";
    Serialization "SerializationException";
    ServiceUnavailable "ServiceUnavailable";
    TableAlreadyExists "TableAlreadyExistsException";
    TableInUse "TableInUseException";
    TableNotFound "TableNotFoundException";
    Throttling "ThrottlingException";
    TransactionCanceled "TransactionCanceledException";
    TransactionConflict "TransactionConflictException";
    TransactionInProgress "TransactionInProgressException";
    TrimmedDataAccess "TrimmedDataAccessException";
    UnknownOperation "UnknownOperationException";
    UnrecognizedClient "UnrecognizedClientException";
    Validation "ValidationException";
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
