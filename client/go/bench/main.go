//go:build unix

// The command bench compares the processor time of the client with that of the generated stub, in one run:
//
//	ARMATURED=path/to/armatured go run ./bench
//
// "stub" sends a request that is made once and ignores the answer; "by hand" also makes the request from a struct and
// reads the answer into one, which the client does. Rounds of all three alternate, so that a change of the machine's
// speed concerns all of them. Times are user and system time of this process, which has no part of the daemon.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/apiv1"
	"github.com/armaturedb/armature/client/go/armaturetest"
)

const (
	rounds   = 9
	pageSize = 100
)

// Record is an item of the benchmark: about 200 bytes.
type Record struct {
	ID     string  `armature:"id"`
	At     int64   `armature:"at"`
	Name   string  `armature:"name"`
	Text   string  `armature:"text"`
	Active bool    `armature:"active"`
	Score  float64 `armature:"score"`
	Count  int     `armature:"count"`
	Data   []byte  `armature:"data"`
}

func recordOf(at int) Record {
	return Record{
		ID: "partition", At: int64(at), Name: "name of the record", Text: "a text of some fifty characters, as texts are",
		Active: true, Score: 12.5, Count: at * 3, Data: make([]byte, 32),
	}
}

// itemOf is what a program writes by hand.
func itemOf(r Record) *apiv1.Item {
	s := func(s string) *apiv1.AttributeValue {
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_S{S: s}}
	}
	n := func(n string) *apiv1.AttributeValue {
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_N{N: n}}
	}
	return &apiv1.Item{Attributes: map[string]*apiv1.AttributeValue{
		"id": s(r.ID), "at": n(strconv.FormatInt(r.At, 10)), "name": s(r.Name), "text": s(r.Text),
		"active": {Value: &apiv1.AttributeValue_Bool{Bool: r.Active}},
		"score":  n(strconv.FormatFloat(r.Score, 'g', -1, 64)), "count": n(strconv.Itoa(r.Count)),
		"data": {Value: &apiv1.AttributeValue_B{B: r.Data}},
	}}
}

func recordIn(item *apiv1.Item) (r Record) {
	a := item.GetAttributes()
	r.ID, r.Name, r.Text = a["id"].GetS(), a["name"].GetS(), a["text"].GetS()
	r.At, _ = strconv.ParseInt(a["at"].GetN(), 10, 64)
	r.Score, _ = strconv.ParseFloat(a["score"].GetN(), 64)
	r.Count, _ = strconv.Atoi(a["count"].GetN())
	r.Active, r.Data = a["active"].GetBool(), a["data"].GetB()
	return r
}

func keyOf(at int) *apiv1.Item {
	return &apiv1.Item{Attributes: map[string]*apiv1.AttributeValue{
		"id": {Value: &apiv1.AttributeValue_S{S: "partition"}},
		"at": {Value: &apiv1.AttributeValue_N{N: strconv.Itoa(at)}},
	}}
}

// work is one operation in its three forms.
type work struct {
	name                 string
	calls                int
	stub, byHand, client func(i int)
}

func main() {
	scale := flag.Float64("scale", 1, "factor of the number of calls")
	flag.Parse()
	daemon, err := armaturetest.Run(armaturetest.Options{Args: []string{"--durability=os"}})
	if err != nil {
		log.Fatal(err)
	}
	defer daemon.Close()
	ctx := context.Background()
	client := daemon.Client()
	err = client.CreateTable(ctx, armature.TableSchema{
		Name: "records", Partition: armature.StringKey("id"), Sort: armature.NumberKey("at"),
	})
	if err != nil {
		log.Fatal(err)
	}
	connection, err := grpc.NewClient(daemon.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	writer := client.BatchWriter()
	for i := range pageSize {
		check(writer.Put(ctx, "records", recordOf(i)))
	}
	check(writer.Flush(ctx))
	fmt.Println("| Operation | stub, us | by hand, us | client, us | client / stub | client / by hand |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	for _, w := range works(ctx, apiv1.NewItemServiceClient(connection), armature.TableOf[Record](client, "records")) {
		measure(w, *scale)
	}
	pipeline := client.Pipeline()
	defer pipeline.Close()
	fmt.Println("\n| Puts by 64 goroutines | time of the client, us each | puts a second |\n| --- | --- | --- |")
	concurrent(ctx, "calls", armature.TableOf[Record](client, "records"), *scale)
	concurrent(ctx, "pipeline", armature.TableOf[Record](pipeline.Client(), "records"), *scale)
}

// concurrent prints the cost of puts by many goroutines.
func concurrent(ctx context.Context, name string, records *armature.Table[Record], scale float64) {
	const goroutines = 64
	puts := max(1, int(500*scale))
	var used, taken time.Duration
	for round := range 2 { // the first one warms up
		begin, clock := processorTime(), time.Now()
		var group sync.WaitGroup
		for g := range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				for i := range puts {
					_ = must(records.Put(ctx, recordOf(1000+g*puts+i)))
				}
			}()
		}
		group.Wait()
		if round > 0 {
			used, taken = processorTime()-begin, time.Since(clock)
		}
	}
	count := float64(goroutines * puts)
	fmt.Printf("| %s | %.1f | %.0f |\n", name, float64(used.Nanoseconds())/1000/count, count/taken.Seconds())
}

