package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	armature "github.com/armaturedb/armature/client/go"
)

// typesOfExceptions has the type of an error in the scenarios for exceptions that have one.
var typesOfExceptions = map[armature.Exception]string{
	armature.ErrConditionFailed:            "condition_failed",
	armature.ErrTransactionCanceled:        "transaction_cancelled",
	armature.ErrTransactionConflict:        "transaction_conflict",
	"IdempotentParameterMismatchException": "token_reused",
	armature.ErrValidation:                 "validation",
	"SerializationException":               "validation",
	armature.ErrResourceInUse:              "in_use",
	armature.ErrDuplicateItem:              "duplicate_item",
	armature.ErrThrottled:                  "throttled",
	armature.ErrThroughputExceeded:         "throttled",
	"RequestLimitExceeded":                 "throttled",
	armature.ErrLimitExceeded:              "limit_exceeded",
	armature.ErrAccessDenied:               "access_denied",
	armature.ErrTrimmedData:                "trimmed",
	"UnknownOperationException":            "unsupported",
}

// typeOf returns the type of an error in the scenarios.
func typeOf(err error) string {
	var unknown *armature.OutcomeUnknownError
	var batch *armature.BatchWriteError
	var failed *armature.CallError
	var argument *armature.ArgumentError
	var encoding *armature.MarshalError
	switch {
	case errors.As(err, &batch) && errors.Is(err, armature.ErrValidation):
		return "batch_failed"
	case errors.As(err, &unknown):
		return "outcome_unknown"
	case errors.As(err, &argument), errors.As(err, &encoding):
		return "invalid_argument"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	case !errors.As(err, &failed):
		return fmt.Sprintf("%T", err)
	}
	if name, ok := typesOfExceptions[failed.Exception]; ok {
		return name
	}
	switch failed.Code {
	case codes.ResourceExhausted:
		return "limit_exceeded" // of the size of a message
	case codes.NotFound:
		return "not_found"
	case codes.Unauthenticated:
		return "unauthenticated"
	case codes.Unimplemented:
		return "unsupported"
	case codes.Unavailable:
		return "unavailable"
	}
	return failed.Error()
}

// checkError compares an error with the wanted one.
func checkError(err error, wanted node) error {
	facts := node{}
	var conditionFailed *armature.ConditionFailedError
	var cancelled *armature.TransactionCanceledError
	var batch *armature.BatchWriteError
	errors.As(err, &conditionFailed)
	errors.As(err, &cancelled)
	errors.As(err, &batch)
	for name, value := range wanted {
		switch name {
		case "type":
			facts[name] = typeOf(err)
		case "exception":
			facts[name] = string(armature.ExceptionOf(err))
		case "message":
			facts[name] = err.Error()
			if strings.Contains(err.Error(), value.(string)) {
				facts[name] = value
			}
		case "item":
			if conditionFailed != nil {
				facts[name] = conditionFailed.Item()
			}
		case "reasons", "reason_items":
			list := []any{}
			for i := 0; cancelled != nil && i < len(cancelled.Reasons); i++ {
				if name == "reasons" {
					list = append(list, cancelled.Reasons[i].Code)
				} else {
					list = append(list, cancelled.Reasons[i].Item())
				}
			}
			facts[name] = list
		case "failed":
			list := []any{}
			for i := 0; batch != nil && i < len(batch.Dropped); i++ {
				list = append(list, batch.Dropped[i].Item())
			}
			facts[name] = list
		default:
			return fmt.Errorf("unknown member of an error: %s", name)
		}
	}
	if !same(facts, native(wanted), true) {
		return fmt.Errorf("the error %v (%w) instead of %v", facts, err, wanted)
	}
	return nil
}
