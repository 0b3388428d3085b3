package armatureotel_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/armatureotel"
	"github.com/armaturedb/armature/client/go/armaturetest"
)

// open has the code of docs/develop/clients/go.md.
func open() (*armature.Client, error) {
	client, err := armature.Open("localhost:7700", armatureotel.Instrument())
	return client, err
}

func TestCallsHaveSpansAndMeasurements(t *testing.T) {
	if client, err := open(); err != nil {
		t.Fatal(err)
	} else {
		_ = client.Close()
	}
	spans := tracetest.NewSpanRecorder()
	reader := metric.NewManualReader()
	client := armaturetest.Start(t).Client(armatureotel.Instrument(
		armatureotel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))),
		armatureotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
		armatureotel.WithPropagators(propagation.TraceContext{}),
	))
	ctx := context.Background()
	if _, err := client.Table("missing").Get(ctx, armature.Key{"id": "x"}); err == nil {
		t.Fatal("the table exists")
	}

	ended := spans.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans", len(ended))
	}
	attempt, call := ended[0], ended[1]
	if call.Name() != "GetItem missing" || attempt.Name() != "armature.api.v1.ItemService/GetItem" ||
		attempt.Parent().SpanID() != call.SpanContext().SpanID() {
		t.Errorf("%s, %s", call.Name(), attempt.Name())
	}
	attributes := map[string]string{}
	for _, attribute := range call.Attributes() {
		attributes[string(attribute.Key)] = attribute.Value.Emit()
	}
	if attributes["error.type"] != "ResourceNotFoundException" || attributes["db.collection.name"] != "missing" {
		t.Errorf("%v", attributes)
	}

	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &metrics); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, scope := range metrics.ScopeMetrics {
		for _, one := range scope.Metrics {
			found[one.Name] = true
		}
	}
	if !found["db.client.operation.duration"] || !found["rpc.client.duration"] {
		t.Errorf("%v", found)
	}
}