func works(ctx context.Context, stub apiv1.ItemServiceClient, records *armature.Table[Record]) []work {
	get := &apiv1.GetItemRequest{TableName: "records", Key: keyOf(7)}
	put := &apiv1.PutItemRequest{TableName: "records", Item: itemOf(recordOf(7))}
	expression := "id = :id"
	page := &apiv1.QueryRequest{
		TableName: "records", KeyConditionExpression: &expression,
		ExpressionAttributeValues: map[string]*apiv1.AttributeValue{
			":id": {Value: &apiv1.AttributeValue_S{S: "partition"}},
		},
	}
	return []work{
		{
			name: "get", calls: 2000,
			stub: func(int) { _ = must(stub.GetItem(ctx, get)) },
			byHand: func(i int) {
				got := must(stub.GetItem(ctx, &apiv1.GetItemRequest{TableName: "records", Key: keyOf(i % pageSize)}))
				_ = recordIn(got.GetItem())
			},
			client: func(i int) { _ = must(records.Get(ctx, armature.Key{"id": "partition", "at": i % pageSize})) },
		},
		{
			name: "put", calls: 2000,
			stub: func(int) { _ = must(stub.PutItem(ctx, put)) },
			byHand: func(i int) {
				_ = must(stub.PutItem(ctx, &apiv1.PutItemRequest{TableName: "records", Item: itemOf(recordOf(i % pageSize))}))
			},
			client: func(i int) { _ = must(records.Put(ctx, recordOf(i%pageSize))) },
		},
		{
			name: "page of 100", calls: 300,
			stub: func(int) { _ = must(stub.Query(ctx, page)) },
			byHand: func(int) {
				got := must(stub.Query(ctx, page))
				all := make([]Record, len(got.GetItems()))
				for i, item := range got.GetItems() {
					all[i] = recordIn(item)
				}
			},
			client: func(int) {
				for page, err := range records.QueryPages(ctx, armature.Expr("id = $id", armature.Params{"id": "partition"})) {
					check(err)
					if len(page.Items) != pageSize {
						log.Fatal(len(page.Items))
					}
				}
			},
		},
	}
}

// measure prints the medians of all rounds.
func measure(w work, scale float64) {
	calls := max(1, int(float64(w.calls)*scale))
	forms := []func(int){w.stub, w.byHand, w.client}
	times := make([][]float64, len(forms))
	for round := range rounds + 1 {
		for form, call := range forms {
			begin := processorTime()
			for i := range calls {
				call(i)
			}
			used := processorTime() - begin
			if round > 0 { // the first one warms up
				times[form] = append(times[form], float64(used.Nanoseconds())/1000/float64(calls))
			}
		}
	}
	medians := make([]float64, len(forms))
	for form := range forms {
		slices.Sort(times[form])
		medians[form] = times[form][rounds/2]
	}
	fmt.Printf("| %s | %.1f | %.1f | %.1f | %.2f | %.2f |\n", w.name, medians[0], medians[1], medians[2],
		medians[2]/medians[0], medians[2]/medians[1])
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func must[V any](v V, err error) V {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
