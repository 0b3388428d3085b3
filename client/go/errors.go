package armature

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Exception is the name of an error of the documented API. It is an error itself, for errors.Is:
//
//	if errors.Is(err, armature.ErrResourceNotFound) { ... }
type Exception string

// Error returns the name.
func (e Exception) Error() string { return string(e) }

// Exceptions that programs often react to. Others are written as Exception("BackupNotFoundException").
const (
	ErrAccessDenied         Exception = "AccessDeniedException"
	ErrConditionFailed      Exception = "ConditionalCheckFailedException"
	ErrDuplicateItem        Exception = "DuplicateItemException"
	ErrInternal             Exception = "InternalServerError"
	ErrLimitExceeded        Exception = "LimitExceededException"
	ErrResourceInUse        Exception = "ResourceInUseException"
	ErrResourceNotFound     Exception = "ResourceNotFoundException"
	ErrThrottled            Exception = "ThrottlingException"
	ErrThroughputExceeded   Exception = "ProvisionedThroughputExceededException"
	ErrTransactionCanceled  Exception = "TransactionCanceledException"
	ErrTransactionConflict  Exception = "TransactionConflictException"
	ErrTransactionInFlight  Exception = "TransactionInProgressException"
	ErrTrimmedData          Exception = "TrimmedDataAccessException"
	ErrValidation           Exception = "ValidationException"
	errRequestLimitExceeded Exception = "RequestLimitExceeded"
	errServiceUnavailable   Exception = "ServiceUnavailable"
	errCollectionFull       Exception = "ItemCollectionSizeLimitExceededException"
)

// ErrItemNotFound is the error of [Table.Get] for an item that does not exist.
var ErrItemNotFound = errors.New("armature: the item does not exist")

// CallError is a failed call. errors.As finds it in every error of a call, also beneath the more precise types
// [ConditionFailedError], [TransactionCanceledError] and [OutcomeUnknownError].
//
// errors.Is takes an [Exception]; context.DeadlineExceeded and context.Canceled for calls that ended so.
type CallError struct {
	Operation string     // such as "PutItem"
	Code      codes.Code // of gRPC
	// Exception is the name of the error in the documented API. Empty if it did not come from the daemon: the network
	// failed, or the deadline passed.
	Exception  Exception
	Message    string        // of the daemon, or of this package
	Hint       string        // what the client knows beside the message, such as the table; may be empty
	RequestID  string        // names the call in the daemon's log
	RetryAfter time.Duration // advice of the daemon; 0: none
	// Detail is the whole error of the daemon; nil if it did not come from the daemon.
	Detail *apiv1.ErrorDetail

	neverSent bool
	isLasting bool // a repetition would fail in the same way
	status    *status.Status
}

