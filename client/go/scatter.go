package armature

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Shards says how a partition is spread. A partition key with few values, such as a day or a status, takes all writes in
// few partitions; a writer avoids that by a number from 1 to N in the key, "2024-10-01.7", or in a partition attribute
// of its own.
type Shards struct {
	// Param is the parameter of the key condition that stands for the partition value of a shard, such as "day".
	Param string
	// Value returns the partition value of a shard: [SuffixedShards] or [NumberedShards].
	Value func(shard int) any
	First int // number of the first shard; 0: 1
	Count int // 1 to 1000
	// PageItems is the number of items of a page of [Table.ShardedPages]; 0: 1000.
	PageItems int
	// Parallel is the number of concurrent calls; 0: 8.
	Parallel int
	// Continue begins at the Continuation of a page.
	Continue string
}

// SuffixedShards are the texts prefix.1, prefix.2, and so on.
func SuffixedShards(prefix string) func(int) any {
	return func(shard int) any { return fmt.Sprintf("%s.%d", prefix, shard) }
}

// NumberedShards are the numbers 1, 2, and so on.
func NumberedShards() func(int) any {
	return func(shard int) any { return shard }
}

// ShardedPage is a page of [Table.ShardedPages].
type ShardedPage[T any] struct {
	Items []T
	// Continuation is the position of the next page, for [Shards]; another process may continue there. Empty after the
	// last page.
	Continuation string
}

const shardsMax = 1000

// spareEntries is the number of entries requested from a shard beyond twice its even share of a page, so that small
// pages seldom need a second call.
const spareEntries = 10

