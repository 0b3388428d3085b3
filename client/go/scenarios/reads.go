package main

import (
	"context"
	"fmt"
	"time"

	armature "github.com/armaturedb/armature/client/go"
)

// pageOption is an option of queries and scans.
type pageOption interface {
	armature.QueryOption
	armature.ScanOption
}

func pageOptions(given node) (options []pageOption) {
	if index, ok := given["index"].(string); ok {
		options = append(options, armature.Index(index))
	}
	if size, ok := given["page_size"].(int); ok {
		options = append(options, armature.PageSize(size))
	}
	if given["consistent"] == true {
		options = append(options, armature.Consistent())
	}
	if filter := expression(given, "filter"); filter != nil {
		options = append(options, armature.Filter(filter))
	}
	if projection := expression(given, "projection"); projection != nil {
		options = append(options, armature.ProjectExpr(projection))
	}
	return options
}

func queryOptions(given node) (options []armature.QueryOption) {
	for _, option := range pageOptions(given) {
		options = append(options, option)
	}
	if given["descending"] == true {
		options = append(options, armature.Descending())
	}
	return options
}

func (o *operations) query(ctx context.Context, client *armature.Client, given node) (any, error) {
	items := []armature.Item{}
	for item, err := range tableOf(client, given).Query(ctx, expression(given, "key_condition"), queryOptions(given)...) {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == given["take"] {
			break
		}
	}
	return items, nil
}

func (o *operations) queryPage(ctx context.Context, client *armature.Client, given node) (any, error) {
	options := queryOptions(given)
	if given["after"] == true {
		options = append(options, armature.StartAfter(o.position))
	}
	for page, err := range tableOf(client, given).QueryPages(ctx, expression(given, "key_condition"), options...) {
		if err != nil {
			return nil, err
		}
		o.position = page.LastKey
		return node{"items": page.Items, "more": page.LastKey != nil}, nil
	}
	return nil, nil
}

func (o *operations) queryPages(ctx context.Context, client *armature.Client, given node) (any, error) {
	sizes := []any{}
	for page, err := range tableOf(client, given).QueryPages(ctx, expression(given, "key_condition"), queryOptions(given)...) {
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, len(page.Items))
	}
	return sizes, nil
}

func (o *operations) count(ctx context.Context, client *armature.Client, given node) (any, error) {
	return tableOf(client, given).Count(ctx, expression(given, "key_condition"), queryOptions(given)...)
}

func (o *operations) scan(ctx context.Context, client *armature.Client, given node) (any, error) {
	var options []armature.ScanOption
	for _, option := range pageOptions(given) {
		options = append(options, option)
	}
	items := tableOf(client, given).Scan(ctx, options...)
	if segments, ok := given["segments"].(int); ok {
		items = tableOf(client, given).ParallelScan(ctx, segments, options...)
	}
	all, err := armature.Collect(items)
	return nonNil(all), err
}

func (o *operations) scanCount(ctx context.Context, client *armature.Client, given node) (any, error) {
	var options []armature.ScanOption
	for _, option := range pageOptions(given) {
		options = append(options, option)
	}
	return tableOf(client, given).ScanCount(ctx, options...)
}

func (o *operations) shardedQuery(ctx context.Context, client *armature.Client, given node) (any, error) {
	shards := armature.Shards{
		Param: given["shard_param"].(string), Value: armature.NumberedShards(), Count: given["shards"].(int),
	}
	if prefix, ok := given["prefix"].(string); ok {
		shards.Value = armature.SuffixedShards(prefix)
	}
	if size, ok := given["page_size"].(int); ok {
		shards.PageItems = size
	}
	members := node{}
	for name, value := range given {
		if name != "page_size" {
			members[name] = value
		}
	}
	condition, options := expression(given, "key_condition"), queryOptions(members)
	table := tableOf(client, given)
	if given["resume"] != true {
		all, err := armature.Collect(table.ShardedQuery(ctx, condition, shards, options...))
		return nonNil(all), err
	}
	all := []armature.Item{}
	for isFirst := true; isFirst || shards.Continue != ""; isFirst = false {
		for page, err := range table.ShardedPages(ctx, condition, shards, options...) {
			if err != nil {
				return nil, err
			}
			all = append(all, page.Items...)
			shards.Continue = page.Continuation
			break // a new query continues
		}
	}
	return all, nil
}

