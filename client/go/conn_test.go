package armature

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// fakeConnection answers calls in order; the last answer is repeated.
type fakeConnection struct {
	answers  []any // proto.Message or error
	requests []proto.Message
	contexts []context.Context
}

func (f *fakeConnection) Invoke(ctx context.Context, _ string, request, response any, _ ...grpc.CallOption) error {
	f.requests = append(f.requests, proto.Clone(request.(proto.Message)))
	f.contexts = append(f.contexts, ctx)
	answer := f.answers[min(len(f.requests), len(f.answers))-1]
	if err, ok := answer.(error); ok {
		return err
	}
	proto.Merge(response.(proto.Message), answer.(proto.Message))
	return nil
}

func (f *fakeConnection) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.ErrUnsupported
}

// quickRetry repeats without noticeable pauses.
var quickRetry = WithRetry(Retry{MaxAttempts: 3, Initial: time.Nanosecond, Max: time.Nanosecond})

func fakeClient(t *testing.T, answers ...any) (*Client, *fakeConnection) {
	t.Helper()
	connection := &fakeConnection{answers: answers}
	client, err := New(connection, quickRetry)
	if err != nil {
		t.Fatal(err)
	}
	return client, connection
}

// exception returns an error of the daemon.
func exception(code codes.Code, name Exception, more ...protoadapt.MessageV1) error {
	details := append([]protoadapt.MessageV1{
		protoadapt.MessageV1Of(&apiv1.ErrorDetail{Exception: string(name), Message: "why", RequestId: "R1"}),
	}, more...)
	state, err := status.New(code, "why").WithDetails(details...)
	if err != nil {
		panic(err)
	}
	return state.Err()
}

var errLost = status.Error(codes.Unavailable, "the connection was lost")

func TestReadsAreRepeatedAfterALostAnswer(t *testing.T) {
	client, connection := fakeClient(t, errLost, errLost, &apiv1.GetItemResponse{Item: &apiv1.Item{}})
	if _, err := client.Table("t").Get(context.Background(), Key{"id": 1}); err != nil || len(connection.requests) != 3 {
		t.Errorf("%v after %d attempts", err, len(connection.requests))
	}
}

func TestTheTextOfTheDaemonStaysAsItIs(t *testing.T) {
	client, _ := fakeClient(t, exception(codes.NotFound, ErrResourceNotFound))
	_, err := client.Table("users").Get(context.Background(), Key{"id": 1})
	var failed *CallError
	if !errors.As(err, &failed) || failed.Message != "why" || failed.Hint != "table users" {
		t.Errorf("%#v", err)
	}
	if err.Error() != "armature: GetItem: ResourceNotFoundException: why (table users) (request R1)" {
		t.Error(err)
	}
}