// Error returns operation, exception, message and hint.
func (e *CallError) Error() string {
	name := string(e.Exception)
	if name == "" {
		name = e.Code.String()
	}
	text := fmt.Sprintf("armature: %s: %s: %s", e.Operation, name, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// GRPCStatus returns the status of the call, for status.FromError.
func (e *CallError) GRPCStatus() *status.Status { return e.status }

// Is reports whether the error is the exception, or the context error, target.
func (e *CallError) Is(target error) bool {
	if exception, ok := target.(Exception); ok {
		return e.Exception == exception
	}
	switch target {
	case context.DeadlineExceeded:
		return e.Code == codes.DeadlineExceeded
	case context.Canceled:
		return e.Code == codes.Canceled
	}
	return false
}

// ConditionFailedError is a write whose condition was false. Nothing was changed.
type ConditionFailedError struct {
	*CallError
	// ItemOmitted: the item is too large for an error; read it with Get.
	ItemOmitted bool
	item        *apiv1.Item
}

// Unwrap returns the CallError.
func (e *ConditionFailedError) Unwrap() error { return e.CallError }

// Item returns the item that failed the condition: nil without [ReturnItemOnFailure], or if there is none.
func (e *ConditionFailedError) Item() Item { return ItemOf(e.item) }

// Decode stores the item that failed the condition in a struct or map. [ErrItemNotFound]: the error has none.
func (e *ConditionFailedError) Decode(destination any) error {
	if e.item == nil {
		return ErrItemNotFound
	}
	return UnmarshalItem(e.item, destination)
}

// CancellationReason is the result of one action of a cancelled transaction.
type CancellationReason struct {
	Code        string // "None" if this action did not fail; else such as "ConditionalCheckFailed"
	Message     string
	ItemOmitted bool // the item is too large for an error; read it with Get
	item        *apiv1.Item
}

// Item returns the item that failed the condition of the action: nil without [ReturnItemOnFailure], or if there is none.
func (r CancellationReason) Item() Item { return ItemOf(r.item) }

// Decode stores the item that failed the condition in a struct or map. [ErrItemNotFound]: the reason has none.
func (r CancellationReason) Decode(destination any) error {
	if r.item == nil {
		return ErrItemNotFound
	}
	return UnmarshalItem(r.item, destination)
}

// TransactionCanceledError is a transaction of which nothing was applied.
type TransactionCanceledError struct {
	*CallError
	Reasons []CancellationReason // one for each action, in their order
}

// Unwrap returns the CallError.
func (e *TransactionCanceledError) Unwrap() error { return e.CallError }

// OutcomeUnknownError is a write that may have been applied or not: its answer was lost, and a repetition is not safe or
// did not succeed in time. Read the item, or repeat the write if that does no harm.
type OutcomeUnknownError struct {
	Err error // the last failure
}

// Error says that the outcome is unknown, and why.
func (e *OutcomeUnknownError) Error() string {
	return e.Err.Error() + "; the write may have been applied or not"
}

// Unwrap returns the last failure.
func (e *OutcomeUnknownError) Unwrap() error { return e.Err }

// ExceptionOf returns the exception of the documented API of an error, or "" if it has none.
func ExceptionOf(err error) Exception {
	var failed *CallError
	if errors.As(err, &failed) {
		return failed.Exception
	}
	return ""
}

// NotApplied reports whether the failed call has certainly changed nothing: each of its attempts was never sent, or was
// refused by the daemon.
func NotApplied(err error) bool {
	var unknown *OutcomeUnknownError
	var failed *CallError
	return errors.As(err, &failed) && !errors.As(err, &unknown) && failed.notApplied()
}

func (e *CallError) notApplied() bool {
	if e.neverSent || e.Code == codes.Unimplemented {
		return true
	}
	switch e.Exception {
	case "", ErrInternal, errServiceUnavailable:
		return false // the last two can occur in the middle of a write
	case errCollectionFull:
		return e.Operation != "BatchWriteItem" // concerns one write of a batch; the others are done
	default:
		return true
	}
}

// isThrottled: the daemon refused the call because of too many calls.
func (e *CallError) isThrottled() bool {
	return e.Code == codes.ResourceExhausted && (e.Exception == ErrThroughputExceeded || e.Exception == ErrThrottled ||
		e.Exception == errRequestLimitExceeded)
}

// passingReasons are the codes of actions of a cancelled transaction that may succeed in another attempt.
var passingReasons = []string{"None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"}

// isTransient: another attempt may succeed.
func (e *CallError) isTransient() bool {
	switch e.Code {
	case codes.Unavailable:
		return !e.isLasting
	case codes.ResourceExhausted:
		return e.isThrottled()
	case codes.Aborted:
		if e.Exception == ErrTransactionConflict || e.Exception == ErrTransactionInFlight {
			return true
		}
		reasons := e.Detail.GetCancellationReasons()
		return len(reasons) > 0 && !slices.ContainsFunc(reasons, func(reason *apiv1.CancellationReason) bool {
			return !slices.Contains(passingReasons, reason.GetCode())
		})
	default:
		return false
	}
}

// newError returns the CallError of a failed attempt.
func newError(operation string, err error, neverSent bool) *CallError {
	var known *CallError
	if errors.As(err, &known) {
		return known
	}
	state, ok := status.FromError(err)
	if !ok {
		state = status.FromContextError(err)
	}
	failed := &CallError{
		Operation: operation, Code: state.Code(), Message: state.Message(), neverSent: neverSent, status: state,
	}
	for _, detail := range state.Details() {
		switch detail := detail.(type) {
		case *apiv1.ErrorDetail:
			failed.Detail = detail
			failed.Exception = Exception(detail.GetException())
			failed.RequestID = detail.GetRequestId()
			failed.RetryAfter = max(failed.RetryAfter, time.Duration(detail.GetRetryAfterMs())*time.Millisecond)
		case *errdetails.RetryInfo:
			failed.RetryAfter = max(failed.RetryAfter, detail.GetRetryDelay().AsDuration())
		}
	}
	if isTooLarge := failed.Code == codes.ResourceExhausted && failed.Exception == ""; isTooLarge {
		// gRPC has no code of its own for these. Answers that are too large ("received message") are another matter.
		failed.neverSent = failed.neverSent || strings.Contains(failed.Message, "trying to send message larger than max") ||
			strings.Contains(failed.Message, "Received message larger than max")
	}
	return failed
}

// statusOf returns the error in the bytes of a google.rpc.Status, whose shape RpcStatus has.
func statusOf(bytes []byte) error {
	var message spb.Status
	if err := proto.Unmarshal(bytes, &message); err != nil {
		return status.Error(codes.Internal, "the daemon's error cannot be read: "+err.Error())
	}
	return status.FromProto(&message).Err()
}

// typed returns the most precise type of the error.
func (e *CallError) typed() error {
	switch e.Exception {
	case ErrConditionFailed:
		return &ConditionFailedError{CallError: e, item: e.Detail.GetItem(), ItemOmitted: e.Detail.GetItemOmitted()}
	case ErrTransactionCanceled:
		reasons := make([]CancellationReason, len(e.Detail.GetCancellationReasons()))
		for i, reason := range e.Detail.GetCancellationReasons() {
			reasons[i] = CancellationReason{
				Code: reason.GetCode(), Message: reason.GetMessage(), ItemOmitted: reason.GetItemOmitted(),
				item: reason.GetItem(),
			}
		}
		return &TransactionCanceledError{CallError: e, Reasons: reasons}
	default:
		return e
	}
}
