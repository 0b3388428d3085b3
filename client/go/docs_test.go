package armature_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/apiv1"
	"github.com/armaturedb/armature/client/go/armaturetest"
)

// The functions of this file have the code of docs/develop/clients/go.md.

type Order struct {
	Customer string          `armature:"customer"`
	Number   int             `armature:"number"`
	Status   string          `armature:"status,omitempty"`
	Total    armature.Number `armature:"total"`
	Tags     []string        `armature:"tags,set"`
	Expires  time.Time       `armature:"expires,unixtime"`
}

// address stands for the address of the page, where no daemon of the test listens.
func fiveMinutes(ctx context.Context) error {
	client, err := armature.Open("localhost:7700")
	if err != nil {
		return err
	}
	defer client.Close()

	err = client.CreateTable(ctx, armature.TableSchema{
		Name:      "orders",
		Partition: armature.StringKey("customer"),
		Sort:      armature.NumberKey("number"),
		Global: []armature.GlobalIndex{{
			Name:      "by_status",
			Partition: []armature.KeyAttribute{armature.StringKey("status")},
			Sort:      []armature.KeyAttribute{armature.NumberKey("total")},
		}},
	})
	return err
}

func putAndGet(ctx context.Context, client *armature.Client) error {
	orders := armature.TableOf[Order](client, "orders")
	_, err := orders.Put(ctx, Order{Customer: "ann", Number: 1, Status: "open", Total: "19.90", Tags: []string{"new"}})
	if err != nil {
		return err
	}
	order, err := orders.Get(ctx, armature.Key{"customer": "ann", "number": 1}, armature.Consistent())
	if err == nil && (order.Total != "19.9" || order.Tags[0] != "new") {
		return fmt.Errorf("%+v", order)
	}
	return err
}

func updateByText(ctx context.Context, orders *armature.Table[Order]) (armature.Written[Order], error) {
	written, err := orders.Update(ctx, armature.Key{"customer": "ann", "number": 1},
		armature.Expr("SET #status = $new, #total = #total + $fee", armature.Params{"new": "sent", "fee": armature.Number("4.90")}),
		armature.If(armature.Expr("#status = $old", armature.Params{"old": "open"})),
		armature.ReturnNew())
	return written, err
}

func updateBuilt(ctx context.Context, orders *armature.Table[Order]) (armature.Written[Order], error) {
	written, err := orders.Update(ctx, armature.Key{"customer": "ann", "number": 1},
		armature.Set("status", "sent").Set("total", armature.Attr("total").Plus(armature.Number("4.90"))),
		armature.If(armature.Attr("status").Eq("open")),
		armature.ReturnNew())
	return written, err
}

func query(ctx context.Context, orders *armature.Table[Order]) error {
	for order, err := range orders.Query(ctx, armature.Expr("customer = $c AND #number > $n", armature.Params{"c": "ann", "n": 0}),
		armature.Descending()) {
		if err != nil {
			return err
		}
		fmt.Println(order.Number, order.Total)
	}
	return nil
}

func shardedQuery(ctx context.Context, events *armature.Table[armature.Item]) (all []string, err error) {
	shards := armature.Shards{Param: "day", Value: armature.SuffixedShards("2024-10-01"), Count: 10}
	for event, err := range events.ShardedQuery(ctx, armature.Expr("#day = $day"), shards) {
		if err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprint(event["at"]))
	}
	return all, nil
}

func readYourWrites(ctx context.Context, client *armature.Client, found *[]Order) error {
	session := client.Session()
	orders := armature.TableOf[Order](session, "orders")
	_, err := orders.Put(ctx, Order{Customer: "bob", Number: 1, Status: "open", Total: "5"})
	if err != nil {
		return err
	}
	open, err := armature.Collect(orders.Query(ctx, armature.Attr("status").Eq("open"), armature.Index("by_status")))
	*found = open
	return err
}

func batch(ctx context.Context, client *armature.Client, all []Order) error {
	writer := client.BatchWriter()
	for _, order := range all {
		if err := writer.Put(ctx, "orders", order); err != nil {
			return err
		}
	}
	err := writer.Flush(ctx)
	return err
}