func TestErrorsOfConnectionsHaveNoTextOfALibrary(t *testing.T) {
	handshake := `connection error: desc = "transport: authentication handshake failed: `
	dialing := `connection error: desc = "transport: Error while dialing: `
	for text, expected := range map[string]string{
		dialing + `dial tcp 127.0.0.1:1: connect: connection refused"`:       "db:1 refuses the connection: no daemon listens there",
		dialing + `dial unix /a: connect: no such file or directory"`:        "no daemon listens at db:1: there is no such socket",
		dialing + `dial tcp 10.0.0.1:1: i/o timeout"`:                        "db:1 does not answer a connection in time",
		`name resolver error: produced zero addresses`:                       "the name in db:1 cannot be resolved",
		handshake + `tls: first record does not look like a TLS handshake"`:  "db:1 does not speak TLS",
		handshake + `remote error: tls: handshake failure"`:                  "db:1 does not speak TLS",
		handshake + `remote error: tls: protocol version not supported"`:     "db:1 does not speak TLS",
		handshake + `remote error: tls: no application protocol"`:            "db:1 does not speak TLS",
		handshake + `tls: server selected unsupported protocol version 302"`: "db:1 does not speak TLS",
		`connection error: desc = "transport: authentication handshake failed: credentials: cannot check peer: missing ` +
			`selected ALPN property. If you upgraded from a grpc-go version earlier than 1.67"`: "db:1 does not speak TLS",
		handshake + `EOF"`: "the TLS handshake with db:1 failed",
		handshake + `read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer"`: "the TLS handshake with db:1 failed",
		handshake + `remote error: tls: certificate required"`:                           "db:1 wants a certificate of the client that it trusts",
		handshake + `tls: failed to verify certificate: x509: certificate expired"`:      "the certificate of db:1 is not trusted: certificate expired",
		`connection error: desc = "error reading server preface: http2: failed reading the frame payload: ` +
			`http2: frame too large, note that the frame header looked like an HTTP/1.1 header"`: "db:1 speaks HTTP/1, and not gRPC",
	} {
		failed := newError("GetItem", status.Error(codes.Unavailable, text), true)
		failed.explainConnection("db:1")
		if failed.Message != expected {
			t.Errorf("%q gives %q", text, failed.Message)
		}
		if isLasting := strings.Contains(expected, "speak TLS") || strings.Contains(expected, "certificate") ||
			strings.Contains(expected, "HTTP"); failed.isTransient() == isLasting {
			t.Errorf("%q: transient: %t", text, failed.isTransient())
		}
	}
}

