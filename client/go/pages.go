package armature

import (
	"context"
	"iter"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Page is the result of one call of a query or a scan.
type Page[T any] struct {
	Items        []T
	Count        int // items that passed the filter
	ScannedCount int // items that were read
	// LastKey is the position at which the page ended, for [StartAfter]. Nil on the last page.
	LastKey Key
}

// pageResponse is the response of Query and Scan.
type pageResponse interface {
	GetItems() []*apiv1.Item
	GetCount() int32
	GetScannedCount() int32
	GetLastEvaluatedKey() *apiv1.Item
	GetConsumedCapacity() *apiv1.ConsumedCapacity
}

// fetch makes one call, from a start key.
type fetch func(ctx context.Context, start *apiv1.Item) (pageResponse, error)

// Query returns the items of one partition of the table or an index ([Index]), in the order of the sort key. The
// condition needs equality of the partition key, and may restrict the sort key.
//
//	for order, err := range orders.Query(ctx, armature.Expr("customer = $c", armature.Params{"c": "ann"})) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// Pages are read as the iteration needs them, each with the timeout of a call. An error ends the iteration.
func (t *Table[T]) Query(ctx context.Context, condition Expression, options ...QueryOption) iter.Seq2[T, error] {
	return itemsOf(t.QueryPages(ctx, condition, options...))
}

// QueryPages returns the pages of a query.
func (t *Table[T]) QueryPages(ctx context.Context, condition Expression, options ...QueryOption) iter.Seq2[*Page[T], error] {
	request, p, err := t.queryRequest(condition, options)
	if err != nil {
		return failedSeq[*Page[T]](err)
	}
	return pagesOf[T](ctx, request.ExclusiveStartKey, p, t.queryFetch(request))
}

// Count returns the number of items that a query would return, without transferring them.
func (t *Table[T]) Count(ctx context.Context, condition Expression, options ...QueryOption) (int, error) {
	request, p, err := t.queryRequest(condition, options)
	if err != nil {
		return 0, err
	}
	request.Select = apiv1.Select_SELECT_COUNT
	count := 0
	for page, err := range pagesOf[T](ctx, request.ExclusiveStartKey, p, t.queryFetch(request)) {
		if err != nil {
			return 0, err
		}
		count += page.Count
	}
	return count, nil
}

func (t *Table[T]) queryRequest(condition Expression, options []QueryOption) (*apiv1.QueryRequest, *params, error) {
	p := &params{}
	for _, option := range options {
		option.applyToQuery(p)
	}
	condition = required("condition", condition)
	p.reserveAll(condition)
	request := &apiv1.QueryRequest{
		TableName: t.name, IndexName: optionalString(p.index), Limit: optionalInt(p.pageSize),
		ConsistentRead: optionalBool(p.consistent), AtLeastSequence: p.atLeast, ReturnConsumedCapacity: p.capacityLevel(),
	}
	if p.descending {
		request.ScanIndexForward = proto.Bool(false)
	}
	var err error
	if request.KeyConditionExpression, err = p.optional(condition); err != nil {
		return nil, nil, err
	}
	if request.FilterExpression, err = p.optional(p.filter); err != nil {
		return nil, nil, err
	}
	if request.ProjectionExpression, err = p.optional(p.projection); err != nil {
		return nil, nil, err
	}
	if request.ExclusiveStartKey, err = p.startKey(); err != nil {
		return nil, nil, err
	}
	request.ExpressionAttributeNames, request.ExpressionAttributeValues = p.names, p.values
	return request, p, p.unused()
}

func (t *Table[T]) queryFetch(request *apiv1.QueryRequest) fetch {
	return func(ctx context.Context, start *apiv1.Item) (pageResponse, error) {
		page := shallowClone(request)
		page.ExclusiveStartKey = start
		return t.items.Query(ctx, page)
	}
}

func (p *params) startKey() (*apiv1.Item, error) {
	if p.start == nil {
		return nil, nil
	}
	return MarshalItem(p.start)
}

// Scan returns all items of the table or an index ([Index]), in no particular order.
func (t *Table[T]) Scan(ctx context.Context, options ...ScanOption) iter.Seq2[T, error] {
	return itemsOf(t.ScanPages(ctx, options...))
}

// ScanPages returns the pages of a scan.
func (t *Table[T]) ScanPages(ctx context.Context, options ...ScanOption) iter.Seq2[*Page[T], error] {
	request, p, err := t.scanRequest(options)
	if err != nil {
		return failedSeq[*Page[T]](err)
	}
	return pagesOf[T](ctx, request.ExclusiveStartKey, p, func(ctx context.Context, start *apiv1.Item) (pageResponse, error) {
		page := shallowClone(request)
		page.ExclusiveStartKey = start
		return t.items.Scan(ctx, page)
	})
}

// ScanCount returns the number of items that a scan would return, without transferring them.
func (t *Table[T]) ScanCount(ctx context.Context, options ...ScanOption) (int, error) {
	request, p, err := t.scanRequest(options)
	if err != nil {
		return 0, err
	}
	request.Select = apiv1.Select_SELECT_COUNT
	count := 0
	pages := pagesOf[T](ctx, request.ExclusiveStartKey, p, func(ctx context.Context, start *apiv1.Item) (pageResponse, error) {
		page := shallowClone(request)
		page.ExclusiveStartKey = start
		return t.items.Scan(ctx, page)
	})
	for page, err := range pages {
		if err != nil {
			return 0, err
		}
		count += page.Count
	}
	return count, nil
}

func (t *Table[T]) scanRequest(options []ScanOption) (*apiv1.ScanRequest, *params, error) {
	p := &params{}
	for _, option := range options {
		option.applyToScan(p)
	}
	p.reserveAll()
	request := &apiv1.ScanRequest{
		TableName: t.name, IndexName: optionalString(p.index), Limit: optionalInt(p.pageSize),
		ConsistentRead: optionalBool(p.consistent), AtLeastSequence: p.atLeast, ReturnConsumedCapacity: p.capacityLevel(),
	}
	if p.segments > 0 {
		request.Segment, request.TotalSegments = proto.Int32(p.segment), proto.Int32(p.segments)
	}
	var err error
	if request.FilterExpression, err = p.optional(p.filter); err != nil {
		return nil, nil, err
	}
	if request.ProjectionExpression, err = p.optional(p.projection); err != nil {
		return nil, nil, err
	}
	if request.ExclusiveStartKey, err = p.startKey(); err != nil {
		return nil, nil, err
	}
	request.ExpressionAttributeNames, request.ExpressionAttributeValues = p.names, p.values
	return request, p, p.unused()
}

// ParallelScan scans the table in so many segments at once. It reads a page of each segment ahead.
func (t *Table[T]) ParallelScan(ctx context.Context, segments int, options ...ScanOption) iter.Seq2[T, error] {
	if segments < 1 || segments > 1_000_000 {
		return failedSeq[T](&ArgumentError{"segments", "must be 1 to 1,000,000"})
	}
	type result struct {
		page *Page[T]
		err  error
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		results := make(chan result)
		var scans sync.WaitGroup
		defer scans.Wait()
		defer cancel()
		for segment := range segments {
			scans.Add(1)
			go func() {
				defer scans.Done()
				all := append(options[:len(options):len(options)], Segment(segment, segments))
				for page, err := range t.ScanPages(ctx, all...) {
					select {
					case results <- result{page, err}:
					case <-ctx.Done():
						return
					}
				}
			}()
		}
		go func() {
			scans.Wait()
			close(results)
		}()
		for r := range results {
			if r.err != nil {
				var none T
				yield(none, r.err)
				return
			}
			for _, item := range r.page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// pagesOf walks from page to page.
func pagesOf[T any](ctx context.Context, start *apiv1.Item, p *params, call fetch) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		for position := start; ; {
			response, err := call(ctx, position)
			if err != nil {
				yield(nil, err)
				return
			}
			p.report(response.GetConsumedCapacity())
			page, err := pageOf[T](response)
			if err != nil {
				yield(nil, err)
				return
			}
			position = response.GetLastEvaluatedKey()
			if !yield(page, nil) || position == nil {
				return
			}
		}
	}
}

func pageOf[T any](response pageResponse) (*Page[T], error) {
	page := &Page[T]{
		Items: make([]T, len(response.GetItems())),
		Count: int(response.GetCount()), ScannedCount: int(response.GetScannedCount()),
		LastKey: ItemOf(response.GetLastEvaluatedKey()),
	}
	for i, item := range response.GetItems() {
		if err := UnmarshalItem(item, &page.Items[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

func itemsOf[T any](pages iter.Seq2[*Page[T], error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// failedSeq is an iteration that ends at once, with an error.
func failedSeq[V any](err error) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var none V
		yield(none, err)
	}
}

// Collect returns all values of an iteration, or its error.
func Collect[V any](values iter.Seq2[V, error]) ([]V, error) {
	var all []V
	for value, err := range values {
		if err != nil {
			return all, err
		}
		all = append(all, value)
	}
	return all, nil
}