// watch is a watch that the steps of a scenario share.
type watch struct {
	next     func() (*armature.Change[armature.Item], error, bool)
	stop     func()
	position string
	table    *armature.Table[armature.Item]
}

// open begins a watch and waits until it stands. A response is read ahead, because only that shows it.
func (o *operations) open(name string, table *armature.Table[armature.Item], options []armature.WatchOption) error {
	ctx, cancel := context.WithCancel(context.Background())
	stands := make(chan string, 1)
	options = append(options, armature.Heartbeat(time.Second), armature.OnPosition(func(position string) {
		select {
		case stands <- position:
		default:
		}
	}))
	type result struct {
		change *armature.Change[armature.Item]
		err    error
	}
	results := make(chan result)
	go func() {
		defer close(results)
		for change, err := range table.Watch(ctx, options...) {
			select {
			case results <- result{change, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	w := &watch{table: table, stop: cancel}
	var ahead []result
	timeout := time.NewTimer(20 * time.Second)
	defer timeout.Stop()
	select {
	case w.position = <-stands:
	case first := <-results:
		if first.err != nil {
			cancel()
			return first.err
		}
		ahead = append(ahead, first) // the first response has changes
	case <-timeout.C:
		cancel()
		return fmt.Errorf("the watch does not stand in time")
	}
	w.next = func() (*armature.Change[armature.Item], error, bool) {
		if len(ahead) > 0 {
			first := ahead[0]
			ahead = nil
			return first.change, first.err, true
		}
		timeout := time.NewTimer(20 * time.Second)
		defer timeout.Stop()
		select {
		case r, ok := <-results:
			return r.change, r.err, ok
		case <-timeout.C:
			return nil, fmt.Errorf("no change in time"), true
		}
	}
	o.watches[name] = w
	return nil
}

func (o *operations) watchStart(_ context.Context, client *armature.Client, given node) (any, error) {
	var options []armature.WatchOption
	if given["from"] == "oldest" {
		options = append(options, armature.FromOldest())
	}
	if filter := expression(given, "filter"); filter != nil {
		options = append(options, armature.Filter(filter))
	}
	if partition, ok := given["partition"]; ok {
		options = append(options, armature.Partition(itemOf(partition)))
	}
	if position, ok := given["after"].(string); ok {
		options = append(options, armature.After(position))
	}
	name, _ := given["name"].(string)
	return nil, o.open(name, tableOf(client, given), options)
}

func (o *operations) watch(ctx context.Context, client *armature.Client, given node) (any, error) {
	name, _ := given["name"].(string)
	if o.watches[name] == nil {
		if _, err := o.watchStart(ctx, client, given); err != nil {
			return nil, err
		}
	}
	w := o.watches[name]
	changes := []any{}
	for len(changes) < given["count"].(int) {
		change, err, ok := w.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("the watch has ended")
		}
		w.position = change.Sequence
		result := node{"event": string(change.Event), "key": change.Key}
		if change.HasNew {
			result["new"] = change.New
		}
		if change.HasOld {
			result["old"] = change.Old
		}
		changes = append(changes, result)
	}
	if name == "" {
		o.close()
	}
	return changes, nil
}

func (o *operations) watchResume(_ context.Context, _ *armature.Client, given node) (any, error) {
	name := given["name"].(string)
	w := o.watches[name]
	w.stop()
	delete(o.watches, name)
	return nil, o.open(name, w.table, []armature.WatchOption{armature.After(w.position)})
}

// close ends the watches.
func (o *operations) close() {
	for name, w := range o.watches {
		w.stop()
		delete(o.watches, name)
	}
}