func TestObjectsPrintTheirNameAndAddress(t *testing.T) {
	client, err := Open("db:1")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if text := fmt.Sprint(client, client.Table("users")); text != "armature.Client(db:1) armature.Table(users, db:1)" {
		t.Error(text)
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	client, connection := fakeClient(t, errLost)
	_, err := client.Table("t").Get(context.Background(), Key{"id": 1})
	var unknown *OutcomeUnknownError
	if status.Code(err) != codes.Unavailable || errors.As(err, &unknown) || len(connection.requests) != 3 {
		t.Errorf("%v after %d attempts", err, len(connection.requests))
	}
}

func TestWritesAreRepeatedIfThatDoesNoHarm(t *testing.T) {
	ctx := context.Background()
	table := func(c *Client) *Table[Item] { return c.Table("t") }
	for name, test := range map[string]struct {
		attempts int
		call     func(*Client) error
	}{
		"put":       {2, func(c *Client) error { _, err := table(c).Put(ctx, Item{}); return err }},
		"delete":    {2, func(c *Client) error { _, err := table(c).Delete(ctx, Key{}); return err }},
		"old item":  {1, func(c *Client) error { _, err := table(c).Put(ctx, Item{}, ReturnOld()); return err }},
		"condition": {1, func(c *Client) error { _, err := table(c).Put(ctx, Item{}, If(Attr("a").Exists())); return err }},
		"update":    {1, func(c *Client) error { _, err := table(c).Update(ctx, Key{}, Set("a", 1)); return err }},
		"said so":   {2, func(c *Client) error { _, err := table(c).Update(ctx, Key{}, Set("a", 1), Idempotent()); return err }},
		"batch": {2, func(c *Client) error {
			_, err := c.Items().BatchWriteItem(ctx, &apiv1.BatchWriteItemRequest{})
			return err
		}},
		"transaction": {2, func(c *Client) error { return c.Transaction().Commit(ctx) }},
		"create table": {1, func(c *Client) error {
			_, err := c.Tables().CreateTable(ctx, &apiv1.CreateTableRequest{})
			return err
		}},
	} {
		client, connection := fakeClient(t, errLost, exception(codes.InvalidArgument, ErrValidation))
		err := test.call(client)
		if len(connection.requests) != test.attempts {
			t.Errorf("%s: %d attempts", name, len(connection.requests))
		}
		// The first attempt may have been applied, whatever the second one says.
		var unknown *OutcomeUnknownError
		if !errors.As(err, &unknown) || NotApplied(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStatementsThatOnlyReadHaveNoUnknownOutcome(t *testing.T) {
	ctx := context.Background()
	statement := func(text string) func(*Client) error {
		return func(c *Client) error {
			_, err := c.Statements().ExecuteStatement(ctx, &apiv1.ExecuteStatementRequest{Statement: text})
			return err
		}
	}
	batch := func(texts ...string) func(*Client) error {
		request := &apiv1.BatchExecuteStatementRequest{}
		for _, text := range texts {
			request.Statements = append(request.Statements, &apiv1.BatchStatementRequest{Statement: text})
		}
		return func(c *Client) error {
			_, err := c.Statements().BatchExecuteStatement(ctx, request)
			return err
		}
	}
	for name, test := range map[string]struct {
		isUnknown bool
		attempts  int
		call      func(*Client) error
	}{
		"a read":        {false, 3, statement(" select * FROM t")},
		"reads":         {false, 3, batch("SELECT * FROM t", "select a FROM t")},
		"a write":       {true, 1, statement("DELETE FROM t WHERE id = 'x'")},
		"among reads":   {true, 1, batch("SELECT * FROM t", "DELETE FROM t WHERE id = 'x'")},
		"no statements": {false, 3, batch()},
	} {
		client, connection := fakeClient(t, errLost)
		err := test.call(client)
		var unknown *OutcomeUnknownError
		if errors.As(err, &unknown) != test.isUnknown || status.Code(err) != codes.Unavailable ||
			len(connection.requests) != test.attempts {
			t.Errorf("%s: %v after %d attempts", name, err, len(connection.requests))
		}
	}
}

func TestRefusedWritesAreRepeatedAndHaveAKnownOutcome(t *testing.T) {
	throttled := exception(codes.ResourceExhausted, ErrThroughputExceeded)
	client, connection := fakeClient(t, throttled)
	_, err := client.Table("t").Update(context.Background(), Key{}, Set("a", 1))
	if !errors.Is(err, ErrThroughputExceeded) || !NotApplied(err) || len(connection.requests) != 3 {
		t.Errorf("%v after %d attempts", err, len(connection.requests))
	}
}

func TestErrorsThatDoNotPassAreNotRepeated(t *testing.T) {
	for _, answer := range []error{
		exception(codes.InvalidArgument, ErrValidation),
		exception(codes.ResourceExhausted, ErrLimitExceeded),
		exception(codes.Aborted, ErrTransactionCanceled, protoadapt.MessageV1Of(&apiv1.ErrorDetail{
			Exception: string(ErrTransactionCanceled),
			CancellationReasons: []*apiv1.CancellationReason{
				{Code: "TransactionConflict"}, {Code: "ConditionalCheckFailed"},
			},
		})),
		status.Error(codes.Internal, "a fault"),
	} {
		client, connection := fakeClient(t, answer)
		if err := client.Transaction().Commit(context.Background()); err == nil || len(connection.requests) != 1 {
			t.Errorf("%v after %d attempts", err, len(connection.requests))
		}
	}
}

func TestConflictsOfTransactionsAreRepeatedWithOneToken(t *testing.T) {
	conflict := exception(codes.Aborted, ErrTransactionCanceled, protoadapt.MessageV1Of(&apiv1.ErrorDetail{
		Exception:           string(ErrTransactionCanceled),
		CancellationReasons: []*apiv1.CancellationReason{{Code: "None"}, {Code: "TransactionConflict"}},
	}))
	client, connection := fakeClient(t, conflict, errLost, &apiv1.TransactWriteItemsResponse{})
	request := &apiv1.TransactWriteItemsRequest{}
	if _, err := client.Items().TransactWriteItems(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	tokens := map[string]bool{}
	for _, sent := range connection.requests {
		tokens[sent.(*apiv1.TransactWriteItemsRequest).GetClientRequestToken()] = true
	}
	if len(connection.requests) != 3 || len(tokens) != 1 || tokens[""] || request.ClientRequestToken != nil {
		t.Errorf("%d attempts, tokens %v", len(connection.requests), tokens)
	}
}

func TestCallsHaveADeadline(t *testing.T) {
	client, connection := fakeClient(t, &apiv1.ListTablesResponse{})
	if _, err := client.ListTables(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, ok := connection.contexts[0].Deadline(); !ok {
		t.Error("a call without a deadline")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	_, _ = client.ListTables(ctx)
	want, _ := ctx.Deadline()
	if got, _ := connection.contexts[1].Deadline(); !got.Equal(want) {
		t.Errorf("the deadline of the program is %v, of the call %v", want, got)
	}
}

func TestNoAttemptBeginsAfterTheDeadline(t *testing.T) {
	later := exception(codes.ResourceExhausted, ErrThrottled,
		protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Hour)}))
	client, connection := fakeClient(t, later)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	_, err := client.Table("t").Get(ctx, Key{})
	var failed *CallError
	if !errors.As(err, &failed) || failed.RetryAfter != time.Hour || len(connection.requests) != 1 {
		t.Errorf("%v after %d attempts", err, len(connection.requests))
	}
}

func TestPausesGrowAndFollowTheAdvice(t *testing.T) {
	retry := Retry{MaxAttempts: 10, Initial: 10 * time.Millisecond, Max: 50 * time.Millisecond}
	for attempt, full := range map[int]time.Duration{1: 10, 2: 20, 3: 40, 4: 50, 100: 50} {
		full *= time.Millisecond
		for range 100 {
			if pause := retry.pause(attempt, 0); pause < full/2 || pause > full {
				t.Fatalf("attempt %d: %v", attempt, pause)
			}
		}
	}
	if pause := retry.pause(1, time.Minute); pause < time.Minute+5*time.Millisecond || pause > time.Minute+10*time.Millisecond {
		t.Errorf("%v instead of the advice and a pause behind it", pause)
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client, connection := fakeClient(t, exception(codes.ResourceExhausted, ErrThrottled,
		protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})))
	cancel()
	_, err := client.Table("t").Put(ctx, Item{})
	if !errors.Is(err, context.Canceled) || !NotApplied(err) || len(connection.requests) != 1 {
		t.Errorf("%v after %d attempts", err, len(connection.requests))
	}
}

func TestRequestsAboveTheLimitOfMessagesAreKnownToBeRefused(t *testing.T) {
	for message, isKnown := range map[string]bool{
		"trying to send message larger than max (20000015 vs. 16842752)":         true,
		"SERVER: Received message larger than max (20000015 vs. 16842752)":       true,
		"grpc: received message larger than max (100000000 vs. 67108864)":        false,
		"grpc: received message after decompression larger than max 67108864 ..": false,
	} {
		client, connection := fakeClient(t, status.Error(codes.ResourceExhausted, message))
		_, err := client.Table("t").Put(context.Background(), Item{})
		if NotApplied(err) != isKnown || len(connection.requests) != 1 {
			t.Errorf("%v after %d attempts", err, len(connection.requests))
		}
	}
}

func TestErrorsHaveTheirDetails(t *testing.T) {
	item, _ := MarshalItem(Item{"id": "ann"})
	state, _ := status.New(codes.FailedPrecondition, "no").WithDetails(protoadapt.MessageV1Of(&apiv1.ErrorDetail{
		Exception: string(ErrConditionFailed), Item: item, RequestId: "R9",
	}))
	client, _ := fakeClient(t, state.Err())
	_, err := client.Table("t").Put(context.Background(), Item{})
	err = fmt.Errorf("wrapped: %w", err)
	var failed *ConditionFailedError
	if !errors.As(err, &failed) || failed.Item()["id"] != "ann" || failed.RequestID != "R9" {
		t.Fatalf("%v", err)
	}
	var call *CallError
	if !errors.As(err, &call) || !errors.Is(err, ErrConditionFailed) || errors.Is(err, ErrValidation) {
		t.Errorf("%v", err)
	}
	var decoded struct {
		ID string `armature:"id"`
	}
	if err := failed.Decode(&decoded); err != nil || decoded.ID != "ann" {
		t.Errorf("%v %v", decoded, err)
	}
	if state, ok := status.FromError(err); !ok || state.Code() != codes.FailedPrecondition {
		t.Errorf("%v", state)
	}
}

func TestSessionsRaiseTheSequenceOfReadsOfIndexes(t *testing.T) {
	client, connection := fakeClient(t, &apiv1.PutItemResponse{ChangeSequence: 7}, &apiv1.QueryResponse{})
	session := client.Session()
	ctx := context.Background()
	if _, err := session.Table("t").Put(ctx, Item{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		client  *Client
		table   string
		want    uint64
		options []QueryOption
	}{
		{session, "t", 7, []QueryOption{Index("i")}},
		{session, "arn:aws:dynamodb:ddblocal:000000000000:table/t", 7, []QueryOption{Index("i")}},
		{session, "t", 9, []QueryOption{Index("i"), AtLeast(9)}},
		{session, "t", 7, []QueryOption{Index("i"), AtLeast(3)}},
		{session, "t", 0, nil},
		{session, "other", 0, []QueryOption{Index("i")}},
		{client, "t", 0, []QueryOption{Index("i")}},
		{session.Session(), "t", 0, []QueryOption{Index("i")}},
		{client.Session(session.Position()), "other", 7, []QueryOption{Index("i")}},
	} {
		if _, err := Collect(test.client.Table(test.table).Query(ctx, Attr("a").Eq(1), test.options...)); err != nil {
			t.Fatal(err)
		}
		sent := connection.requests[len(connection.requests)-1].(*apiv1.QueryRequest)
		if client.Position() != 0 {
			t.Error("a client without a session has a position")
		}
		if sent.GetAtLeastSequence() != test.want {
			t.Errorf("%+v: %d", test, sent.GetAtLeastSequence())
		}
	}
}

func TestSessionsForgetDeletedTablesAndLearnFromAllWrites(t *testing.T) {
	s := &session{sequences: map[string]uint64{}}
	s.learn(&apiv1.BatchWriteItemRequest{RequestItems: map[string]*apiv1.WriteRequestList{"a": nil, "b": nil}},
		&apiv1.BatchWriteItemResponse{ChangeSequence: 5}, 0)
	s.learn(&apiv1.TransactWriteItemsRequest{TransactItems: []*apiv1.TransactWriteItem{
		{Action: &apiv1.TransactWriteItem_Delete{Delete: &apiv1.Delete{TableName: "b"}}},
	}}, &apiv1.TransactWriteItemsResponse{ChangeSequence: 6}, 0)
	s.learn(&apiv1.UpdateItemRequest{TableName: "b"}, &apiv1.UpdateItemResponse{ChangeSequence: 4}, 0)
	if s.sequenceOf("a") != 5 || s.sequenceOf("b") != 6 {
		t.Errorf("%v", s.sequences)
	}
	s.learn(&apiv1.DeleteTableRequest{TableName: "b"}, &apiv1.DeleteTableResponse{}, 5)
	if s.sequenceOf("b") != 6 {
		t.Error("a write to the new table is forgotten")
	}
	s.learn(&apiv1.DeleteTableRequest{TableName: "b"}, &apiv1.DeleteTableResponse{}, 6)
	if s.sequenceOf("b") != 0 {
		t.Error("a deleted table is kept")
	}
	sequence := uint64(8)
	s.learn(&apiv1.ExecuteStatementRequest{}, &apiv1.ExecuteStatementResponse{ChangeSequence: &sequence}, 0)
	read := s.prepare(&apiv1.ExecuteStatementRequest{Statement: " select * from a"}).(*apiv1.ExecuteStatementRequest)
	if read.GetAtLeastSequence() != 8 || s.sequenceOf("a") != 8 {
		t.Errorf("%v %d", read, s.sequenceOf("a"))
	}
	sequence = 9
	s.learn(&apiv1.BatchExecuteStatementRequest{}, &apiv1.BatchExecuteStatementResponse{ChangeSequence: &sequence}, 0)
	transaction := uint64(10)
	if s.sequenceOf("a") != 9 {
		t.Errorf("%d after a batch of statements", s.sequenceOf("a"))
	}
	s.learn(&apiv1.ExecuteTransactionRequest{}, &apiv1.ExecuteTransactionResponse{ChangeSequence: &transaction}, 0)
	if s.sequenceOf("a") != 10 {
		t.Errorf("%d after a transaction of statements", s.sequenceOf("a"))
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	for name, open := range map[string]func() (*Client, error){
		"address":      func() (*Client, error) { return Open(" ") },
		"timeout":      func() (*Client, error) { return Open("localhost:1", WithTimeout(-1)) },
		"attempts":     func() (*Client, error) { return Open("localhost:1", WithRetry(Retry{})) },
		"connections":  func() (*Client, error) { return Open("localhost:1", WithConnections(65)) },
		"clear text":   func() (*Client, error) { return Open("localhost:1", WithAccessKey("id", "secret")) },
		"no secret":    func() (*Client, error) { return Open("unix:/x", WithAccessKey("id", "")) },
		"no authority": func() (*Client, error) { return Open("localhost:1", WithTLSFiles("/does/not/exist", "", "")) },
		"list":         func() (*Client, error) { return Open("localhost:1,nonsense") },
		"HTTP":         func() (*Client, error) { return Open("http://localhost:1") },
		"HTTPS":        func() (*Client, error) { return Open("HTTPS://localhost") },
		"no port":      func() (*Client, error) { return Open("localhost") },
		"empty port":   func() (*Client, error) { return Open("localhost:") },
		"port 0":       func() (*Client, error) { return Open("localhost:0") },
		"large port":   func() (*Client, error) { return Open("localhost:65536") },
		"IPv6":         func() (*Client, error) { return Open("[::1]") },
	} {
		if client, err := open(); err == nil {
			t.Errorf("%s is accepted", name)
			_ = client.Close()
		}
	}
	for _, address := range []string{"unix:/x", "localhost:1", "localhost:1, localhost:2", "dns:///localhost:1", "dns:///localhost", "[::1]:7700"} {
		client, err := Open(address, WithConnections(2))
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for range 2 {
			if err := client.Close(); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	if _, err := Open("unix:/x", WithAccessKey("id", "secret")); err != nil {
		t.Errorf("a Unix socket is private: %v", err)
	}
}

// recorder is an observer.
type recorder struct{ calls []string }

func (r *recorder) BeginCall(ctx context.Context, call Call) (context.Context, func(CallResult)) {
	return ctx, func(result CallResult) {
		r.calls = append(r.calls, fmt.Sprintf("%s %s %d %v", call.Operation, call.Table, result.Attempts, result.Err == nil))
	}
}

func TestObserversSeeCallsWithTheirAttempts(t *testing.T) {
	seen := &recorder{}
	connection := &fakeConnection{answers: []any{errLost, &apiv1.PutItemResponse{}, exception(codes.NotFound, ErrResourceNotFound)}}
	client, err := New(connection, quickRetry, WithObserver(seen))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Table("t").Put(context.Background(), Item{})
	_, _ = client.Table("u").Get(context.Background(), Key{})
	if fmt.Sprint(seen.calls) != "[PutItem t 2 true GetItem u 1 false]" {
		t.Errorf("%q", seen.calls)
	}
}
