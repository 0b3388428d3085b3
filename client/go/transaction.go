package armature

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Transaction is a list of up to 100 writes and checks of different items, of any tables, that are applied together or
// not at all.
//
//	tx := client.Transaction()
//	tx.Update("accounts", armature.Key{"id": "ann"}, armature.Expr("SET balance = balance - $sum", sum),
//		armature.If(armature.Expr("balance >= $sum", sum)))
//	tx.Update("accounts", armature.Key{"id": "bob"}, armature.Expr("SET balance = balance + $sum", sum))
//	err := tx.Commit(ctx)
//
// It has a token from the beginning: a Commit that is repeated within ten minutes, by this package or by the program
// after an [OutcomeUnknownError], is not applied twice.
//
// A Transaction is not safe for concurrent use.
type Transaction struct {
	client  *Client
	request *apiv1.TransactWriteItemsRequest
	err     error // of the first wrong action
	// ChangeSequence is the position of the writes after a Commit, for [AtLeast].
	ChangeSequence uint64
}

// Transaction returns a transaction without actions.
func (c *Client) Transaction() *Transaction {
	return &Transaction{client: c, request: &apiv1.TransactWriteItemsRequest{ClientRequestToken: proto.String(NewToken())}}
}

// SetToken replaces the token, so that another process can repeat the transaction: 1 to 36 characters.
func (t *Transaction) SetToken(token string) { t.request.ClientRequestToken = proto.String(token) }

// Token returns the token.
func (t *Transaction) Token() string { return t.request.GetClientRequestToken() }

// Put adds a put of a struct or map.
func (t *Transaction) Put(table string, item any, options ...ActionOption) {
	t.add(item, nil, options, func(item *apiv1.Item, _ *string, condition *string, p *params) *apiv1.TransactWriteItem {
		return &apiv1.TransactWriteItem{Action: &apiv1.TransactWriteItem_Put{Put: &apiv1.Put{
			TableName: table, Item: item, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: p.returnOnFailure,
			ExpressionAttributeNames:            p.names, ExpressionAttributeValues: p.values,
		}}}
	})
}

// Update adds an update.
func (t *Transaction) Update(table string, key Key, update Expression, options ...ActionOption) {
	if update == nil {
		t.fail(&ArgumentError{"update", "is missing"})
		return
	}
	t.add(key, update, options, func(key *apiv1.Item, update, condition *string, p *params) *apiv1.TransactWriteItem {
		return &apiv1.TransactWriteItem{Action: &apiv1.TransactWriteItem_Update{Update: &apiv1.Update{
			TableName: table, Key: key, UpdateExpression: *update, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: p.returnOnFailure,
			ExpressionAttributeNames:            p.names, ExpressionAttributeValues: p.values,
		}}}
	})
}

// Delete adds a delete.
func (t *Transaction) Delete(table string, key Key, options ...ActionOption) {
	t.add(key, nil, options, func(key *apiv1.Item, _ *string, condition *string, p *params) *apiv1.TransactWriteItem {
		return &apiv1.TransactWriteItem{Action: &apiv1.TransactWriteItem_Delete{Delete: &apiv1.Delete{
			TableName: table, Key: key, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: p.returnOnFailure,
			ExpressionAttributeNames:            p.names, ExpressionAttributeValues: p.values,
		}}}
	})
}

// Check adds a condition on an item that the transaction does not write.
func (t *Transaction) Check(table string, key Key, condition Expression, options ...ActionOption) {
	if condition == nil {
		t.fail(&ArgumentError{"condition", "is missing"})
		return
	}
	options = append(options[:len(options):len(options)], If(condition))
	t.add(key, nil, options, func(key *apiv1.Item, _ *string, condition *string, p *params) *apiv1.TransactWriteItem {
		return &apiv1.TransactWriteItem{Action: &apiv1.TransactWriteItem_ConditionCheck{ConditionCheck: &apiv1.ConditionCheck{
			TableName: table, Key: key, ConditionExpression: *condition,
			ReturnValuesOnConditionCheckFailure: p.returnOnFailure,
			ExpressionAttributeNames:            p.names, ExpressionAttributeValues: p.values,
		}}}
	})
}

// fail keeps the error of the first wrong action, for Commit.
func (t *Transaction) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// add makes an action of an item or a key.
func (t *Transaction) add(item any, update Expression, options []ActionOption,
	build func(item *apiv1.Item, update, condition *string, p *params) *apiv1.TransactWriteItem) {
	var p params
	for _, option := range options {
		option.applyToAction(&p)
	}
	message, err := MarshalItem(item)
	if err != nil {
		t.fail(err)
		return
	}
	p.reserveAll(update)
	text, err := p.optional(update)
	if err != nil {
		t.fail(err)
		return
	}
	condition, err := p.optional(p.condition)
	if err != nil {
		t.fail(err)
		return
	}
	if err := p.unused(); err != nil {
		t.fail(err)
		return
	}
	t.request.TransactItems = append(t.request.TransactItems, build(message, text, condition, &p))
}

// Commit applies the transaction. [TransactionCanceledError]: nothing was applied, and why.
func (t *Transaction) Commit(ctx context.Context) error {
	if t.err != nil {
		return t.err
	}
	response, err := t.client.Items().TransactWriteItems(ctx, t.request)
	t.ChangeSequence = response.GetChangeSequence()
	return err
}

// GetAction is a read of a [Client.TransactGet].
type GetAction struct {
	Table      string
	Key        Key
	Projection Expression // nil: the whole item; see Fields
}

// TransactGet returns up to 100 items as of one moment, in the order of the reads. A missing item is nil.
func (c *Client) TransactGet(ctx context.Context, reads ...GetAction) ([]Item, error) {
	request := &apiv1.TransactGetItemsRequest{}
	for _, read := range reads {
		key, err := MarshalItem(read.Key)
		if err != nil {
			return nil, err
		}
		p := params{projection: read.Projection}
		text, err := p.project()
		if err != nil {
			return nil, err
		}
		request.TransactItems = append(request.TransactItems, &apiv1.TransactGetItem{Get: &apiv1.Get{
			TableName: read.Table, Key: key, ProjectionExpression: text, ExpressionAttributeNames: p.names,
		}})
	}
	response, err := c.Items().TransactGetItems(ctx, request)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(response.GetResponses()))
	for i, one := range response.GetResponses() {
		items[i] = ItemOf(one.GetItem())
	}
	return items, nil
}
