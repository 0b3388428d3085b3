package armature

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Pipeline carries many concurrent operations on items over one stream. An operation costs less than half of a call.
//
//	pipeline := client.Pipeline()
//	defer pipeline.Close()
//	users := armature.TableOf[User](pipeline.Client(), "users")
//	group, ctx := errgroup.WithContext(ctx)
//	group.SetLimit(256)
//	for _, user := range all {
//		group.Go(func() error {
//			_, err := users.Put(ctx, user)
//			return err
//		})
//	}
//	return group.Wait()
//
// The operations of its client have the same errors and session as calls. The stream is opened by the first operation,
// and again after it was lost. Operations without an answer then fail, writes with [OutcomeUnknownError]: also those that
// a call would repeat, because later ones may depend on them. [Idempotent] ones, and those that the daemon has refused for
// a passing reason, are repeated like calls.
type Pipeline struct {
	client *Client
	cancel context.CancelFunc
	lane   *lane
}

// PipelineOptions bound the outstanding operations of a pipeline. Zero values are the defaults.
type PipelineOptions struct {
	InFlight      int // operations: 256
	InFlightBytes int // size of their requests: 16 MB. A larger request is sent alone
}

// Pipeline returns a pipeline over the connections of the client.
func (c *Client) Pipeline(options ...PipelineOptions) *Pipeline {
	bounds := PipelineOptions{InFlight: 256, InFlightBytes: 16 << 20}
	for _, o := range options {
		if o.InFlight > 0 {
			bounds.InFlight = o.InFlight
		}
		if o.InFlightBytes > 0 {
			bounds.InFlightBytes = o.InFlightBytes
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &lane{
		transport: c.conn.transport, ctx: ctx, budget: budget{countMax: bounds.InFlight, bytesMax: bounds.InFlightBytes},
	}
	shared := *c.conn
	shared.transport = l
	shared.isPipeline = true
	return &Pipeline{client: &Client{conn: &shared, closes: func() error { return nil }}, cancel: cancel, lane: l}
}

// Client returns a client whose operations on items go over the stream. Its other operations are calls.
func (p *Pipeline) Client() *Client { return p.client }

// Close ends the stream. Operations without an answer fail, and so do later ones: finish them first.
func (p *Pipeline) Close() error {
	p.cancel()
	return nil
}

// errPipelineClosed is the error of operations after Close.
var errPipelineClosed = status.Error(codes.Canceled, "the pipeline is closed")

// lane is the transport over the stream of a pipeline.
type lane struct {
	transport transport
	ctx       context.Context // ends with the pipeline
	budget    budget

	mu      sync.Mutex
	current *pipelineStream // nil: none was opened
	opening *opening        // nil: none is being opened
}

func (l *lane) newStream(ctx context.Context, description *grpc.StreamDesc, method string, options []grpc.CallOption) (
	grpc.ClientStream, error) {
	return l.transport.newStream(ctx, description, method, options)
}

func (l *lane) attempt(ctx context.Context, method string, request, response any, options []grpc.CallOption) (bool, error) {
	message := pipelineRequest(request)
	if message == nil {
		return l.transport.attempt(ctx, method, request, response, options)
	}
	bytes := proto.Size(message)
	if bytes > requestBytesMax {
		// The request would end the stream with all outstanding operations.
		return false, status.Errorf(codes.ResourceExhausted, "trying to send message larger than max (%d vs. %d)", bytes, requestBytesMax)
	}
	if err := l.budget.acquire(ctx, bytes); err != nil {
		return false, err
	}
	defer l.budget.release(bytes)
	stream, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	answer, sent, err := stream.do(ctx, message)
	if err != nil {
		return sent, err
	}
	return true, unpack(answer, response.(proto.Message))
}

// opening is a stream that is being opened.
type opening struct {
	done   chan struct{} // closed with stream or err
	stream *pipelineStream
	err    error
}

// open returns the stream, or a new one after the last one has ended. It waits no longer than the context of the operation:
// a connection may take much longer, and its stream serves other operations, too.
func (l *lane) open(ctx context.Context) (*pipelineStream, error) {
	l.mu.Lock()
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		return nil, errPipelineClosed
	}
	if l.current != nil && !l.current.hasEnded() {
		defer l.mu.Unlock()
		return l.current, nil
	}
	if l.opening == nil {
		l.opening = &opening{done: make(chan struct{})}
		go l.connect(l.opening)
	}
	o := l.opening
	l.mu.Unlock()
	select {
	case <-o.done:
		return o.stream, o.err
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// connect opens a stream, which ends with the pipeline.
func (l *lane) connect(o *opening) {
	raw, err := l.transport.newStream(l.ctx, &apiv1.ItemService_ServiceDesc.Streams[0],
		apiv1.ItemService_Pipeline_FullMethodName, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(o.done)
	l.opening = nil
	switch {
	case err == nil:
		o.stream = &pipelineStream{
			stream: raw, outstanding: map[uint64]*operation{}, unsent: make(chan *operation), ended: make(chan struct{}),
		}
		l.current = o.stream
		go o.stream.receive()
		go o.stream.send()
	case l.ctx.Err() != nil:
		o.err = errPipelineClosed
	default:
		o.err = err
	}
}

// operation is a request without an answer.
type operation struct {
	request *apiv1.PipelineRequest
	done    chan struct{} // closed with answer or err
	answer  *apiv1.PipelineResponse
	err     error
}

type pipelineStream struct {
	stream grpc.ClientStream
	unsent chan *operation
	ended  chan struct{} // closed when no more answers arrive

	mu          sync.Mutex
	lastID      uint64
	outstanding map[uint64]*operation
	failure     error // reason of the end
}

func (s *pipelineStream) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// do sends a request and waits for its answer.
func (s *pipelineStream) do(ctx context.Context, request *apiv1.PipelineRequest) (*apiv1.PipelineResponse, bool, error) {
	o := &operation{request: request, done: make(chan struct{})}
	s.mu.Lock()
	if s.failure != nil {
		defer s.mu.Unlock()
		return nil, false, s.failure
	}
	s.lastID++
	request.Id = s.lastID
	s.outstanding[request.Id] = o
	s.mu.Unlock()
	select {
	case s.unsent <- o:
	case <-s.ended:
		<-o.done
		return nil, false, o.err
	case <-ctx.Done():
		s.forget(request.Id)
		return nil, false, status.FromContextError(ctx.Err()).Err()
	}
	select {
	case <-o.done:
		return o.answer, true, o.err
	case <-ctx.Done():
		s.forget(request.Id)
		return nil, true, status.FromContextError(ctx.Err()).Err()
	}
}

// forget ignores a later answer.
func (s *pipelineStream) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.outstanding, id)
}

func (s *pipelineStream) send() {
	for {
		select {
		case o := <-s.unsent:
			if err := s.stream.SendMsg(o.request); err != nil && !errors.Is(err, io.EOF) {
				s.end(err)
				return
			}
		case <-s.ended:
			return
		}
	}
}

func (s *pipelineStream) receive() {
	for {
		answer := &apiv1.PipelineResponse{}
		if err := s.stream.RecvMsg(answer); err != nil {
			s.end(err)
			return
		}
		s.mu.Lock()
		o := s.outstanding[answer.GetId()]
		delete(s.outstanding, answer.GetId())
		s.mu.Unlock()
		if o != nil {
			o.answer = answer
			close(o.done)
		}
	}
}

// end fails the outstanding operations.
func (s *pipelineStream) end(err error) {
	state, _ := status.FromError(err)
	switch state.Code() {
	case codes.Unknown, codes.Internal, codes.Canceled, codes.OK:
		// The connection broke, or the daemon has ended the stream: another one will do. io.EOF has the code Unknown.
		err = status.Errorf(codes.Unavailable, "the stream to the daemon has ended: %s", state.Message())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return
	}
	s.failure = err
	for id, o := range s.outstanding {
		delete(s.outstanding, id)
		o.err = err
		close(o.done)
	}
	close(s.ended)
}

// operationFields has the field of the oneof of PipelineRequest and of PipelineResponse for each type of request.
var operationFields = func() map[protoreflect.FullName]protoreflect.FieldDescriptor {
	fields := map[protoreflect.FullName]protoreflect.FieldDescriptor{}
	oneof := (&apiv1.PipelineRequest{}).ProtoReflect().Descriptor().Oneofs().ByName("operation").Fields()
	for i := range oneof.Len() {
		fields[oneof.Get(i).Message().FullName()] = oneof.Get(i)
	}
	return fields
}()

// pipelineRequest returns the message of a request; nil if it cannot be sent over a pipeline.
func pipelineRequest(request any) *apiv1.PipelineRequest {
	// The most frequent ones need no reflection.
	switch r := request.(type) {
	case *apiv1.GetItemRequest:
		return &apiv1.PipelineRequest{Operation: &apiv1.PipelineRequest_GetItem{GetItem: r}}
	case *apiv1.PutItemRequest:
		return &apiv1.PipelineRequest{Operation: &apiv1.PipelineRequest_PutItem{PutItem: r}}
	case *apiv1.UpdateItemRequest:
		return &apiv1.PipelineRequest{Operation: &apiv1.PipelineRequest_UpdateItem{UpdateItem: r}}
	case proto.Message:
		field := operationFields[r.ProtoReflect().Descriptor().FullName()]
		if field == nil {
			return nil
		}
		message := &apiv1.PipelineRequest{}
		message.ProtoReflect().Set(field, protoreflect.ValueOfMessage(r.ProtoReflect()))
		return message
	default:
		return nil
	}
}

// unpack stores an answer in a response of the expected type. Errors: that of the operation.
func unpack(answer *apiv1.PipelineResponse, response proto.Message) error {
	if failure := answer.GetError(); failure != nil {
		bytes, err := proto.Marshal(failure)
		if err != nil {
			return err
		}
		return statusOf(bytes)
	}
	reflected := answer.ProtoReflect()
	field := reflected.WhichOneof(reflected.Descriptor().Oneofs().ByName("result"))
	if field == nil || field.Message().FullName() != response.ProtoReflect().Descriptor().FullName() {
		return status.Error(codes.Internal, fmt.Sprintf("the daemon has answered another operation than %T", response))
	}
	shallowCopy(response, reflected.Get(field).Message().Interface())
	return nil
}
