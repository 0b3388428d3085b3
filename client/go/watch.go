package armature

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Event is the kind of a change.
type Event string

// The kinds of changes.
const (
	EventInsert Event = "INSERT"
	EventModify Event = "MODIFY"
	EventRemove Event = "REMOVE"
)

// Change is a change of an item.
type Change[T any] struct {
	Event Event
	Key   Key
	// New and Old are the item after and before the change, as far as the stream of the table and the watch have them.
	New, Old       T
	HasNew, HasOld bool
	// Sequence is the position of the change, for [After].
	Sequence string
	Time     time.Time // rounded to the second
	// IsExpiry: the time to live has deleted the item.
	IsExpiry bool
}

// watchParams are the options of a watch beside the filter.
type watchParams struct {
	start        apiv1.WatchStart
	after        string
	partition    Key
	view         apiv1.StreamViewType
	heartbeat    time.Duration
	reconnectFor time.Duration
	position     func(string)
}

type watchOption func(*watchParams)

func (o watchOption) applyToWatch(p *params) { o(&p.watch) }

// FromOldest begins with the oldest change that is still kept. Without it a watch begins now.
func FromOldest() WatchOption {
	return watchOption(func(p *watchParams) { p.start = apiv1.WatchStart_WATCH_START_OLDEST })
}

// After begins behind a change of the same table, or a position of [OnPosition].
func After(sequence string) WatchOption {
	return watchOption(func(p *watchParams) { p.after = sequence })
}

// Partition restricts a watch to items with a partition key.
func Partition(key Key) WatchOption {
	return watchOption(func(p *watchParams) { p.partition = key })
}

// Images selects the items in the changes, as far as the stream has them.
func Images(view apiv1.StreamViewType) WatchOption {
	return watchOption(func(p *watchParams) { p.view = view })
}

// Heartbeat is the time without changes after which the daemon says that it is there: 1 to 60 seconds, 5 by default.
// After three missing heartbeats the watch connects again.
func Heartbeat(interval time.Duration) WatchOption {
	return watchOption(func(p *watchParams) { p.heartbeat = interval })
}

// ReconnectFor is the time for which a watch tries to reach a daemon that it has lost. Without it, until the context
// ends.
func ReconnectFor(duration time.Duration) WatchOption {
	return watchOption(func(p *watchParams) { p.reconnectFor = duration })
}

// OnPosition calls a function when the watch stands, and when all changes up to a position were handled: also without
// any change that the watch delivers. A program that stores the position continues with [After].
func OnPosition(handled func(position string)) WatchOption {
	return watchOption(func(p *watchParams) { p.position = handled })
}

const (
	heartbeatDefault = 5 * time.Second
	heartbeatsMissed = 3
)

// Watch returns the changes of the table as they are made, in one order, until the context ends. The table needs a
// stream: see [TableSchema].
//
//	for change, err := range orders.Watch(ctx, armature.After(stored)) {
//		if err != nil {
//			return err
//		}
//		handle(change)
//		stored = change.Sequence
//	}
//
// When the connection is lost or the daemon restarts, the watch continues behind the last change: none is lost, and none
// delivered twice. Errors end the iteration: [ErrTrimmedData] if changes are no longer kept, [ErrResourceNotFound] when
// the table or its stream is gone.
func (t *Table[T]) Watch(ctx context.Context, options ...WatchOption) iter.Seq2[*Change[T], error] {
	return func(yield func(*Change[T], error) bool) {
		w, err := t.newWatch(options)
		if err != nil {
			yield(nil, err)
			return
		}
		lost := time.Now()
		for attempt := 1; ; attempt++ {
			before := w.responses
			err := w.follow(ctx, func(response *apiv1.WatchResponse) (bool, error) {
				return deliver(response, yield)
			})
			if err == errStopped {
				return
			}
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if w.responses > before {
				attempt, lost = 1, time.Now()
			}
			pause := t.client.conn.settings.retry.pause(attempt, 0)
			isTooLong := w.params.reconnectFor > 0 && time.Since(lost)+pause > w.params.reconnectFor
			if isTooLong || !w.mayReconnect(err) || !wait(ctx, pause) {
				yield(nil, err)
				return
			}
		}
	}
}

// errStopped: the program has left the loop over the changes.
var errStopped = errors.New("the loop was left")

// watch is the state of a watch over all its streams.
type watch struct {
	client    *Client
	params    watchParams
	request   *apiv1.WatchRequest // continues behind the last response
	responses int
}

