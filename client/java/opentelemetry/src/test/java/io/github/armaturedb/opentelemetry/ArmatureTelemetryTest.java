package io.github.armaturedb.opentelemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.RetryPolicy;
import io.github.armaturedb.client.exception.UnavailableException;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ArmatureTelemetryTest {
    @RegisterExtension
    static final OpenTelemetryExtension TELEMETRY = OpenTelemetryExtension.create();

    @Test
    void aFailedCallIsASpanAndAMeasurement() {
        ArmatureTelemetry observer = ArmatureTelemetry.create(TELEMETRY.getOpenTelemetry());
        Span outer = TELEMETRY.getOpenTelemetry().getTracer("test").spanBuilder("outer").startSpan();
        try (ArmatureClient client = ArmatureClient.builder("127.0.0.1:1").retry(RetryPolicy.NONE).observer(observer).build();
                io.opentelemetry.context.Scope scope = outer.makeCurrent()) {
            assertEquals(outer, Span.current(), () -> "scope " + scope);
            assertThrows(UnavailableException.class, () -> client.table("users").get(Map.of("id", "ann")));
        }
        SpanData span = TELEMETRY.getSpans().get(0);
        assertEquals("GetItem users", span.getName());
        assertEquals(outer.getSpanContext().getSpanId(), span.getParentSpanId());
        assertEquals(StatusData.error().getStatusCode(), span.getStatus().getStatusCode());
        assertEquals("UNAVAILABLE", span.getAttributes().get(AttributeKey.stringKey("error.type")));
        assertEquals("db.client.operation.duration", TELEMETRY.getMetrics().get(0).getName());
    }
}
