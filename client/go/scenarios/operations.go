package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/apiv1"
)

// operations are those of one scenario.
type operations struct {
	tables   node
	position armature.Key // of the last query_page
	watches  map[string]*watch
}

// operation makes a call and returns its result.
type operation func(o *operations, ctx context.Context, client *armature.Client, given any) (any, error)

// operationOf returns an operation by its name; nil if it is unknown.
func operationOf(name string) operation {
	return map[string]operation{
		"put": onNode((*operations).put), "get": onNode((*operations).get), "update": onNode((*operations).update),
		"delete": onNode((*operations).delete), "query": onNode((*operations).query),
		"query_page": onNode((*operations).queryPage), "query_pages": onNode((*operations).queryPages),
		"count": onNode((*operations).count), "scan": onNode((*operations).scan),
		"sharded_query": onNode((*operations).shardedQuery), "put_many": onNode((*operations).putMany),
		"write_many": (*operations).writeMany, "batch_get": onNode((*operations).batchGet), "batch_get_count": onNode((*operations).batchGetCount), "scan_count": onNode((*operations).scanCount),
		"transact_write": onNode((*operations).transactWrite), "transact_get": onNode((*operations).transactGet),
		"pipeline": (*operations).pipeline, "statement": onNode((*operations).statement),
		"watch": onNode((*operations).watch), "watch_start": onNode((*operations).watchStart),
		"watch_resume": onNode((*operations).watchResume), "create_table": onNode((*operations).createTable),
		"delete_table": onNode((*operations).deleteTable), "list_tables": onNode((*operations).listTables),
		"describe_table": onNode((*operations).describeTable), "wait_for_indexes": onNode((*operations).waitForIndexes),
	}[name]
}

func onNode(f func(*operations, context.Context, *armature.Client, node) (any, error)) operation {
	return func(o *operations, ctx context.Context, client *armature.Client, given any) (any, error) {
		members, _ := given.(node)
		return f(o, ctx, client, members)
	}
}

func tableOf(client *armature.Client, given node) *armature.Table[armature.Item] {
	return client.Table(given["table"].(string))
}

// writeOption is an option of all writes.
type writeOption interface {
	armature.PutOption
	armature.UpdateOption
	armature.DeleteOption
}

func writeOptions(given node) (writes []writeOption, updates []armature.UpdateOption) {
	if condition := expression(given, "condition"); condition != nil {
		writes = append(writes, armature.If(condition))
	}
	if given["return_on_failure"] == true {
		writes = append(writes, armature.ReturnItemOnFailure())
	}
	switch given["return"] {
	case "all_old":
		writes = append(writes, armature.ReturnOld())
	case "all_new":
		updates = append(updates, armature.ReturnNew())
	case "updated_old":
		updates = append(updates, armature.ReturnUpdatedOld())
	case "updated_new":
		updates = append(updates, armature.ReturnUpdatedNew())
	}
	if given["idempotent"] == true {
		updates = append(updates, armature.Idempotent())
	}
	for _, option := range writes {
		updates = append(updates, option)
	}
	return writes, updates
}

// itemIn returns the item of a write, or nil.
func itemIn(written armature.Written[armature.Item], err error) (any, error) {
	if err != nil || !written.HasItem {
		return nil, err
	}
	return written.Item, nil
}

func (o *operations) put(ctx context.Context, client *armature.Client, given node) (any, error) {
	var options []armature.PutOption
	writes, _ := writeOptions(given)
	for _, option := range writes {
		options = append(options, option)
	}
	return itemIn(tableOf(client, given).Put(ctx, itemOf(given["item"]), options...))
}

func (o *operations) update(ctx context.Context, client *armature.Client, given node) (any, error) {
	_, updates := writeOptions(given)
	return itemIn(tableOf(client, given).Update(ctx, itemOf(given["key"]), update(given), updates...))
}

func (o *operations) delete(ctx context.Context, client *armature.Client, given node) (any, error) {
	var options []armature.DeleteOption
	writes, _ := writeOptions(given)
	for _, option := range writes {
		options = append(options, option)
	}
	return itemIn(tableOf(client, given).Delete(ctx, itemOf(given["key"]), options...))
}

func getOptions(given node) (options []armature.GetOption) {
	if given["consistent"] == true {
		options = append(options, armature.Consistent())
	}
	if projection := expression(given, "projection"); projection != nil {
		options = append(options, armature.ProjectExpr(projection))
	}
	return options
}

