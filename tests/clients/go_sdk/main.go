// The AWS SDK for Go v2, with its packages of attribute values and expressions, against the daemon at $ENDPOINT.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	orders    = "go_orders"
	byStatus  = "ByStatus"
	orderSize = 25
)

type order struct {
	Customer string            `dynamodbav:"customer"`
	Number   int               `dynamodbav:"number"`
	Status   string            `dynamodbav:"status"`
	Amount   float64           `dynamodbav:"amount"`
	Tags     []string          `dynamodbav:"tags,stringset,omitempty"`
	Notes    map[string]string `dynamodbav:"notes,omitempty"`
	Data     []byte            `dynamodbav:"data,omitempty"`
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return value
}

func check(holds bool, what any) {
	if !holds {
		log.Panic(what)
	}
}

func key(customer string, number int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: customer},
		"number":   &types.AttributeValueMemberN{Value: fmt.Sprint(number)},
	}
}

func createTable(ctx context.Context, client *dynamodb.Client) {
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: kind}
	}
	member := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind}
	}
	must(client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(orders),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("customer", types.ScalarAttributeTypeS), attribute("number", types.ScalarAttributeTypeN),
			attribute("status", types.ScalarAttributeTypeS), attribute("amount", types.ScalarAttributeTypeN),
		},
		KeySchema: []types.KeySchemaElement{member("customer", types.KeyTypeHash), member("number", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(byStatus),
			KeySchema:  []types.KeySchemaElement{member("status", types.KeyTypeHash), member("amount", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}))
	waiter := dynamodb.NewTableExistsWaiter(client, func(options *dynamodb.TableExistsWaiterOptions) {
		options.MinDelay = 50 * time.Millisecond
	})
	check(waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(orders)}, time.Minute) == nil, "no table")
}

func items(ctx context.Context, client *dynamodb.Client) {
	wanted := order{"ann", 0, "new", 12.5, []string{"a", "b"}, map[string]string{"ü": "\x00\"\\"}, []byte{0, 255}}
	put := func(condition *string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(orders), Item: must(attributevalue.MarshalMap(wanted)), ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	check(put(nil) == nil, "put")
	got := must(client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(orders), Key: key("ann", 0), ConsistentRead: aws.Bool(true),
	}))
	var read order
	check(attributevalue.UnmarshalMap(got.Item, &read) == nil && reflect.DeepEqual(read, wanted), read)

	var failed *types.ConditionalCheckFailedException
	check(errors.As(put(aws.String("attribute_not_exists(customer)")), &failed), "the condition holds")
	check(failed.ErrorMessage() == "The conditional request failed" && len(failed.Item) == len(got.Item), failed)

	change := must(expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("amount"), expression.Name("amount").Plus(expression.Value(1))).
			Add(expression.Name("visits"), expression.Value(1))).
		WithCondition(expression.Name("status").Equal(expression.Value("new"))).Build())
	updated := must(client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(orders), Key: key("ann", 0), UpdateExpression: change.Update(),
		ConditionExpression: change.Condition(), ExpressionAttributeNames: change.Names(),
		ExpressionAttributeValues: change.Values(), ReturnValues: types.ReturnValueUpdatedNew,
	}))
	var changed struct{ Amount, Visits float64 }
	check(attributevalue.UnmarshalMap(updated.Attributes, &changed) == nil && changed.Amount == 13.5 && changed.Visits == 1, changed)
}

func pages(ctx context.Context, client *dynamodb.Client) {
	var puts []types.WriteRequest
	for i := range orderSize {
		item := order{Customer: "bob", Number: i, Status: "paid", Amount: float64(i) / 2}
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: must(attributevalue.MarshalMap(item))}})
	}
	written := must(client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{orders: puts},
	}))
	check(len(written.UnprocessedItems) == 0, written.UnprocessedItems)

	read := func(query *dynamodb.QueryInput, condition expression.KeyConditionBuilder) (counts []int, found []order) {
		built := must(expression.NewBuilder().WithKeyCondition(condition).Build())
		query.TableName = aws.String(orders)
		query.KeyConditionExpression = built.KeyCondition()
		query.ExpressionAttributeNames, query.ExpressionAttributeValues = built.Names(), built.Values()
		for pages := dynamodb.NewQueryPaginator(client, query); pages.HasMorePages(); {
			page := must(pages.NextPage(ctx))
			var part []order
			check(attributevalue.UnmarshalListOfMaps(page.Items, &part) == nil, page)
			counts, found = append(counts, len(part)), append(found, part...)
		}
		return counts, found
	}
	counts, found := read(&dynamodb.QueryInput{Limit: aws.Int32(10)}, expression.Key("customer").Equal(expression.Value("bob")))
	check(reflect.DeepEqual(counts, []int{10, 10, 5}) && found[24].Number == 24, counts)
	_, found = read(&dynamodb.QueryInput{IndexName: aws.String(byStatus), ScanIndexForward: aws.Bool(false)},
		expression.Key("status").Equal(expression.Value("paid")).
			And(expression.Key("amount").Between(expression.Value(1), expression.Value(2))))
	check(len(found) == 3 && found[0].Number == 4 && found[2].Number == 2, found)

	scanned := 0
	for scan := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(orders), Limit: aws.Int32(7)}); scan.HasMorePages(); {
		scanned += int(must(scan.NextPage(ctx)).Count)
	}
	check(scanned == orderSize+1, scanned)
}

func transactions(ctx context.Context, client *dynamodb.Client) {
	move := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: aws.String(orders), Item: key("cid", 1), ConditionExpression: aws.String("attribute_not_exists(customer)"),
		}},
		{Delete: &types.Delete{TableName: aws.String(orders), Key: key("bob", 0)}},
	}}
	must(client.TransactWriteItems(ctx, move))
	must(client.TransactWriteItems(ctx, move)) // the SDK has set a token in the request, so this is a repeat
	move.ClientRequestToken = nil
	_, err := client.TransactWriteItems(ctx, move)
	var cancelled *types.TransactionCanceledException
	check(errors.As(err, &cancelled), err)
	check(*cancelled.CancellationReasons[0].Code == "ConditionalCheckFailed" && *cancelled.CancellationReasons[1].Code == "None",
		cancelled.CancellationReasons)
	get := func(customer string, number int) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(orders), Key: key(customer, number)}}
	}
	got := must(client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{get("cid", 1), get("bob", 0)},
	}))
	check(len(got.Responses[0].Item) == 2 && got.Responses[1].Item == nil, got.Responses)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(os.Getenv("ENDPOINT")), Region: "local",
		Credentials: credentials.NewStaticCredentialsProvider("anyone", "anything", ""),
	})
	createTable(ctx, client)
	items(ctx, client)
	pages(ctx, client)
	transactions(ctx, client)
	_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: key("ann", 0)})
	var missing *types.ResourceNotFoundException
	check(errors.As(err, &missing), err)
	must(client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(orders)}))
	fmt.Println("go sdk: all passed")
}
