package armature

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// batchWritesMax is the number of writes of one BatchWriteItem.
const batchWritesMax = 25

// requestBytesMax is the size of a request that the daemon reads.
const requestBytesMax = 16<<20 + 64<<10

// framingBytesMax is the size of the tags and lengths around a write and the name of its table.
const framingBytesMax = 32

// errTakesNothing is the error of batches that the daemon left untouched too often.
var errTakesNothing = errors.New("armature: the daemon takes no part of the batch now")

// Write is a write of a [BatchWriter]: a put, or a delete.
type Write struct {
	Table   string
	Request *apiv1.WriteRequest
}

// Item returns the item of a put, and the key of a delete.
func (w Write) Item() Item {
	if put := w.Request.GetPutRequest(); put != nil {
		return ItemOf(put.GetItem())
	}
	return ItemOf(w.Request.GetDeleteRequest().GetKey())
}

// BatchWriteError is the error of writes that the daemon would refuse every time. They are not done, and not waiting.
type BatchWriteError struct {
	Dropped []Write
	Err     error // of the first one
}

// Error returns the first error and the number of writes.
func (e *BatchWriteError) Error() string {
	return fmt.Sprintf("%v; %d writes are dropped", e.Err, len(e.Dropped))
}

// Unwrap returns the error of the first write.
func (e *BatchWriteError) Unwrap() error { return e.Err }

// BatchWriter collects puts and deletes and sends them 25 at a time. Writes that the daemon leaves unprocessed go into
// the next batch, after a pause.
//
//	writer := client.BatchWriter()
//	for _, user := range users {
//		if err := writer.Put(ctx, "users", user); err != nil {
//			return err
//		}
//	}
//	return writer.Flush(ctx)
//
// Writes of different items have no order. Two waiting writes of the same item are done in the order in which they were
// added.
//
// A write is done, or waiting, or dropped because the daemon would refuse it every time: an invalid item, a missing
// table, no permission. A method continues after dropped writes, and returns them in a [BatchWriteError]. After another
// error all writes that may not be done are still waiting: Flush tries again, and may do a write twice.
//
// A BatchWriter is not safe for concurrent use.
type BatchWriter struct {
	client         *Client
	items          apiv1.ItemServiceClient
	waiting        []Write
	changeSequence uint64
	fruitless      int
	keys           map[string][]string // key attributes of each table; empty: not known
}

// BatchWriter returns a writer without writes.
func (c *Client) BatchWriter() *BatchWriter { return &BatchWriter{client: c, items: c.Items()} }

// Waiting returns the number of writes that are not done.
func (w *BatchWriter) Waiting() int { return len(w.waiting) }

// ChangeSequence returns the highest position of the writes that are done, for [AtLeast].
func (w *BatchWriter) ChangeSequence() uint64 { return w.changeSequence }

// Put adds a put of a struct or map. It sends a batch when enough writes are waiting.
func (w *BatchWriter) Put(ctx context.Context, table string, item any) error {
	message, err := MarshalItem(item)
	if err != nil {
		return err
	}
	return w.add(ctx, Write{table, &apiv1.WriteRequest{
		Request: &apiv1.WriteRequest_PutRequest{PutRequest: &apiv1.PutRequest{Item: message}},
	}})
}

// Delete adds a delete. It sends a batch when enough writes are waiting.
func (w *BatchWriter) Delete(ctx context.Context, table string, key Key) error {
	message, err := MarshalItem(key)
	if err != nil {
		return err
	}
	return w.add(ctx, Write{table, &apiv1.WriteRequest{
		Request: &apiv1.WriteRequest_DeleteRequest{DeleteRequest: &apiv1.DeleteRequest{Key: message}},
	}})
}

func (w *BatchWriter) add(ctx context.Context, write Write) error {
	if err := w.checkKey(ctx, write); err != nil {
		return err
	}
	if bytesOfWrite(write) > requestBytesMax {
		return &BatchWriteError{[]Write{write}, &ArgumentError{"item", "is larger than a request may be"}}
	}
	w.waiting = append(w.waiting, write)
	if len(w.waiting) < batchWritesMax {
		return nil
	}
	return w.sendFirst(ctx, batchWritesMax)
}

