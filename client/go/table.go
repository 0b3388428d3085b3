package armature

import (
	"context"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Table reads and writes items of one table as values of T: a struct with tags (see [Marshal]), or [Item].
type Table[T any] struct {
	client *Client
	items  apiv1.ItemServiceClient
	name   string
}

// TableOf returns a table whose items are T. It makes no call.
func TableOf[T any](client *Client, name string) *Table[T] {
	return &Table[T]{client: client, items: client.Items(), name: name}
}

// Table returns a table whose items have no schema.
func (c *Client) Table(name string) *Table[Item] { return TableOf[Item](c, name) }

// Name returns the name of the table.
func (t *Table[T]) Name() string { return t.name }

// String returns the name and the address.
func (t *Table[T]) String() string {
	return "armature.Table(" + t.name + ", " + t.client.conn.address + ")"
}

// Written is the result of a write.
type Written[T any] struct {
	// Item is the returned item, or its returned attributes: see [ReturnOld] and [ReturnNew].
	Item T
	// HasItem: false if no item was asked for, or there is none.
	HasItem bool
	// ChangeSequence is the position of the write, for [AtLeast].
	ChangeSequence uint64
}

func written[T any](item *apiv1.Item, sequence uint64) (Written[T], error) {
	result := Written[T]{ChangeSequence: sequence, HasItem: item != nil}
	if item == nil {
		return result, nil
	}
	return result, UnmarshalItem(item, &result.Item)
}

// Get returns the item with a key. [ErrItemNotFound]: there is none.
func (t *Table[T]) Get(ctx context.Context, key Key, options ...GetOption) (T, error) {
	var p params
	for _, option := range options {
		option.applyToGet(&p)
	}
	var result T
	request := &apiv1.GetItemRequest{TableName: t.name, ReturnConsumedCapacity: p.capacityLevel()}
	var err error
	if request.Key, err = MarshalItem(key); err != nil {
		return result, err
	}
	if request.ProjectionExpression, err = p.project(); err != nil {
		return result, err
	}
	request.ConsistentRead = optionalBool(p.consistent)
	request.ExpressionAttributeNames = p.names
	response, err := t.items.GetItem(ctx, request)
	if err != nil {
		return result, err
	}
	p.report(response.GetConsumedCapacity())
	if response.GetItem() == nil {
		return result, ErrItemNotFound
	}
	err = UnmarshalItem(response.GetItem(), &result)
	return result, err
}

// project compiles the projection of a read.
func (p *params) project() (*string, error) {
	p.reserveAll()
	text, err := p.optional(p.projection)
	if err != nil {
		return nil, err
	}
	return text, p.unused()
}

// Put creates an item, or replaces it as a whole.
func (t *Table[T]) Put(ctx context.Context, item T, options ...PutOption) (Written[T], error) {
	var p params
	for _, option := range options {
		option.applyToPut(&p)
	}
	message, err := MarshalItem(item)
	if err != nil {
		return Written[T]{}, err
	}
	p.reserveAll()
	condition, err := p.optional(p.condition)
	if err != nil {
		return Written[T]{}, err
	}
	if err := p.unused(); err != nil {
		return Written[T]{}, err
	}
	response, err := t.items.PutItem(ctx, &apiv1.PutItemRequest{
		TableName: t.name, Item: message, ConditionExpression: condition, ReturnValues: p.returns,
		ReturnValuesOnConditionCheckFailure: p.returnOnFailure, ReturnConsumedCapacity: p.capacityLevel(),
		ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
	}, p.call...)
	if err != nil {
		return Written[T]{}, err
	}
	p.report(response.GetConsumedCapacity())
	return written[T](response.GetAttributes(), response.GetChangeSequence())
}

// Update changes attributes of an item, or creates the item. The update is a text of the documented API, such as
// "SET visits = visits + $n" ([Expr]), or built with [Set], [Remove] and [Add].
func (t *Table[T]) Update(ctx context.Context, key Key, update Expression, options ...UpdateOption) (Written[T], error) {
	var p params
	for _, option := range options {
		option.applyToUpdate(&p)
	}
	message, err := MarshalItem(key)
	if err != nil {
		return Written[T]{}, err
	}
	update = required("update", update)
	p.reserveAll(update)
	text, err := p.optional(update)
	if err != nil {
		return Written[T]{}, err
	}
	condition, err := p.optional(p.condition)
	if err != nil {
		return Written[T]{}, err
	}
	if err := p.unused(); err != nil {
		return Written[T]{}, err
	}
	response, err := t.items.UpdateItem(ctx, &apiv1.UpdateItemRequest{
		TableName: t.name, Key: message, UpdateExpression: text, ConditionExpression: condition, ReturnValues: p.returns,
		ReturnValuesOnConditionCheckFailure: p.returnOnFailure, ReturnConsumedCapacity: p.capacityLevel(),
		ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
	}, p.call...)
	if err != nil {
		return Written[T]{}, err
	}
	p.report(response.GetConsumedCapacity())
	return written[T](response.GetAttributes(), response.GetChangeSequence())
}

// Delete deletes an item. A missing item is not an error, unless the condition requires it.
func (t *Table[T]) Delete(ctx context.Context, key Key, options ...DeleteOption) (Written[T], error) {
	var p params
	for _, option := range options {
		option.applyToDelete(&p)
	}
	message, err := MarshalItem(key)
	if err != nil {
		return Written[T]{}, err
	}
	p.reserveAll()
	condition, err := p.optional(p.condition)
	if err != nil {
		return Written[T]{}, err
	}
	if err := p.unused(); err != nil {
		return Written[T]{}, err
	}
	response, err := t.items.DeleteItem(ctx, &apiv1.DeleteItemRequest{
		TableName: t.name, Key: message, ConditionExpression: condition, ReturnValues: p.returns,
		ReturnValuesOnConditionCheckFailure: p.returnOnFailure, ReturnConsumedCapacity: p.capacityLevel(),
		ExpressionAttributeNames: p.names, ExpressionAttributeValues: p.values,
	}, p.call...)
	if err != nil {
		return Written[T]{}, err
	}
	p.report(response.GetConsumedCapacity())
	return written[T](response.GetAttributes(), response.GetChangeSequence())
}

// batchKeysMax is the number of keys of one BatchGetItem.
const batchKeysMax = 100

// BatchGet returns the items with these keys, in no particular order; missing items are left out. Any number of keys is
// allowed: they are read in calls of 100, and keys that the daemon leaves out are asked for again.
func (t *Table[T]) BatchGet(ctx context.Context, keys []Key, options ...GetOption) ([]T, error) {
	var p params
	for _, option := range options {
		option.applyToGet(&p)
	}
	text, err := p.project()
	if err != nil {
		return nil, err
	}
	ctx, cancel := t.client.contextWithTimeout(ctx)
	defer cancel()
	var found []T
	waiting := make([]*apiv1.Item, len(keys))
	for i, key := range keys {
		if waiting[i], err = MarshalItem(key); err != nil {
			return nil, err
		}
	}
	for fruitless := 0; len(waiting) > 0; {
		chunk := waiting[:min(len(waiting), batchKeysMax)]
		response, err := t.items.BatchGetItem(ctx, &apiv1.BatchGetItemRequest{
			RequestItems: map[string]*apiv1.KeysAndAttributes{t.name: {
				Keys: chunk, ConsistentRead: optionalBool(p.consistent), ProjectionExpression: text,
				ExpressionAttributeNames: p.names,
			}},
			ReturnConsumedCapacity: p.capacityLevel(),
		})
		if err != nil {
			return nil, err
		}
		p.report(response.GetConsumedCapacity()...)
		for _, item := range response.GetResponses()[t.name].GetItems() {
			var decoded T
			if err := UnmarshalItem(item, &decoded); err != nil {
				return nil, err
			}
			found = append(found, decoded)
		}
		left := response.GetUnprocessedKeys()[t.name].GetKeys()
		waiting = append(left, waiting[len(chunk):]...)
		if fruitless, err = t.client.pauseAfter(ctx, len(left), len(chunk), fruitless); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// pauseAfter waits after a batch of which some parts are left. It returns the number of successive batches of which all
// parts were left, and an error after too many.
func (c *Client) pauseAfter(ctx context.Context, left, all, fruitless int) (int, error) {
	if left == 0 {
		return 0, nil
	}
	if left < all {
		fruitless = 0
	}
	fruitless++
	if fruitless >= c.conn.settings.retry.MaxAttempts && left == all {
		return 0, errTakesNothing
	}
	if !wait(ctx, c.conn.settings.retry.pause(fruitless, 0)) {
		return fruitless, contextError(ctx)
	}
	if left < all {
		return 0, nil
	}
	return fruitless, nil
}

// contextError is the error of a wait that the context has ended, or would have.
func contextError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}
