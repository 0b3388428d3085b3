// Package armatureotel makes traces and metrics of OpenTelemetry for the calls of a client.
//
//	client, err := armature.Open("localhost:7700", armatureotel.Instrument())
//
// Each call has a span, such as "PutItem users", and a measurement of the histogram db.client.operation.duration, by the
// semantic conventions for databases. Each attempt is a span of the contributed library for gRPC beneath it, and the
// daemon gets its trace context.
package armatureotel

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	armature "github.com/armaturedb/armature/client/go"
)

const scope = "github.com/armaturedb/armature/client/go/armatureotel"

// Option is a setting of Instrument.
type Option func(*config)

type config struct {
	traces      trace.TracerProvider
	metrics     metric.MeterProvider
	propagators propagation.TextMapPropagator
}

// WithTracerProvider replaces the global provider of traces.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(c *config) { c.traces = provider }
}

// WithMeterProvider replaces the global provider of metrics.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(c *config) { c.metrics = provider }
}

// WithPropagators replaces the global propagators.
func WithPropagators(propagators propagation.TextMapPropagator) Option {
	return func(c *config) { c.propagators = propagators }
}

// Instrument is an option of armature.Open.
func Instrument(options ...Option) armature.Option {
	c := &config{
		traces: otel.GetTracerProvider(), metrics: otel.GetMeterProvider(), propagators: otel.GetTextMapPropagator(),
	}
	for _, option := range options {
		option(c)
	}
	// A histogram that cannot be made is one that records nothing.
	duration, err := c.metrics.Meter(scope).Float64Histogram("db.client.operation.duration",
		metric.WithUnit("s"), metric.WithDescription("Duration of calls, with all their attempts."),
		metric.WithExplicitBucketBoundaries(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10))
	if err != nil {
		otel.Handle(err)
	}
	attempts := grpc.WithStatsHandler(otelgrpc.NewClientHandler(
		otelgrpc.WithTracerProvider(c.traces), otelgrpc.WithMeterProvider(c.metrics), otelgrpc.WithPropagators(c.propagators)))
	return armature.Options(
		armature.WithObserver(&observer{tracer: c.traces.Tracer(scope), duration: duration}),
		armature.WithDialOptions(attempts),
	)
}

// observer makes the spans and measurements of calls.
type observer struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
}

// BeginCall begins the span of a call.
func (o *observer) BeginCall(ctx context.Context, call armature.Call) (context.Context, func(armature.CallResult)) {
	begin := time.Now()
	name := call.Operation
	attributes := []attribute.KeyValue{
		attribute.String("db.system.name", "armature"), attribute.String("db.operation.name", call.Operation),
	}
	if call.Table != "" {
		name += " " + call.Table
		attributes = append(attributes, attribute.String("db.collection.name", call.Table))
	}
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, func(result armature.CallResult) {
		defer span.End()
		if result.Attempts > 1 {
			span.SetAttributes(attribute.Int("armature.attempts", result.Attempts))
		}
		if result.Err != nil {
			kind := errorType(result.Err)
			attributes = append(attributes, attribute.String("error.type", kind))
			span.SetAttributes(attribute.String("error.type", kind),
				attribute.String("db.response.status_code", strconv.Itoa(int(status.Code(result.Err)))))
			span.SetStatus(codes.Error, result.Err.Error())
		}
		o.duration.Record(ctx, time.Since(begin).Seconds(), metric.WithAttributes(attributes...))
	}
}

// errorType returns the exception, or the code of gRPC.
func errorType(err error) string {
	if exception := armature.ExceptionOf(err); exception != "" {
		return string(exception)
	}
	return status.Code(err).String()
}
