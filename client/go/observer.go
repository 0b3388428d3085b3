package armature

import "context"

// Observer is told of each call of a client, for traces and metrics. The module armatureotel has one for OpenTelemetry.
// Attempts are calls of gRPC: a stats handler of [WithDialOptions] sees them.
type Observer interface {
	// BeginCall returns the context of the call, and a function that is called with its result. It must be safe for
	// concurrent use.
	BeginCall(ctx context.Context, call Call) (context.Context, func(CallResult))
}

// Call is a call with all its attempts.
type Call struct {
	Operation string // such as "PutItem"
	Table     string // empty if the operation is not on one table
}

// CallResult is the end of a call.
type CallResult struct {
	Attempts int
	Err      error // nil: success
}