func (t *Table[T]) newWatch(options []WatchOption) (*watch, error) {
	var p params
	for _, option := range options {
		option.applyToWatch(&p)
	}
	request := &apiv1.WatchRequest{
		TableName: t.name, Start: p.watch.start, AfterSequenceNumber: optionalString(p.watch.after),
		StreamViewType: p.watch.view,
	}
	p.reserveAll()
	var err error
	if request.FilterExpression, err = p.optional(p.filter); err != nil {
		return nil, err
	}
	if p.watch.partition != nil {
		if request.PartitionKey, err = MarshalItem(p.watch.partition); err != nil {
			return nil, err
		}
	}
	if p.watch.heartbeat > 0 {
		request.HeartbeatMs = proto.Int32(int32(p.watch.heartbeat.Milliseconds()))
	}
	request.ExpressionAttributeNames, request.ExpressionAttributeValues = p.names, p.values
	return &watch{client: t.client, params: p.watch, request: request}, p.unused()
}

// follow reads one stream until it ends. deliver returns false if the program wants no more.
func (w *watch) follow(ctx context.Context, deliver func(*apiv1.WatchResponse) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heartbeat := w.params.heartbeat
	if heartbeat == 0 {
		heartbeat = heartbeatDefault
	}
	patience := heartbeatsMissed*heartbeat + w.client.conn.settings.timeout
	timer := time.AfterFunc(patience, cancel)
	defer timer.Stop()
	stream, err := w.client.Streams().Watch(ctx, w.request)
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		timer.Stop() // the program may take its time
		goesOn, err := deliver(response)
		if err != nil {
			return &permanentError{err}
		}
		// The request continues behind this response even if the program has left the loop.
		w.responses++
		w.request.Start = apiv1.WatchStart_WATCH_START_UNSPECIFIED
		w.request.AfterSequenceNumber = proto.String(response.GetPosition())
		if !goesOn {
			return errStopped
		}
		if w.params.position != nil {
			w.params.position(response.GetPosition())
		}
		timer.Reset(patience)
	}
}

// permanentError is an error of a change that cannot be decoded.
type permanentError struct{ error }

// Unwrap returns the error of the change.
func (e *permanentError) Unwrap() error { return e.error }

// mayReconnect: another stream may succeed.
func (w *watch) mayReconnect(err error) bool {
	if errors.Is(err, io.EOF) {
		return true // the daemon has ended the watch
	}
	var failed *CallError
	if !errors.As(err, &failed) {
		return false
	}
	// The daemon may not know yet that the connection was lost, whose place is taken so long.
	if failed.Exception == ErrLimitExceeded {
		return w.responses > 0
	}
	if failed.isTransient() {
		return true
	}
	switch failed.Code {
	case codes.Canceled, codes.DeadlineExceeded, codes.Internal, codes.Unknown:
		return failed.Exception == "" // the network has ended the call
	}
	return false
}

// deliver yields the changes of a response. False: the program has left the loop.
func deliver[T any](response *apiv1.WatchResponse, yield func(*Change[T], error) bool) (bool, error) {
	for _, record := range response.GetRecords() {
		change, err := changeOf[T](record)
		if err != nil {
			return false, err
		}
		if !yield(change, nil) {
			return false, nil
		}
	}
	return true, nil
}

func changeOf[T any](record *apiv1.ChangeRecord) (*Change[T], error) {
	data := record.GetDynamodb()
	change := &Change[T]{
		Key: ItemOf(data.GetKeys()), Sequence: data.GetSequenceNumber(),
		Time:     time.UnixMilli(data.GetApproximateCreationDateTimeMs()),
		HasNew:   data.GetNewImage() != nil,
		HasOld:   data.GetOldImage() != nil,
		IsExpiry: record.GetUserIdentity() != nil,
	}
	switch record.GetEventName() {
	case apiv1.EventName_EVENT_NAME_INSERT:
		change.Event = EventInsert
	case apiv1.EventName_EVENT_NAME_MODIFY:
		change.Event = EventModify
	case apiv1.EventName_EVENT_NAME_REMOVE:
		change.Event = EventRemove
	}
	if change.HasNew {
		if err := UnmarshalItem(data.GetNewImage(), &change.New); err != nil {
			return nil, err
		}
	}
	if change.HasOld {
		if err := UnmarshalItem(data.GetOldImage(), &change.Old); err != nil {
			return nil, err
		}
	}
	return change, nil
}