func pipelined(ctx context.Context, client *armature.Client, all []Order) error {
	pipeline := client.Pipeline()
	defer pipeline.Close()
	orders := armature.TableOf[Order](pipeline.Client(), "orders")
	var group sync.WaitGroup
	errs := make([]error, len(all))
	for i, order := range all {
		group.Add(1)
		go func() {
			defer group.Done()
			_, errs[i] = orders.Put(ctx, order)
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}

func transfer(ctx context.Context, client *armature.Client) error {
	fee := armature.Params{"fee": 5}
	tx := client.Transaction()
	tx.Update("accounts", armature.Key{"id": "ann"}, armature.Expr("SET balance = balance - $fee", fee),
		armature.If(armature.Expr("balance >= $fee", fee)), armature.ReturnItemOnFailure())
	tx.Update("accounts", armature.Key{"id": "bank"}, armature.Expr("SET balance = balance + $fee", fee))
	err := tx.Commit(ctx)
	var cancelled *armature.TransactionCanceledError
	if errors.As(err, &cancelled) {
		fmt.Println(cancelled.Reasons[0].Code, cancelled.Reasons[0].Item())
	}
	return err
}

func watch(ctx context.Context, orders *armature.Table[Order], position string, handle func(*armature.Change[Order])) error {
	for change, err := range orders.Watch(ctx, armature.After(position)) {
		if err != nil {
			return err
		}
		handle(change)
		position = change.Sequence
	}
	return fmt.Errorf("ended at %s", position)
}

func react(ctx context.Context, orders *armature.Table[Order], order Order) error {
	_, err := orders.Put(ctx, order, armature.If(armature.Attr("customer").NotExists()), armature.ReturnItemOnFailure())
	var failed *armature.ConditionFailedError
	var unknown *armature.OutcomeUnknownError
	switch {
	case errors.As(err, &failed):
		fmt.Println("there is one already:", failed.Item())
	case errors.Is(err, armature.ErrResourceNotFound):
		fmt.Println("no such table")
	case errors.As(err, &unknown):
		fmt.Println("written or not:", unknown.Err)
	case err != nil:
		return err
	}
	return err
}

func secure(secret string) (*armature.Client, error) {
	client, err := armature.Open("db.example.org:7700",
		armature.WithTLSFiles("ca.pem", "client.pem", "client.key"),
		armature.WithAccessKey("AKSHOP", secret))
	return client, err
}

func TestOrders(t *testing.T) {
	client := armaturetest.Start(t).Client()
	orders := armature.TableOf[Order](client, "orders")
	ctx := context.Background()
	err := client.CreateTable(ctx, armature.TableSchema{
		Name:      "orders",
		Partition: armature.StringKey("customer"),
		Sort:      armature.NumberKey("number"),
		Global: []armature.GlobalIndex{{
			Name:      "by_status",
			Partition: []armature.KeyAttribute{armature.StringKey("status")},
			Sort:      []armature.KeyAttribute{armature.NumberKey("total")},
		}},
		Stream:     apiv1.StreamViewType_STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES,
		TimeToLive: "expires",
	})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	check(client.CreateTable(ctx, armature.TableSchema{Name: "accounts", Partition: armature.StringKey("id")}))
	check(client.CreateTable(ctx, armature.TableSchema{
		Name: "events", Partition: armature.StringKey("day"), Sort: armature.NumberKey("at"),
	}))

	check(putAndGet(ctx, client))
	written, err := updateByText(ctx, orders)
	if check(err); written.Item.Status != "sent" || written.Item.Total != "24.8" {
		t.Errorf("%+v", written.Item)
	}
	if _, err := updateBuilt(ctx, orders); !errors.Is(err, armature.ErrConditionFailed) {
		t.Errorf("%v", err)
	}
	check(query(ctx, orders))
	var open []Order
	check(readYourWrites(ctx, client, &open))
	if len(open) != 1 || open[0].Customer != "bob" {
		t.Errorf("%v", open)
	}

	var all []Order
	for i := range 60 {
		all = append(all, Order{Customer: "cid", Number: i, Total: "1"})
	}
	check(batch(ctx, client, all))
	check(pipelined(ctx, client, all))
	count, err := orders.Count(ctx, armature.Attr("customer").Eq("cid"))
	if check(err); count != len(all) {
		t.Errorf("%d orders", count)
	}

	accounts := client.Table("accounts")
	for id, balance := range map[string]int{"ann": 7, "bank": 0} {
		_, err = accounts.Put(ctx, armature.Item{"id": id, "balance": balance})
		check(err)
	}
	check(transfer(ctx, client))
	if err := transfer(ctx, client); !errors.Is(err, armature.ErrTransactionCanceled) {
		t.Errorf("%v", err)
	}

	for i := range 20 {
		_, err = client.Table("events").Put(ctx, armature.Item{"day": fmt.Sprintf("2024-10-01.%d", i%10+1), "at": i})
		check(err)
	}
	events, err := shardedQuery(ctx, client.Table("events"))
	if check(err); len(events) != 20 || events[11] != "11" {
		t.Errorf("%v", events)
	}
	if err := react(ctx, orders, all[0]); !errors.Is(err, armature.ErrConditionFailed) {
		t.Errorf("%v", err)
	}
	follow(t, client)
}

// follow watches from the oldest change on, stops, and continues behind it.
func follow(t *testing.T, client *armature.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	orders := armature.TableOf[Order](client, "orders")
	var first string
	for change, err := range orders.Watch(ctx, armature.FromOldest()) {
		if err != nil {
			t.Fatal(err)
		}
		if change.Event != armature.EventInsert || change.New.Total != "19.9" || change.HasOld {
			t.Errorf("%+v", change)
		}
		first = change.Sequence
		break
	}
	var second string
	err := watch(ctx, orders, first, func(change *armature.Change[Order]) {
		second = change.Sequence
		cancel()
	})
	if !errors.Is(err, context.Canceled) || second == "" || second == first {
		t.Errorf("%v, position %s after %s", err, second, first)
	}
}

func TestThePageHasTheCodeOfThisFile(t *testing.T) {
	page, err := os.ReadFile("../../docs/develop/clients/go.md")
	if err != nil {
		t.Skip("the page is not part of the module: ", err)
	}
	var code string
	for _, file := range []string{"docs_test.go", filepath.Join("armatureotel", "otel_test.go")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Skip(err)
		}
		code += unindented(string(text))
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(code, unindented(block)) {
			t.Errorf("not executed:\n%s", block)
		}
	}
	if len(blocks) < 10 {
		t.Errorf("%d blocks", len(blocks))
	}
}

func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// TestTheProgramsOfThePageEndWithoutADaemon calls what the page does with addresses of its own.
func TestTheProgramsOfThePageEndWithoutADaemon(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := fiveMinutes(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := secure("secret"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
