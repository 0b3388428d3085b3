//! Errors of scenarios.
use armature_client::{Code, Error, Exception, Item, Value};
use serde_yaml_ng::Value as Yaml;

use crate::values::{entries, native, same, Failure};

/// The type of an error in the scenarios.
pub fn type_of(error: &Error) -> String {
    match error {
        Error::BatchWrite(_) => return "batch_failed".into(),
        Error::OutcomeUnknown(_) => return "outcome_unknown".into(),
        Error::Argument(_) | Error::Encode(_) => return "invalid_argument".into(),
        Error::Timeout(_) => return "deadline".into(),
        _ => {}
    }
    let Some(call) = error.call() else {
        return format!("{error:?}");
    };
    let name = match &call.exception {
        Some(Exception::ConditionalCheckFailed) => "condition_failed",
        Some(Exception::TransactionCanceled) => "transaction_cancelled",
        Some(Exception::TransactionConflict) => "transaction_conflict",
        Some(Exception::IdempotentParameterMismatch) => "token_reused",
        Some(Exception::Validation | Exception::Serialization) => "validation",
        Some(Exception::ResourceInUse) => "in_use",
        Some(Exception::DuplicateItem) => "duplicate_item",
        Some(_) if error.is_throttled() => "throttled",
        Some(Exception::LimitExceeded) => "limit_exceeded",
        Some(Exception::AccessDenied) => "access_denied",
        Some(Exception::TrimmedDataAccess) => "trimmed",
        _ => match call.code {
            Code::DeadlineExceeded => "deadline",
            Code::ResourceExhausted => "limit_exceeded",
            Code::NotFound => "not_found",
            Code::Unauthenticated => "unauthenticated",
            Code::Unavailable => "unavailable",
            Code::Unimplemented => "unsupported",
            _ => return error.to_string(),
        },
    };
    name.into()
}

fn item_or_null(item: Option<&Item>) -> Value {
    item.map_or(Value::Null, |item| Value::M(item.clone()))
}

/// Compares an error with the wanted one.
pub fn check_error(error: &Error, wanted: &Yaml) -> Result<(), Failure> {
    for (name, value) in entries(wanted) {
        let value = native(value);
        let fact: Value = match name {
            "type" => type_of(error).into(),
            "exception" => error.exception().map(Exception::name).unwrap_or_default().into(),
            "message" => {
                let text = error.to_string();
                if value.as_str().is_some_and(|part| text.contains(part)) {
                    continue;
                }
                text.into()
            }
            "item" => item_or_null(error.failed_item()),
            "reasons" | "reason_items" => {
                let Error::TransactionCanceled(cancelled) = error else {
                    return Err(format!("{error:?} has no reasons"));
                };
                let reasons = cancelled.reasons.iter().map(|reason| match name {
                    "reasons" => Value::from(&reason.code),
                    _ => item_or_null(reason.item.as_ref()),
                });
                Value::L(reasons.collect())
            }
            "failed" => {
                let Error::BatchWrite(batch) = error else {
                    return Err(format!("{error:?} has no failed writes"));
                };
                Value::L(batch.dropped.iter().map(|write| Value::M(write.action.item().clone())).collect())
            }
            other => panic!("unknown member of an error: {other}"),
        };
        if !same(&fact, &value, name == "failed") {
            return Err(format!("{name} of the error is {fact} instead of {value}: {error}"));
        }
    }
    Ok(())
}
