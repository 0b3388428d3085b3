package armature

import (
	"context"
	"iter"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Select returns the items of a PartiQL SELECT as values of T. The parameters stand for the question marks of the
// statement, from left to right. Pages are read as the iteration needs them.
//
//	for order, err := range armature.Select[Order](ctx, client, `SELECT * FROM orders WHERE customer = ?`, "ann") {
func Select[T any](ctx context.Context, client *Client, statement string, parameters ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		request, err := statementRequest(statement, parameters)
		if err != nil {
			yield(none, err)
			return
		}
		for {
			response, err := client.Statements().ExecuteStatement(ctx, request)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range response.GetItems() {
				var decoded T
				if err := UnmarshalItem(item, &decoded); err != nil {
					yield(none, err)
					return
				}
				if !yield(decoded, nil) {
					return
				}
			}
			if request.NextToken = response.NextToken; request.NextToken == nil {
				return
			}
		}
	}
}

// Execute executes a PartiQL statement, and returns all its items: those of a SELECT, or of a RETURNING clause.
func (c *Client) Execute(ctx context.Context, statement string, parameters ...any) ([]Item, error) {
	return Collect(Select[Item](ctx, c, statement, parameters...))
}

func statementRequest(statement string, parameters []any) (*apiv1.ExecuteStatementRequest, error) {
	request := &apiv1.ExecuteStatementRequest{Statement: statement}
	for _, parameter := range parameters {
		value, err := Marshal(parameter)
		if err != nil {
			return nil, err
		}
		request.Parameters = append(request.Parameters, value)
	}
	return request, nil
}
