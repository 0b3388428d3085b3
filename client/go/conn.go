package armature

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// transport carries one attempt of a call.
type transport interface {
	// attempt reports whether the request may have reached the daemon. That is of interest after an error only.
	attempt(ctx context.Context, method string, request, response any, options []grpc.CallOption) (sent bool, err error)
	newStream(ctx context.Context, description *grpc.StreamDesc, method string, options []grpc.CallOption) (
		grpc.ClientStream, error)
}

// channels is the transport over connections of gRPC, which the calls use in turns.
type channels struct {
	connections []*grpc.ClientConn
	turn        atomic.Uint32
}

func (c *channels) next() *grpc.ClientConn {
	if len(c.connections) == 1 {
		return c.connections[0]
	}
	return c.connections[int(c.turn.Add(1))%len(c.connections)]
}

func (c *channels) attempt(ctx context.Context, method string, request, response any, options []grpc.CallOption) (
	bool, error) {
	// gRPC sets the peer as soon as it has a stream on a connection. Without one, nothing was sent.
	var reached peer.Peer
	err := c.next().Invoke(ctx, method, request, response, append(options[:len(options):len(options)], grpc.Peer(&reached))...)
	return reached.Addr != nil, err
}

func (c *channels) newStream(ctx context.Context, description *grpc.StreamDesc, method string, options []grpc.CallOption) (
	grpc.ClientStream, error) {
	return c.next().NewStream(ctx, description, method, options...)
}

// foreign is the transport over a connection that the program has made.
type foreign struct{ grpc.ClientConnInterface }

func (f foreign) attempt(ctx context.Context, method string, request, response any, options []grpc.CallOption) (
	bool, error) {
	return true, f.Invoke(ctx, method, request, response, options...)
}

func (f foreign) newStream(ctx context.Context, description *grpc.StreamDesc, method string, options []grpc.CallOption) (
	grpc.ClientStream, error) {
	return f.NewStream(ctx, description, method, options...)
}

// conn makes the calls of the generated clients: with deadline, retries, session and errors.
type conn struct {
	transport transport
	settings  *settings
	session   *session // nil: none
	schemas   *schemas
	address   string // for errors; empty for a connection of the program's own
	// isPipeline: the calls are operations of a pipeline, which are not repeated after a lost answer.
	isPipeline bool
}

// Invoke makes a call with all its attempts.
func (c *conn) Invoke(ctx context.Context, fullMethod string, request, response any, options ...grpc.CallOption) error {
	m, ok := methods[fullMethod]
	if !ok {
		m.name = fullMethod[strings.LastIndexByte(fullMethod, '/')+1:]
	}
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.settings.timeout)
		defer cancel()
	}
	request = withToken(request)
	var before uint64
	if c.session != nil {
		if deletion, ok := request.(*apiv1.DeleteTableRequest); ok {
			before = c.session.sequenceOf(deletion.GetTableName())
		}
		request = c.session.prepare(request)
	}
	end := func(CallResult) {}
	if c.settings.observer != nil {
		ctx, end = c.settings.observer.BeginCall(ctx, Call{Operation: m.name, Table: tableOf(request)})
	}
	attempts, err := c.repeat(ctx, m, fullMethod, request, response, options)
	end(CallResult{Attempts: attempts, Err: err})
	if err == nil && c.session != nil {
		c.session.learn(request, response, before)
	}
	if err == nil {
		c.schemas.learn(response)
	}
	return err
}

// repeat makes attempts until one succeeds or no other may be made. It returns their number.
func (c *conn) repeat(ctx context.Context, m method, fullMethod string, request, response any,
	options []grpc.CallOption) (int, error) {
	harmless := isIdempotent(options) || !c.isPipeline && mayRepeat(m, request)
	maybeApplied := false
	for attempt := 1; ; attempt++ {
		sent, err := c.transport.attempt(ctx, fullMethod, request, response, options)
		if err == nil {
			return attempt, nil
		}
		failed := newError(m.name, err, !sent)
		failed.explainConnection(c.address)
		failed.Hint = c.schemas.hintOf(failed, request)
		final := func() error {
			if isRead(m, request) || !maybeApplied && failed.notApplied() {
				return failed.typed()
			}
			return &OutcomeUnknownError{Err: failed.typed()}
		}
		if attempt >= c.settings.retry.MaxAttempts || !failed.isTransient() || !failed.notApplied() && !harmless {
			return attempt, final()
		}
		maybeApplied = maybeApplied || !failed.notApplied()
		if !wait(ctx, c.settings.retry.pause(attempt, failed.RetryAfter)) {
			if ctx.Err() == context.Canceled {
				failed = newError(m.name, ctx.Err(), true)
			}
			return attempt, final()
		}
	}
}

func isIdempotent(options []grpc.CallOption) bool {
	for _, option := range options {
		if _, ok := option.(IdempotentOption); ok {
			return true
		}
	}
	return false
}

// withToken gives a transaction a token, so that all attempts are one transaction.
func withToken(request any) any {
	switch r := request.(type) {
	case *apiv1.TransactWriteItemsRequest:
		if r.ClientRequestToken == nil {
			r = shallowClone(r)
			r.ClientRequestToken = proto.String(NewToken())
			return r
		}
	case *apiv1.ExecuteTransactionRequest:
		if r.ClientRequestToken == nil {
			r = shallowClone(r)
			r.ClientRequestToken = proto.String(NewToken())
			return r
		}
	}
	return request
}

// NewToken returns a unique token for a transaction.
func NewToken() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:]) // never fails
	return hex.EncodeToString(bytes[:])
}

// tableOf returns the table of a request on one table.
func tableOf(request any) string {
	if r, ok := request.(interface{ GetTableName() string }); ok {
		return tableName(r.GetTableName())
	}
	return ""
}

// NewStream opens a stream. It has no deadline but that of the context, and is not repeated.
func (c *conn) NewStream(ctx context.Context, description *grpc.StreamDesc, fullMethod string, options ...grpc.CallOption) (
	grpc.ClientStream, error) {
	name := fullMethod[strings.LastIndexByte(fullMethod, '/')+1:]
	stream, err := c.transport.newStream(ctx, description, fullMethod, options)
	if err != nil {
		failed := newError(name, err, true)
		failed.explainConnection(c.address)
		return nil, failed.typed()
	}
	return &streamOfErrors{ClientStream: stream, conn: c, operation: name}, nil
}

// streamOfErrors returns the errors of this package.
type streamOfErrors struct {
	grpc.ClientStream
	conn      *conn
	operation string
	request   any // that was sent last
}

// SendMsg sends a message.
func (s *streamOfErrors) SendMsg(message any) error {
	s.request = message
	return s.ClientStream.SendMsg(message)
}

// RecvMsg receives a message. io.EOF: the stream has ended well.
func (s *streamOfErrors) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if _, isStatus := status.FromError(err); err == nil || !isStatus {
		return err
	}
	failed := newError(s.operation, err, false)
	failed.Hint = s.conn.schemas.hintOf(failed, s.request)
	return failed.typed()
}

// shallowCopy sets the fields of a message to those of another one: maps, lists and messages are shared.
func shallowCopy(to, from proto.Message) {
	reflected := to.ProtoReflect()
	proto.Reset(to)
	from.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		reflected.Set(field, value)
		return true
	})
}
