package io.github.armaturedb.opentelemetry;

import io.github.armaturedb.client.CallObserver;
import io.github.armaturedb.client.exception.ArmatureException;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Spans and a histogram of the calls of a client, by the semantic conventions for databases:
 *
 * <pre>{@code
 * ArmatureClient.builder("localhost:7700").observer(ArmatureTelemetry.create()).build()
 * }</pre>
 *
 * <p>A span is a call with all its attempts, a child of the span of the thread that makes the call.
 */
public final class ArmatureTelemetry implements CallObserver {
    private static final String SCOPE = "io.github.armaturedb.client";
    private static final List<Double> SECONDS =
            List.of(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0);

    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("db.system.name");
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("db.operation.name");
    private static final AttributeKey<String> COLLECTION = AttributeKey.stringKey("db.collection.name");
    private static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");
    private static final AttributeKey<String> STATUS = AttributeKey.stringKey("db.response.status_code");
    private static final AttributeKey<Long> ATTEMPTS = AttributeKey.longKey("armature.attempts");

    private final Tracer tracer;
    private final DoubleHistogram duration;

    private ArmatureTelemetry(OpenTelemetry telemetry) {
        tracer = telemetry.getTracer(SCOPE);
        duration = telemetry.getMeter(SCOPE)
                .histogramBuilder("db.client.operation.duration")
                .setUnit("s")
                .setDescription("Duration of calls, with all their attempts.")
                .setExplicitBucketBoundariesAdvice(SECONDS)
                .build();
    }

    /** With the global providers. */
    public static ArmatureTelemetry create() {
        return create(GlobalOpenTelemetry.get());
    }

    /** With other providers. */
    public static ArmatureTelemetry create(OpenTelemetry telemetry) {
        return new ArmatureTelemetry(telemetry);
    }

    @Override
    public Observed begin(String operation, String table) {
        long begin = System.nanoTime();
        AttributesBuilder attributes = Attributes.builder().put(SYSTEM, "armature").put(OPERATION, operation);
        if (!table.isEmpty()) {
            attributes.put(COLLECTION, table);
        }
        Context context = Context.current();
        Span span = tracer.spanBuilder(table.isEmpty() ? operation : operation + " " + table)
                .setSpanKind(SpanKind.CLIENT)
                .setAllAttributes(attributes.build())
                .startSpan();
        return (attempts, failure) -> {
            if (attempts > 1) {
                span.setAttribute(ATTEMPTS, attempts);
            }
            if (failure != null) {
                String type = failure.getClass().getSimpleName();
                if (failure instanceof ArmatureException e) {
                    type = e.exception().isEmpty() ? e.code().name() : e.exception();
                    span.setAttribute(STATUS, Integer.toString(e.code().value()));
                }
                attributes.put(ERROR_TYPE, type);
                span.setAttribute(ERROR_TYPE, type);
                span.setStatus(StatusCode.ERROR, String.valueOf(failure.getMessage()));
            }
            duration.record((System.nanoTime() - begin) / (double) TimeUnit.SECONDS.toNanos(1), attributes.build(), context.with(span));
            span.end();
        };
    }
}
