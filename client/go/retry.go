package armature

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/armaturedb/armature/client/go/adminv1"
	"github.com/armaturedb/armature/client/go/apiv1"
)

// Retry says how failed calls are repeated. A call is repeated if its error may pass with time, if it has certainly
// changed nothing or does no harm when it is done twice, and if the pause ends before its deadline.
//
// Done twice without harm: reads, puts and deletes without condition and returned item, batches of writes, transactions,
// and calls with [Idempotent].
type Retry struct {
	// MaxAttempts includes the first one. 1: no repetition.
	MaxAttempts int
	// The pause after attempt n is random between one half of Initial*2^(n-1), at most Max, and all of it. The daemon's
	// advice to wait longer is followed.
	Initial, Max time.Duration
}

// DefaultRetry is used without [WithRetry].
var DefaultRetry = Retry{MaxAttempts: 20, Initial: 25 * time.Millisecond, Max: 2 * time.Second}

// pause returns the time between the attempt of this number and the next one.
func (r Retry) pause(attempt int, advice time.Duration) time.Duration {
	full := r.Initial
	for n := 1; n < attempt && full < r.Max; n++ {
		full *= 2
	}
	full = min(full, r.Max)
	jittered := full/2 + time.Duration(rand.Int64N(int64(full/2)+1))
	// All clients get the same advice, and should not come back together.
	return advice + jittered
}

// wait pauses. False: the context ends before, and nothing was waited for.
func wait(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Now().Add(pause).After(deadline) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// IdempotentOption is the type of [Idempotent].
type IdempotentOption struct{ grpc.EmptyCallOption }

// Idempotent says that a call may be done twice without harm, so that it is repeated after its answer was lost. Example:
// an update that only sets attributes to constants.
func Idempotent() IdempotentOption { return IdempotentOption{} }

// method is an operation of the protocol.
type method struct {
	name       string // such as "GetItem"
	isRead     bool   // changes nothing
	mayBeTwice bool   // doing it twice does no harm, whatever its request says
}

// methods has the operations by their full names, such as "/armature.api.v1.ItemService/GetItem".
var methods = func() map[string]method {
	found := map[string]method{}
	for _, file := range []protoreflect.FileDescriptor{
		apiv1.File_armature_api_v1_service_proto, adminv1.File_armature_admin_v1_admin_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				level := m.Options().(*descriptorpb.MethodOptions).GetIdempotencyLevel()
				found["/"+string(service.FullName())+"/"+string(m.Name())] = method{
					name:       string(m.Name()),
					isRead:     level == descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
					mayBeTwice: level != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN,
				}
			}
		}
	}
	return found
}()

// plainWrite is a request of PutItem or DeleteItem.
type plainWrite interface {
	GetConditionExpression() string
	GetExpected() map[string]*apiv1.ExpectedAttributeValue
	GetReturnValues() apiv1.ReturnValues
}

// mayRepeat reports whether doing the call twice leaves the same data and gives an equivalent answer.
func mayRepeat(m method, request any) bool {
	if m.mayBeTwice {
		return true
	}
	switch r := request.(type) {
	case *apiv1.PutItemRequest:
		return isPlain(r)
	case *apiv1.DeleteItemRequest:
		return isPlain(r)
	case *apiv1.TransactWriteItemsRequest:
		return r.GetClientRequestToken() != ""
	case *apiv1.ExecuteTransactionRequest:
		return r.GetClientRequestToken() != ""
	default:
		return isRead(m, request)
	}
}

// isRead reports whether the call changes nothing.
func isRead(m method, request any) bool {
	switch r := request.(type) {
	case *apiv1.ExecuteStatementRequest:
		return isSelect(r.GetStatement())
	case *apiv1.BatchExecuteStatementRequest:
		return !slices.ContainsFunc(r.GetStatements(), func(statement *apiv1.BatchStatementRequest) bool {
			return !isSelect(statement.GetStatement())
		})
	default:
		return m.isRead
	}
}

// isPlain: without condition and returned item. A second attempt would return the item of the first one.
func isPlain(r plainWrite) bool {
	returns := r.GetReturnValues()
	return r.GetConditionExpression() == "" && len(r.GetExpected()) == 0 &&
		(returns == apiv1.ReturnValues_RETURN_VALUES_UNSPECIFIED || returns == apiv1.ReturnValues_RETURN_VALUES_NONE)
}