func (o *operations) get(ctx context.Context, client *armature.Client, given node) (any, error) {
	item, err := tableOf(client, given).Get(ctx, itemOf(given["key"]), getOptions(given)...)
	if errors.Is(err, armature.ErrItemNotFound) {
		return nil, nil
	}
	return item, err
}

func (o *operations) putMany(ctx context.Context, client *armature.Client, given node) (any, error) {
	writer := client.BatchWriter()
	for i := range given["count"].(int) {
		if err := writer.Put(ctx, given["table"].(string), itemOf(numbered(given["item"], i))); err != nil {
			return nil, err
		}
	}
	return nil, writer.Flush(ctx)
}

func (o *operations) writeMany(ctx context.Context, client *armature.Client, given any) (any, error) {
	writer := client.BatchWriter()
	var dropped []armature.Write
	var first error
	note := func(err error) error {
		var batch *armature.BatchWriteError
		if !errors.As(err, &batch) {
			return err
		}
		dropped = append(dropped, batch.Dropped...)
		if first == nil {
			first = batch.Err
		}
		return nil
	}
	for _, write := range given.([]any) {
		var err error
		if put, ok := write.(node)["put"].(node); ok {
			err = writer.Put(ctx, put["table"].(string), itemOf(put["item"]))
		} else {
			deletion := write.(node)["delete"].(node)
			err = writer.Delete(ctx, deletion["table"].(string), itemOf(deletion["key"]))
		}
		if err := note(err); err != nil {
			return nil, err
		}
	}
	if err := note(writer.Flush(ctx)); err != nil || first == nil {
		return nil, err
	}
	return nil, &armature.BatchWriteError{Dropped: dropped, Err: first}
}

func (o *operations) batchGet(ctx context.Context, client *armature.Client, given node) (any, error) {
	found := node{}
	for table, part := range given {
		members := part.(node)
		var keys []armature.Key
		for _, key := range listOf(members, "keys", "key") {
			keys = append(keys, itemOf(key))
		}
		items, err := client.Table(table).BatchGet(ctx, keys, getOptions(members)...)
		if err != nil {
			return nil, err
		}
		found[table] = items
	}
	return found, nil
}

func (o *operations) batchGetCount(ctx context.Context, client *armature.Client, given node) (any, error) {
	found, err := o.batchGet(ctx, client, given)
	if err != nil {
		return nil, err
	}
	counts := node{}
	for table, items := range found.(node) {
		counts[table] = len(items.([]armature.Item))
	}
	return counts, nil
}

// listOf returns the list in a member, or as many copies of a template as `count` says.
func listOf(given node, member, template string) []any {
	if list, ok := given[member].([]any); ok {
		return list
	}
	var list []any
	for i := range given["count"].(int) {
		list = append(list, numbered(given[template], i))
	}
	return list
}

func (o *operations) transactWrite(ctx context.Context, client *armature.Client, given node) (any, error) {
	tx := client.Transaction()
	if token, ok := given["token"].(string); ok {
		tx.SetToken(token)
	}
	actions, _ := given["actions"].([]any)
	if put, ok := given["put"]; ok {
		for i := range given["count"].(int) {
			actions = append(actions, node{"put": numbered(put, i)})
		}
	}
	for _, action := range actions {
		for kind, part := range action.(node) {
			members := part.(node)
			table, key := members["table"].(string), itemOf(members["key"])
			var options []armature.ActionOption
			if members["return_on_failure"] == true {
				options = append(options, armature.ReturnItemOnFailure())
			}
			condition := expression(members, "condition")
			if condition != nil {
				options = append(options, armature.If(condition))
			}
			switch kind {
			case "put":
				tx.Put(table, itemOf(members["item"]), options...)
			case "update":
				tx.Update(table, key, update(members), options...)
			case "delete":
				tx.Delete(table, key, options...)
			case "check":
				tx.Check(table, key, condition, options...)
			}
		}
	}
	return nil, tx.Commit(ctx)
}

func (o *operations) transactGet(ctx context.Context, client *armature.Client, given node) (any, error) {
	var reads []armature.GetAction
	for _, read := range given["keys"].([]any) {
		members := read.(node)
		reads = append(reads, armature.GetAction{
			Table: members["table"].(string), Key: itemOf(members["key"]), Projection: expression(given, "projection"),
		})
	}
	return client.TransactGet(ctx, reads...)
}

