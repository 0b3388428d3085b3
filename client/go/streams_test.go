package armature

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// fakeDaemon serves streams by functions of a test.
type fakeDaemon struct {
	apiv1.UnimplementedItemServiceServer
	apiv1.UnimplementedStreamServiceServer
	pipeline func(grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error
	watch    func(*apiv1.WatchRequest, grpc.ServerStreamingServer[apiv1.WatchResponse]) error
}

func (f *fakeDaemon) Pipeline(stream grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error {
	return f.pipeline(stream)
}

func (f *fakeDaemon) Watch(request *apiv1.WatchRequest, stream grpc.ServerStreamingServer[apiv1.WatchResponse]) error {
	return f.watch(request, stream)
}

// clientOf returns a client of the fake over memory.
func clientOf(t *testing.T, daemon *fakeDaemon, options ...Option) *Client {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	apiv1.RegisterItemServiceServer(server, daemon)
	apiv1.RegisterStreamServiceServer(server, daemon)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	dialer := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	})
	client, err := Open("passthrough:///fake", append(options, quickRetry,
		WithDialOptions(dialer, grpc.WithTransportCredentials(insecure.NewCredentials())))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func answerTo(request *apiv1.PipelineRequest) *apiv1.PipelineResponse {
	switch operation := request.GetOperation().(type) {
	case *apiv1.PipelineRequest_GetItem:
		return &apiv1.PipelineResponse{Id: request.GetId(), Result: &apiv1.PipelineResponse_GetItem{
			GetItem: &apiv1.GetItemResponse{Item: operation.GetItem.GetKey()},
		}}
	default:
		return &apiv1.PipelineResponse{Id: request.GetId(), Result: &apiv1.PipelineResponse_Error{
			Error: &apiv1.RpcStatus{Code: int32(codes.InvalidArgument), Message: "not a read"},
		}}
	}
}

func TestAPipelineAnswersOperationsInAnyOrder(t *testing.T) {
	const count = 20
	daemon := &fakeDaemon{pipeline: func(stream grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error {
		var requests []*apiv1.PipelineRequest
		for range count {
			request, err := stream.Recv()
			if err != nil {
				return err
			}
			requests = append(requests, request)
		}
		for i := range requests {
			if err := stream.Send(answerTo(requests[len(requests)-1-i])); err != nil {
				return err
			}
		}
		_, err := stream.Recv() // until the client closes
		return err
	}}
	pipeline := clientOf(t, daemon).Pipeline()
	defer pipeline.Close()
	var group sync.WaitGroup
	for i := range count {
		group.Add(1)
		go func() {
			defer group.Done()
			item, err := pipeline.Client().Table("t").Get(context.Background(), Key{"id": i})
			if err != nil || item["id"] != Number(fmt.Sprint(i)) {
				t.Errorf("%d: %v %v", i, item, err)
			}
		}()
	}
	group.Wait()
}

func TestAPipelineReturnsTheErrorOfAnOperation(t *testing.T) {
	daemon := &fakeDaemon{pipeline: func(stream grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error {
		for {
			request, err := stream.Recv()
			if err != nil {
				return err
			}
			_ = stream.Send(answerTo(request))
		}
	}}
	pipeline := clientOf(t, daemon).Pipeline()
	defer pipeline.Close()
	_, err := pipeline.Client().Items().Query(context.Background(), &apiv1.QueryRequest{})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("%v", err)
	}
	// The stream goes on.
	if _, err := pipeline.Client().Table("t").Get(context.Background(), Key{"id": "x"}); err != nil {
		t.Error(err)
	}
}

func TestAPipelineOpensAnotherStreamAfterALostOne(t *testing.T) {
	var streams atomic.Int32
	daemon := &fakeDaemon{pipeline: func(stream grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error {
		isFirst := streams.Add(1) == 1
		for {
			request, err := stream.Recv()
			if err != nil {
				return err
			}
			if isFirst {
				return status.Error(codes.Internal, "the connection broke")
			}
			_ = stream.Send(answerTo(request))
		}
	}}
	pipeline := clientOf(t, daemon).Pipeline()
	defer pipeline.Close()
	table := pipeline.Client().Table("t")
	if _, err := table.Get(context.Background(), Key{"id": "x"}); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
	if _, err := table.Get(context.Background(), Key{"id": "x"}); err != nil || streams.Load() != 2 {
		t.Errorf("%v, %d streams", err, streams.Load())
	}
}

func TestAWriteWhoseStreamBrokeHasAnUnknownOutcome(t *testing.T) {
	var streams atomic.Int32
	daemon := &fakeDaemon{pipeline: func(stream grpc.BidiStreamingServer[apiv1.PipelineRequest, apiv1.PipelineResponse]) error {
		_, _ = stream.Recv()
		streams.Add(1)
		return nil // ends without an answer
	}}
	pipeline := clientOf(t, daemon).Pipeline()
	defer pipeline.Close()
	table := pipeline.Client().Table("t")
	_, update := table.Update(context.Background(), Key{"id": "x"}, Add("n", 1))
	_, put := table.Put(context.Background(), Item{"id": "x"}) // a call would be repeated
	for _, err := range []error{update, put} {
		var unknown *OutcomeUnknownError
		if !errors.As(err, &unknown) || status.Code(unknown.Err) != codes.Unavailable {
			t.Errorf("%v", err)
		}
	}
	if streams.Load() != 2 {
		t.Errorf("%d streams: a write was repeated", streams.Load())
	}
}

func TestOperationsOfAPipelineDoNotOutliveTheirContextsWhileItConnects(t *testing.T) {
	dialing, release := make(chan struct{}, 1), make(chan struct{})
	dialer := grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
		select {
		case dialing <- struct{}{}:
		default:
		}
		<-release // as with an address that drops all packets
		return nil, errors.ErrUnsupported
	})
	client, err := Open("passthrough:///fake", quickRetry,
		WithDialOptions(dialer, grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	defer close(release)
	pipeline := client.Pipeline()
	defer pipeline.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const count = 3
	failed := make(chan error, count)
	for range count {
		go func() {
			_, err := pipeline.Client().Table("t").Update(ctx, Key{"id": "x"}, Add("n", 1))
			failed <- err
		}()
	}
	<-dialing
	cancel()
	for range count {
		select {
		case err := <-failed:
			if !errors.Is(err, context.Canceled) || !NotApplied(err) {
				t.Errorf("%v", err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("an operation waits for the connection behind the end of its context")
		}
	}
}

func TestAClosedPipelineRefusesOperations(t *testing.T) {
	pipeline := clientOf(t, &fakeDaemon{}).Pipeline()
	_ = pipeline.Close()
	_, err := pipeline.Client().Table("t").Put(context.Background(), Item{"id": "x"})
	if !NotApplied(err) {
		t.Errorf("%v", err)
	}
}

func TestAPipelineSendsNoRequestThatTheDaemonDoesNotRead(t *testing.T) {
	pipeline := clientOf(t, &fakeDaemon{}).Pipeline()
	defer pipeline.Close()
	_, err := pipeline.Client().Table("t").Put(context.Background(), Item{"id": make([]byte, requestBytesMax)})
	if status.Code(err) != codes.ResourceExhausted || !NotApplied(err) {
		t.Errorf("%v", err)
	}
}

func TestABudgetLetsInAsManyAsFit(t *testing.T) {
	b := &budget{countMax: 2, bytesMax: 10}
	ctx, cancel := context.WithCancel(context.Background())
	if err := errors.Join(b.acquire(ctx, 4), b.acquire(ctx, 4)); err != nil {
		t.Fatal(err)
	}
	granted := make(chan error)
	go func() { granted <- b.acquire(context.Background(), 20) }()
	for { // until it waits
		b.mu.Lock()
		waiting := len(b.waiting)
		b.mu.Unlock()
		if waiting == 1 {
			break
		}
	}
	go cancel()
	if err := b.acquire(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.release(4)
	select {
	case <-granted:
		t.Error("a large operation is let in beside another one")
	default:
	}
	b.release(4)
	if err := <-granted; err != nil {
		t.Error(err)
	}
	b.release(20)
	if b.count != 0 || b.bytes != 0 || len(b.waiting) != 0 {
		t.Errorf("%d operations, %d bytes are left", b.count, b.bytes)
	}
}

func TestABudgetBoundsTheNumberOfOperations(t *testing.T) {
	b := &budget{countMax: 2, bytesMax: 1000}
	ctx, cancel := context.WithCancel(context.Background())
	if err := errors.Join(b.acquire(ctx, 1), b.acquire(ctx, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := b.acquire(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a third operation: %v", err)
	}
}

func record(sequence string) *apiv1.ChangeRecord {
	return &apiv1.ChangeRecord{
		EventName: apiv1.EventName_EVENT_NAME_INSERT, Dynamodb: &apiv1.StreamRecord{SequenceNumber: sequence},
	}
}

func TestAWatchContinuesBehindTheLastChangeAfterALostConnection(t *testing.T) {
	var requests []*apiv1.WatchRequest
	daemon := &fakeDaemon{watch: func(request *apiv1.WatchRequest, stream grpc.ServerStreamingServer[apiv1.WatchResponse]) error {
		requests = append(requests, proto.Clone(request).(*apiv1.WatchRequest))
		switch len(requests) {
		case 1:
			_ = stream.Send(&apiv1.WatchResponse{Records: []*apiv1.ChangeRecord{record("1"), record("2")}, Position: "3"})
			return status.Error(codes.Unavailable, "the daemon stops")
		case 2:
			return nil // the daemon has ended the watch
		case 3:
			_ = stream.Send(&apiv1.WatchResponse{Position: "4"})
			_ = stream.Send(&apiv1.WatchResponse{Records: []*apiv1.ChangeRecord{record("5")}, Position: "5"})
			return status.Error(codes.Internal, "the connection broke")
		default:
			return exception(codes.OutOfRange, ErrTrimmedData)
		}
	}}
	var sequences, positions []string
	var last error
	watch := clientOf(t, daemon).Table("t").Watch(context.Background(), FromOldest(),
		OnPosition(func(position string) { positions = append(positions, position) }))
	for change, err := range watch {
		if last = err; err == nil {
			sequences = append(sequences, change.Sequence)
		}
	}
	if fmt.Sprint(sequences) != "[1 2 5]" || fmt.Sprint(positions) != "[3 4 5]" || !errors.Is(last, ErrTrimmedData) {
		t.Errorf("%v %v %v", sequences, positions, last)
	}
	for i, want := range []string{"", "3", "3", "5"} {
		if got := requests[i].GetAfterSequenceNumber(); got != want {
			t.Errorf("stream %d begins behind %q instead of %q", i, got, want)
		}
	}
	if requests[0].GetStart() != apiv1.WatchStart_WATCH_START_OLDEST || requests[1].GetStart() != 0 {
		t.Errorf("%v", requests)
	}
}

func TestAWatchEndsWithItsContextAndWithItsLoop(t *testing.T) {
	ended := make(chan error, 2)
	daemon := &fakeDaemon{watch: func(_ *apiv1.WatchRequest, stream grpc.ServerStreamingServer[apiv1.WatchResponse]) error {
		_ = stream.Send(&apiv1.WatchResponse{Records: []*apiv1.ChangeRecord{record("1")}, Position: "1"})
		<-stream.Context().Done()
		ended <- stream.Context().Err()
		return nil
	}}
	client := clientOf(t, daemon)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var errs []error
	for _, err := range client.Table("t").Watch(ctx) {
		errs = append(errs, err)
		cancel()
	}
	if len(errs) != 2 || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("%v", errs)
	}
	<-ended
	for range client.Table("t").Watch(context.Background()) {
		break
	}
	<-ended
}

func TestAWatchGivesUpAfterItsTime(t *testing.T) {
	daemon := &fakeDaemon{watch: func(*apiv1.WatchRequest, grpc.ServerStreamingServer[apiv1.WatchResponse]) error {
		return status.Error(codes.Unavailable, "not now")
	}}
	var last error
	for _, err := range clientOf(t, daemon).Table("t").Watch(context.Background(), ReconnectFor(time.Nanosecond)) {
		last = err
	}
	if status.Code(last) != codes.Unavailable {
		t.Errorf("%v", last)
	}
}

func TestAWatchConnectsAgainIfTheDaemonIsSilent(t *testing.T) {
	var streams atomic.Int32
	daemon := &fakeDaemon{watch: func(_ *apiv1.WatchRequest, stream grpc.ServerStreamingServer[apiv1.WatchResponse]) error {
		if streams.Add(1) > 1 {
			return exception(codes.OutOfRange, ErrTrimmedData)
		}
		<-stream.Context().Done() // sends nothing
		return nil
	}}
	client := clientOf(t, daemon, WithTimeout(time.Millisecond))
	var last error
	for _, err := range client.Table("t").Watch(context.Background(), Heartbeat(time.Millisecond)) {
		last = err
	}
	if !errors.Is(last, ErrTrimmedData) || streams.Load() < 2 {
		t.Errorf("%v after %d streams", last, streams.Load())
	}
}

func TestStreamsEndWithoutAnErrorOfThisPackage(t *testing.T) {
	daemon := &fakeDaemon{watch: func(*apiv1.WatchRequest, grpc.ServerStreamingServer[apiv1.WatchResponse]) error { return nil }}
	stream, err := clientOf(t, daemon).Streams().Watch(context.Background(), &apiv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}