// checkKey refuses a write without its key, so that it does not fail a batch. The key attributes are asked for once.
func (w *BatchWriter) checkKey(ctx context.Context, write Write) error {
	names, isKnown := w.keys[write.Table]
	if !isKnown {
		response, err := w.client.Tables().DescribeTable(ctx, &apiv1.DescribeTableRequest{TableName: write.Table})
		if err != nil && !errors.Is(err, ErrAccessDenied) {
			return err
		}
		for _, element := range response.GetTable().GetKeySchema() {
			names = append(names, element.GetAttributeName())
		}
		if w.keys == nil {
			w.keys = map[string][]string{}
		}
		w.keys[write.Table] = names
	}
	attributes := write.Request.GetPutRequest().GetItem().GetAttributes()
	if deletion := write.Request.GetDeleteRequest(); deletion != nil {
		attributes = deletion.GetKey().GetAttributes()
	}
	for _, name := range names {
		if attributes[name] == nil {
			return &ArgumentError{"item", fmt.Sprintf("lacks the key attribute %s of the table %s", name, write.Table)}
		}
	}
	return nil
}

func bytesOfWrite(write Write) int {
	return len(write.Table) + proto.Size(write.Request) + framingBytesMax
}

// Flush sends all waiting writes. nil: no write is waiting, and this call dropped none.
func (w *BatchWriter) Flush(ctx context.Context) error {
	var dropped error
	for len(w.waiting) > 0 {
		err := w.sendFirst(ctx, min(len(w.waiting), batchWritesMax))
		dropped = joinDropped(dropped, err)
		if err != nil && !isDropped(err) {
			break
		}
	}
	return dropped
}

// isDropped: some writes were dropped, and the others may go on.
func isDropped(err error) bool {
	_, ok := err.(*BatchWriteError)
	return ok
}

// joinDropped returns the error of two steps: an error after which writes are waiting, else all dropped writes.
func joinDropped(first, second error) error {
	switch {
	case first == nil || second != nil && !isDropped(second):
		return second
	case second == nil || !isDropped(first):
		return first
	}
	all := *first.(*BatchWriteError)
	all.Dropped = append(slices.Clip(all.Dropped), second.(*BatchWriteError).Dropped...)
	return &all
}

// sendFirst sends the first `count` waiting writes, or as many as fit. Those that are not done stay in front.
func (w *BatchWriter) sendFirst(ctx context.Context, count int) error {
	count = w.fit(count)
	batch := w.waiting[:count]
	request := &apiv1.BatchWriteItemRequest{RequestItems: map[string]*apiv1.WriteRequestList{}}
	for _, write := range batch {
		list := request.RequestItems[write.Table]
		if list == nil {
			list = &apiv1.WriteRequestList{}
			request.RequestItems[write.Table] = list
		}
		list.Requests = append(list.Requests, write.Request)
	}
	response, err := w.items.BatchWriteItem(ctx, request)
	if err != nil {
		return w.refused(ctx, count, err)
	}
	w.changeSequence = max(w.changeSequence, response.GetChangeSequence())
	var left []Write
	for table, list := range response.GetUnprocessedItems() {
		for _, request := range list.GetRequests() {
			left = append(left, Write{table, request})
		}
	}
	w.waiting = append(left, w.waiting[count:]...)
	w.fruitless, err = w.client.pauseAfter(ctx, len(left), count, w.fruitless)
	return err
}

// fit returns the number of writes, among the first `count`, whose request the daemon reads. At least 1.
func (w *BatchWriter) fit(count int) int {
	bytes := 0
	for i, write := range w.waiting[:count] {
		if bytes += bytesOfWrite(write); bytes > requestBytesMax && i > 0 {
			return i
		}
	}
	return count
}

// isRefusedForGood: the daemon would refuse the batch every time.
func isRefusedForGood(err error) bool {
	switch ExceptionOf(err) {
	case ErrValidation, ErrResourceNotFound, ErrAccessDenied, "SerializationException", errCollectionFull:
		return true
	}
	return false
}

// isForParts: smaller parts of the batch, which has writes of one table or several, may succeed.
func isForParts(err error, severalTables bool) bool {
	var failed *CallError
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Exception {
	case errCollectionFull, ErrValidation:
		return true
	case ErrResourceNotFound, ErrAccessDenied:
		return severalTables
	}
	return false
}

func hasSeveralTables(batch []Write) bool {
	return slices.ContainsFunc(batch, func(write Write) bool { return write.Table != batch[0].Table })
}

// refused handles the error of the batch of the first `count` writes.
func (w *BatchWriter) refused(ctx context.Context, count int, err error) error {
	if count > 1 && isForParts(err, hasSeveralTables(w.waiting[:count])) {
		// The daemon does not say which write it refuses. Two writes of one item come apart, too. Unprocessed writes of
		// the first half are sent before the second half.
		first := w.sendFirst(ctx, count/2)
		if first != nil && !isDropped(first) {
			return first
		}
		return joinDropped(first, w.sendFirst(ctx, min(len(w.waiting), count-count/2)))
	}
	if isRefusedForGood(err) {
		dropped := w.waiting[:count:count]
		w.waiting = w.waiting[count:]
		return &BatchWriteError{dropped, err}
	}
	return err
}
