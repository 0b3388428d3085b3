package armature

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// described is the answer about the keys of a table.
var described = &apiv1.DescribeTableResponse{Table: &apiv1.TableDescription{
	KeySchema: []*apiv1.KeySchemaElement{{AttributeName: "id", KeyType: apiv1.KeyType_KEY_TYPE_HASH}},
}}

func putOf(id string) *apiv1.WriteRequest {
	item, _ := MarshalItem(Item{"id": id})
	return &apiv1.WriteRequest{Request: &apiv1.WriteRequest_PutRequest{PutRequest: &apiv1.PutRequest{Item: item}}}
}

// sizes returns the numbers of writes of the batches that were sent.
func sizes(connection *fakeConnection) (all []int) {
	for _, request := range connection.requests {
		if batch, ok := request.(*apiv1.BatchWriteItemRequest); ok {
			all = append(all, len(batch.GetRequestItems()["t"].GetRequests()))
		}
	}
	return all
}

func TestUnprocessedWritesGoIntoTheNextBatch(t *testing.T) {
	left := map[string]*apiv1.WriteRequestList{"t": {Requests: []*apiv1.WriteRequest{putOf("1"), putOf("2")}}}
	client, connection := fakeClient(t, described, &apiv1.BatchWriteItemResponse{UnprocessedItems: left, ChangeSequence: 3},
		&apiv1.BatchWriteItemResponse{ChangeSequence: 4})
	writer := client.BatchWriter()
	for i := range 26 {
		if err := writer.Put(context.Background(), "t", Item{"id": fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if writer.Waiting() != 3 {
		t.Errorf("%d writes are waiting", writer.Waiting())
	}
	if err := writer.Flush(context.Background()); err != nil || writer.Waiting() != 0 || writer.ChangeSequence() != 4 {
		t.Errorf("%v, %d waiting, sequence %d", err, writer.Waiting(), writer.ChangeSequence())
	}
	if got := fmt.Sprint(sizes(connection)); got != "[25 3]" {
		t.Errorf("batches of %s", got)
	}
}

func TestAWriterGivesUpIfTheDaemonTakesNothing(t *testing.T) {
	left := map[string]*apiv1.WriteRequestList{"t": {Requests: []*apiv1.WriteRequest{putOf("1")}}}
	client, connection := fakeClient(t, described, &apiv1.BatchWriteItemResponse{UnprocessedItems: left})
	writer := client.BatchWriter()
	_ = writer.Put(context.Background(), "t", Item{"id": "1"})
	for _, batches := range []int{3, 6} { // each attempt of the program has all its batches
		err := writer.Flush(context.Background())
		if !errors.Is(err, errTakesNothing) || writer.Waiting() != 1 || len(sizes(connection)) != batches {
			t.Errorf("%v, %d waiting, batches %v", err, writer.Waiting(), sizes(connection))
		}
	}
}

func TestWritesAreWaitingAfterAnErrorThatMayPass(t *testing.T) {
	client, _ := fakeClient(t, described, errLost, errLost, errLost, &apiv1.BatchWriteItemResponse{})
	writer := client.BatchWriter()
	_ = writer.Put(context.Background(), "t", Item{"id": "1"})
	if err := writer.Flush(context.Background()); err == nil || writer.Waiting() != 1 {
		t.Errorf("%v, %d waiting", err, writer.Waiting())
	}
	if err := writer.Flush(context.Background()); err != nil || writer.Waiting() != 0 {
		t.Errorf("%v, %d waiting", err, writer.Waiting())
	}
}

func TestRefusedWritesAreDroppedAndNamed(t *testing.T) {
	refused := exception(codes.InvalidArgument, ErrValidation)
	// All four, the first half, its halves, the second half.
	client, connection := fakeClient(t, described, refused, refused, refused, &apiv1.BatchWriteItemResponse{},
		&apiv1.BatchWriteItemResponse{})
	writer := client.BatchWriter()
	for i := range 4 {
		_ = writer.Put(context.Background(), "t", Item{"id": fmt.Sprint(i)})
	}
	err := writer.Flush(context.Background())
	var dropped *BatchWriteError
	if !errors.As(err, &dropped) || !errors.Is(err, ErrValidation) || len(dropped.Dropped) != 1 ||
		dropped.Dropped[0].Item()["id"] != "0" || writer.Waiting() != 0 {
		t.Errorf("%v, %d waiting", err, writer.Waiting())
	}
	if got := fmt.Sprint(sizes(connection)); got != "[4 2 1 1 2]" {
		t.Errorf("batches of %s", got)
	}
}

func TestATableThatIsGoneDropsItsOwnWritesOnly(t *testing.T) {
	for _, why := range []Exception{ErrResourceNotFound, ErrAccessDenied} {
		refused := exception(codes.NotFound, why)
		// The tables are described; all four, both of "gone", both of "t".
		client, connection := fakeClient(t, described, described, refused, refused, &apiv1.BatchWriteItemResponse{})
		writer := client.BatchWriter()
		for i, table := range []string{"gone", "gone", "t", "t"} {
			_ = writer.Put(context.Background(), table, Item{"id": fmt.Sprint(i)})
		}
		err := writer.Flush(context.Background())
		var dropped *BatchWriteError
		if !errors.As(err, &dropped) || !errors.Is(err, why) || len(dropped.Dropped) != 2 ||
			dropped.Dropped[0].Table != "gone" || dropped.Dropped[1].Table != "gone" || writer.Waiting() != 0 {
			t.Errorf("%v, %d waiting", err, writer.Waiting())
		}
		if got := fmt.Sprint(sizes(connection)); got != "[2 0 2]" {
			t.Errorf("batches of %s", got)
		}
	}
}

func TestAWriteWithoutItsKeyIsRefusedBeforeItIsSent(t *testing.T) {
	client, connection := fakeClient(t, described)
	writer := client.BatchWriter()
	err := errors.Join(writer.Put(context.Background(), "t", Item{"x": 1}))
	deletion := writer.Delete(context.Background(), "t", Key{"x": 1})
	var argument *ArgumentError
	if !errors.As(err, &argument) || !errors.As(deletion, &argument) || len(connection.requests) != 1 {
		t.Errorf("%v, %v, %d calls", err, deletion, len(connection.requests))
	}
}

func TestLargeWritesAreSentInBatchesThatTheDaemonReads(t *testing.T) {
	client, connection := fakeClient(t, described, &apiv1.BatchWriteItemResponse{})
	writer := client.BatchWriter()
	for range 3 {
		_ = writer.Put(context.Background(), "t", Item{"id": make([]byte, 7<<20)})
	}
	if err := writer.Flush(context.Background()); err != nil || fmt.Sprint(sizes(connection)) != "[2 1]" {
		t.Errorf("%v, batches of %v", err, sizes(connection))
	}
	err := writer.Put(context.Background(), "t", Item{"id": make([]byte, requestBytesMax)})
	if !isDropped(err) || writer.Waiting() != 0 {
		t.Errorf("%v, %d waiting", err, writer.Waiting())
	}
}

func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	key, _ := MarshalItem(Key{"id": "1"})
	client, connection := fakeClient(t,
		&apiv1.BatchGetItemResponse{UnprocessedKeys: map[string]*apiv1.KeysAndAttributes{"t": {Keys: []*apiv1.Item{key}}}},
		&apiv1.BatchGetItemResponse{Responses: map[string]*apiv1.ItemList{"t": {Items: []*apiv1.Item{key}}}})
	var keys []Key
	for i := range 150 {
		keys = append(keys, Key{"id": fmt.Sprint(i)})
	}
	items, err := client.Table("t").BatchGet(context.Background(), keys, Project("id"), Consistent())
	if err != nil || len(items) != 1 {
		t.Errorf("%v %v", items, err)
	}
	var asked []int
	for _, request := range connection.requests {
		asked = append(asked, len(request.(*apiv1.BatchGetItemRequest).GetRequestItems()["t"].GetKeys()))
	}
	if fmt.Sprint(asked) != "[100 51]" {
		t.Errorf("calls with %v keys", asked)
	}
}

func TestContinuationsNameTheirQuery(t *testing.T) {
	key, _ := MarshalItem(Key{"id": "x"})
	w := &walk{identity: []byte("query"), shards: []*shardCursor{
		{request: &apiv1.QueryRequest{}},
		{request: &apiv1.QueryRequest{ExclusiveStartKey: key}},
		{request: &apiv1.QueryRequest{}, isExhausted: true},
		{request: &apiv1.QueryRequest{}, delivered: key, items: []*apiv1.Item{key}, isExhausted: true},
	}}
	text := w.continuation()
	positions, err := decodeContinuation(text, []byte("query"), 4)
	if err != nil || positions[0].startAfter != nil || positions[1].startAfter == nil || !positions[2].isDone ||
		positions[3].isDone || positions[3].startAfter == nil {
		t.Errorf("%v %v", positions, err)
	}
	for _, wrong := range []struct {
		text, query string
		count       int
	}{{text, "another", 4}, {text, "query", 5}, {"???", "query", 4}, {"YWJj", "query", 4}} {
		if _, err := decodeContinuation(wrong.text, []byte(wrong.query), wrong.count); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