// pipeline makes all operations at once, over one stream.
func (o *operations) pipeline(ctx context.Context, client *armature.Client, given any) (any, error) {
	pipeline := client.Pipeline()
	defer pipeline.Close()
	list := given.([]any)
	results := make([]any, len(list))
	var running sync.WaitGroup
	for i, one := range list {
		for kind, members := range one.(node) {
			running.Add(1)
			go func() {
				defer running.Done()
				of := &operations{tables: o.tables} // query_page keeps a position
				result, err := operationOf(kind)(of, ctx, pipeline.Client(), members)
				if err != nil {
					results[i] = node{"error": typeOf(err)}
					return
				}
				results[i] = node{"ok": result}
			}()
		}
	}
	running.Wait()
	return results, nil
}

func (o *operations) statement(ctx context.Context, client *armature.Client, given node) (any, error) {
	parameters, _ := native(given["parameters"]).([]any)
	items, err := client.Execute(ctx, given["text"].(string), parameters...)
	return nonNil(items), err
}

// nonNil returns a list that is empty, not null.
func nonNil(items []armature.Item) []armature.Item {
	if items == nil {
		return []armature.Item{}
	}
	return items
}

func (o *operations) createTable(ctx context.Context, client *armature.Client, given node) (any, error) {
	return nil, createTable(ctx, client, given["table"].(string), o.tables[given["like"].(string)].(node))
}

func (o *operations) deleteTable(ctx context.Context, client *armature.Client, given node) (any, error) {
	return nil, client.DeleteTable(ctx, given["table"].(string))
}

func (o *operations) listTables(ctx context.Context, client *armature.Client, _ node) (any, error) {
	return client.ListTables(ctx)
}

func (o *operations) describeTable(ctx context.Context, client *armature.Client, given node) (any, error) {
	response, err := client.Tables().DescribeTable(ctx, &apiv1.DescribeTableRequest{TableName: given["table"].(string)})
	if err != nil {
		return nil, err
	}
	indexes := []any{}
	for _, index := range response.GetTable().GetGlobalSecondaryIndexes() {
		indexes = append(indexes, index.GetIndexName())
	}
	for _, index := range response.GetTable().GetLocalSecondaryIndexes() {
		indexes = append(indexes, index.GetIndexName())
	}
	status := response.GetTable().GetTableStatus().String()[len("TABLE_STATUS_"):]
	return comparable(node{"status": status, "indexes": indexes}, true), nil
}

func (o *operations) waitForIndexes(ctx context.Context, client *armature.Client, given node) (any, error) {
	return nil, client.WaitForIndexes(ctx, given["table"].(string), 0)
}

func keyAttributes(v any) (all []armature.KeyAttribute) {
	list, _ := v.([]any)
	for _, pair := range list {
		name, kind := pair.([]any)[0].(string), pair.([]any)[1]
		switch kind {
		case "S":
			all = append(all, armature.StringKey(name))
		case "N":
			all = append(all, armature.NumberKey(name))
		case "B":
			all = append(all, armature.BinaryKey(name))
		default:
			panic(fmt.Sprintf("the type %v", kind))
		}
	}
	return all
}

func createTable(ctx context.Context, client *armature.Client, name string, definition node) error {
	schema := armature.TableSchema{Name: name, Partition: keyAttributes(definition["partition"])[0]}
	if sort := keyAttributes(definition["sort"]); len(sort) > 0 {
		schema.Sort = sort[0]
	}
	if view, ok := definition["stream"].(string); ok {
		schema.Stream = apiv1.StreamViewType(apiv1.StreamViewType_value["STREAM_VIEW_TYPE_"+view])
	}
	if capacity := texts(definition["capacity"]); len(capacity) == 2 {
		schema.Read, schema.Write = int64(definition["capacity"].([]any)[0].(int)), int64(definition["capacity"].([]any)[1].(int))
	}
	projection := func(v any) armature.Projection {
		switch v := v.(type) {
		case string:
			return armature.Projection{KeysOnly: v == "keys"}
		case []any:
			return armature.Projection{Include: texts(v)}
		default:
			return armature.Projection{}
		}
	}
	globals, _ := definition["indexes"].(node)
	for name, v := range globals {
		index := v.(node)
		schema.Global = append(schema.Global, armature.GlobalIndex{
			Name: name, Partition: keyAttributes(index["partition"]), Sort: keyAttributes(index["sort"]),
			Project: projection(index["projection"]),
		})
	}
	locals, _ := definition["local_indexes"].(node)
	for name, v := range locals {
		index := v.(node)
		schema.Local = append(schema.Local, armature.LocalIndex{
			Name: name, Sort: keyAttributes(index["sort"])[0], Project: projection(index["projection"]),
		})
	}
	return client.CreateTable(ctx, schema)
}