// ShardedQuery queries all shards of a spread partition at once, and returns their items in the order of the sort key.
//
//	armature.Expr("#day = $day AND amount >= $least", armature.Params{"least": 100})
//
// The parameter of the shard needs no value. Items with equal sort keys are in the order of their shards. The shards are
// not read at one moment. A projection must keep all key attributes.
func (t *Table[T]) ShardedQuery(ctx context.Context, condition Expression, shards Shards, options ...QueryOption) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range t.ShardedPages(ctx, condition, shards, options...) {
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

// ShardedPages returns the pages of a [Table.ShardedQuery]. Only the last page has fewer items than [Shards].PageItems.
func (t *Table[T]) ShardedPages(ctx context.Context, condition Expression, shards Shards, options ...QueryOption) iter.Seq2[*ShardedPage[T], error] {
	return func(yield func(*ShardedPage[T], error) bool) {
		walk, err := t.newWalk(ctx, condition, shards, options)
		if err != nil {
			yield(nil, err)
			return
		}
		for isDone := false; !isDone; {
			items, err := walk.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			page := &ShardedPage[T]{Items: make([]T, len(items))}
			for i, item := range items {
				if err := UnmarshalItem(item, &page.Items[i]); err != nil {
					yield(nil, err)
					return
				}
			}
			if isDone = walk.isDone(); !isDone {
				page.Continuation = walk.continuation()
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}

// keyNames are the names of the key attributes that the items of a query have.
type keyNames struct {
	sort   []string // of the table or index, in their order
	others []string
}

// walk is a query over all shards. Each shard with items in memory is in the heap; the next item is at its top.
type walk struct {
	items     apiv1.ItemServiceClient
	shards    []*shardCursor
	heap      shardHeap
	keys      keyNames
	identity  []byte
	pageItems int
	parallel  int
	first     int
}

func (s *Shards) complete() error {
	if s.First == 0 {
		s.First = 1
	}
	if s.PageItems == 0 {
		s.PageItems = 1000
	}
	if s.Parallel == 0 {
		s.Parallel = 8
	}
	switch {
	case s.Param == "" || s.Value == nil:
		return &ArgumentError{"Shards", "needs Param and Value"}
	case s.Count < 1 || s.Count > shardsMax:
		return &ArgumentError{"Shards", "Count must be 1 to 1000"}
	case s.PageItems < 1 || s.Parallel < 1:
		return &ArgumentError{"Shards", "PageItems and Parallel must be positive"}
	}
	return nil
}

func (t *Table[T]) newWalk(ctx context.Context, condition Expression, shards Shards, options []QueryOption) (*walk, error) {
	if err := shards.complete(); err != nil {
		return nil, err
	}
	text, ok := condition.(*textExpression)
	if !ok {
		return nil, &ArgumentError{"condition", "of a sharded query is a text: see Expr"}
	}
	w := &walk{items: t.items, pageItems: shards.PageItems, parallel: shards.Parallel, first: shards.First}
	var positions []shardPosition
	for i := range shards.Count {
		value := Params{strings.TrimPrefix(shards.Param, "$"): shards.Value(shards.First + i)}
		request, p, err := t.queryRequest(&textExpression{text.text, append([]Params{value}, text.params...)}, options)
		if err != nil {
			return nil, err
		}
		if request.ExclusiveStartKey != nil {
			return nil, &ArgumentError{"StartAfter", "a sharded query has Shards.Continue instead"}
		}
		if i == 0 {
			if w.identity, err = identityOf(request, shards); err != nil {
				return nil, err
			}
			if positions, err = decodeContinuation(shards.Continue, w.identity, shards.Count); err != nil {
				return nil, err
			}
			w.heap.isForward = !p.descending
		}
		if request.Limit == nil {
			share := (shards.PageItems-1)/shards.Count + 1
			request.Limit = proto.Int32(int32(min(shards.PageItems, 2*share+spareEntries)))
		}
		w.shards = append(w.shards, newShardCursor(request, positions[i], p))
	}
	description, err := t.client.Tables().DescribeTable(ctx, &apiv1.DescribeTableRequest{TableName: t.name})
	if err != nil {
		return nil, err
	}
	w.keys, err = keysOf(description.GetTable(), w.shards[0].request.GetIndexName())
	w.heap.keys = w.keys.sort
	return w, err
}

// keysOf returns the key attributes of the items of an index, or of the table.
func keysOf(table *apiv1.TableDescription, index string) (keyNames, error) {
	schema := table.GetKeySchema()
	if index != "" {
		schema = nil
		for _, global := range table.GetGlobalSecondaryIndexes() {
			if global.GetIndexName() == index {
				schema = global.GetKeySchema()
			}
		}
		for _, local := range table.GetLocalSecondaryIndexes() {
			if local.GetIndexName() == index {
				schema = local.GetKeySchema()
			}
		}
		if schema == nil {
			return keyNames{}, &ArgumentError{"Index", fmt.Sprintf("the table has no index %s", index)}
		}
	}
	var keys keyNames
	for _, element := range schema {
		if element.GetKeyType() == apiv1.KeyType_KEY_TYPE_RANGE {
			keys.sort = append(keys.sort, element.GetAttributeName())
		} else {
			keys.others = append(keys.others, element.GetAttributeName())
		}
	}
	for _, element := range table.GetKeySchema() {
		if name := element.GetAttributeName(); !slices.Contains(keys.sort, name) && !slices.Contains(keys.others, name) {
			keys.others = append(keys.others, name)
		}
	}
	return keys, nil
}

// next returns the items of the next page.
func (w *walk) next(ctx context.Context) ([]*apiv1.Item, error) {
	var items []*apiv1.Item
	last := make(map[*shardCursor]*apiv1.Item)
	for isLow := true; len(items) < w.pageItems; {
		if isLow {
			if err := w.fetchWhereLow(ctx); err != nil {
				return nil, err
			}
			w.rebuildHeap()
			isLow = false
		}
		if w.heap.Len() == 0 {
			break
		}
		shard := w.heap.shards[0]
		item := shard.pop()
		last[shard] = item
		items = append(items, item)
		if shard.hasItem() {
			heap.Fix(&w.heap, 0)
		} else {
			heap.Pop(&w.heap)
			isLow = !shard.isExhausted
		}
	}
	for shard, item := range last {
		shard.delivered = w.keyOf(item)
	}
	return items, nil
}

func (w *walk) keyOf(item *apiv1.Item) *apiv1.Item {
	key := &apiv1.Item{Attributes: map[string]*apiv1.AttributeValue{}}
	for _, name := range append(w.keys.sort[:len(w.keys.sort):len(w.keys.sort)], w.keys.others...) {
		key.Attributes[name] = item.GetAttributes()[name]
	}
	return key
}

// fetchWhereLow fetches until each shard has items in memory or is finished.
func (w *walk) fetchWhereLow(ctx context.Context) error {
	for slices.ContainsFunc(w.shards, func(s *shardCursor) bool { return !s.hasItem() && !s.isExhausted }) {
		ctx, cancel := context.WithCancel(ctx)
		slots := make(chan struct{}, w.parallel)
		errs := make([]error, len(w.shards))
		var calls sync.WaitGroup
		for i, shard := range w.shards {
			if !shard.runsLow() {
				continue
			}
			slots <- struct{}{}
			calls.Add(1)
			go func() {
				defer calls.Done()
				defer func() { <-slots }()
				if errs[i] = shard.fetch(ctx, w); errs[i] != nil {
					cancel()
				}
			}()
		}
		calls.Wait()
		cancel()
		if err := firstOf(errs, w.first); err != nil {
			return err
		}
	}
	return nil
}

// firstOf returns the error of a shard that failed by itself: others were cancelled because of it.
func firstOf(errs []error, firstShard int) error {
	var found error
	for i, err := range errs {
		if err != nil && (found == nil || isCancelled(found)) {
			found = fmt.Errorf("shard %d: %w", firstShard+i, err)
		}
	}
	return found
}

func isCancelled(err error) bool { return errors.Is(err, context.Canceled) }

func (w *walk) rebuildHeap() {
	w.heap.shards = w.heap.shards[:0]
	for i, shard := range w.shards {
		shard.number = i
		if shard.hasItem() {
			w.heap.shards = append(w.heap.shards, shard)
		}
	}
	heap.Init(&w.heap)
}

func (w *walk) isDone() bool {
	return !slices.ContainsFunc(w.shards, func(s *shardCursor) bool { return s.hasItem() || !s.isExhausted })
}

// shardHeap orders shards by their next items.
type shardHeap struct {
	shards    []*shardCursor
	keys      []string
	isForward bool
}

func (h *shardHeap) Len() int      { return len(h.shards) }
func (h *shardHeap) Swap(i, j int) { h.shards[i], h.shards[j] = h.shards[j], h.shards[i] }
func (h *shardHeap) Push(x any)    { h.shards = append(h.shards, x.(*shardCursor)) }
func (h *shardHeap) Pop() any {
	last := h.shards[len(h.shards)-1]
	h.shards = h.shards[:len(h.shards)-1]
	return last
}

func (h *shardHeap) Less(i, j int) bool {
	a, b := h.shards[i], h.shards[j]
	order := 0
	for _, name := range h.keys {
		if order = compareValues(a.front().GetAttributes()[name], b.front().GetAttributes()[name]); order != 0 {
			break
		}
	}
	if order == 0 {
		order = a.number - b.number
	}
	return order < 0 == h.isForward
}

// compareValues orders two values of one key attribute: numbers by value, texts and bytes by their bytes.
func compareValues(a, b *apiv1.AttributeValue) int {
	switch x := a.GetValue().(type) {
	case *apiv1.AttributeValue_N:
		return compareNumbers(x.N, b.GetN())
	case *apiv1.AttributeValue_S:
		return strings.Compare(x.S, b.GetS())
	case *apiv1.AttributeValue_B:
		return bytes.Compare(x.B, b.GetB())
	default:
		return 0
	}
}

// shardCursor reads the items of one shard ahead.
type shardCursor struct {
	request     *apiv1.QueryRequest // of the next call
	params      *params
	delivered   *apiv1.Item // key of the last item of a page; nil: none
	isExhausted bool        // no more items to fetch
	items       []*apiv1.Item
	fetched     int // items of the last call
	number      int
}

func newShardCursor(request *apiv1.QueryRequest, position shardPosition, p *params) *shardCursor {
	request.ExclusiveStartKey = position.startAfter
	return &shardCursor{request: request, params: p, delivered: position.startAfter, isExhausted: position.isDone}
}

func (s *shardCursor) hasItem() bool      { return len(s.items) > 0 }
func (s *shardCursor) front() *apiv1.Item { return s.items[0] }

// runsLow: more items can be fetched, and half of the items of the last call are taken.
func (s *shardCursor) runsLow() bool { return !s.isExhausted && len(s.items) <= s.fetched/2 }

func (s *shardCursor) pop() *apiv1.Item {
	item := s.items[0]
	s.items = s.items[1:]
	return item
}

func (s *shardCursor) fetch(ctx context.Context, w *walk) error {
	page, err := w.items.Query(ctx, s.request)
	if err != nil {
		return err
	}
	for _, item := range page.GetItems() {
		for _, names := range [][]string{w.keys.sort, w.keys.others} {
			for _, name := range names {
				if item.GetAttributes()[name] == nil {
					return &ArgumentError{"Project", "an item lacks the key attribute " + name + "; keep all key attributes"}
				}
			}
		}
	}
	s.params.report(page.GetConsumedCapacity())
	s.items = append(slices.Clip(s.items), page.GetItems()...)
	s.fetched = len(page.GetItems())
	s.isExhausted = page.GetLastEvaluatedKey() == nil
	s.request.ExclusiveStartKey = page.GetLastEvaluatedKey()
	return nil
}

// position is the one after the items of the pages.
func (s *shardCursor) position() shardPosition {
	switch {
	case s.hasItem():
		return shardPosition{startAfter: s.delivered}
	case s.isExhausted:
		return shardPosition{isDone: true}
	default:
		// The start of the next call is behind the items that a filter has dropped, too.
		return shardPosition{startAfter: s.request.GetExclusiveStartKey()}
	}
}

// shardPosition is a place in a shard. The zero value is its beginning.
type shardPosition struct {
	isDone     bool
	startAfter *apiv1.Item
}

// identityOf returns the parts of a query that must be equal for one query to continue another.
func identityOf(request *apiv1.QueryRequest, shards Shards) ([]byte, error) {
	value, err := Marshal(shards.Value(shards.First))
	if err != nil {
		return nil, err
	}
	encoded, err := proto.Marshal(value)
	if err != nil {
		return nil, err
	}
	direction := 1
	if request.ScanIndexForward != nil {
		direction = 0
	}
	head := fmt.Sprintf("%s\n%s\n%d\n%d\n%d\n", tableName(request.GetTableName()), request.GetIndexName(), direction,
		shards.First, shards.Count)
	return append([]byte(head), encoded...), nil
}

// continuationVersion is that of the form: a list of the version, the query, and a value for each shard. The value is
// true for a finished shard, null for one that has not begun, else a map with the key of its last item.
const continuationVersion = "1"

func (w *walk) continuation() string {
	values := []*apiv1.AttributeValue{
		numberValue(continuationVersion), {Value: &apiv1.AttributeValue_B{B: w.identity}},
	}
	for _, shard := range w.shards {
		position := shard.position()
		switch {
		case position.isDone:
			values = append(values, boolValue(true))
		case position.startAfter == nil:
			values = append(values, nullValue())
		default:
			values = append(values, mapValue(position.startAfter.GetAttributes()))
		}
	}
	encoded, _ := proto.Marshal(listValue(values)) // valid UTF-8, so that it never fails
	return base64.URLEncoding.EncodeToString(encoded)
}

func decodeContinuation(text string, identity []byte, count int) ([]shardPosition, error) {
	positions := make([]shardPosition, count)
	if text == "" {
		return positions, nil
	}
	malformed := &ArgumentError{"Continue", "is not the continuation of a sharded query"}
	encoded, err := base64.URLEncoding.DecodeString(text)
	if err != nil {
		return nil, malformed
	}
	var all apiv1.AttributeValue
	if proto.Unmarshal(encoded, &all) != nil {
		return nil, malformed
	}
	values := all.GetL().GetValues()
	if len(values) < 2 || values[0].GetN() != continuationVersion {
		return nil, malformed
	}
	if !bytes.Equal(values[1].GetB(), identity) || len(values) != 2+count {
		return nil, &ArgumentError{"Continue", "is the continuation of another query"}
	}
	for i, value := range values[2:] {
		switch {
		case len(value.GetM().GetEntries()) > 0:
			positions[i].startAfter = &apiv1.Item{Attributes: value.GetM().GetEntries()}
		case value.GetBool():
			positions[i].isDone = true
		case !value.GetNull():
			return nil, malformed
		}
	}
	return positions, nil
}
