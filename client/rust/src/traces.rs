//! Observers for the crates `tracing` and `opentelemetry`.
#[cfg(any(feature = "tracing", feature = "opentelemetry"))]
use crate::observer::{error_type, Call, CallResult, Observation, Observer};

/// Makes a span of the crate `tracing` for each call, such as "PutItem users", with the attributes that OpenTelemetry names for
/// databases: [`ClientBuilder::observer`](crate::ClientBuilder::observer).
#[cfg(feature = "tracing")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

#[cfg(feature = "tracing")]
impl Observer for Tracing {
    fn begin(&self, call: &Call<'_>) -> Box<dyn Observation> {
        let name = span_name(call);
        let span = tracing::info_span!(
            "armature",
            otel.name = name,
            otel.kind = "client",
            otel.status_code = tracing::field::Empty,
            db.system.name = "armature",
            db.operation.name = call.operation,
            db.collection.name = call.table,
            error.r#type = tracing::field::Empty,
            armature.attempts = tracing::field::Empty,
        );
        Box::new(TracingSpan(span))
    }
}

#[cfg(feature = "tracing")]
struct TracingSpan(tracing::Span);

#[cfg(feature = "tracing")]
impl Observation for TracingSpan {
    fn end(self: Box<Self>, result: &CallResult<'_>) {
        self.0.record("armature.attempts", result.attempts);
        if let Some(error) = result.error {
            self.0.record("error.type", error_type(error));
            self.0.record("otel.status_code", "ERROR");
            self.0.in_scope(|| tracing::debug!(%error, "the call has failed"));
        }
    }
}

#[cfg(any(feature = "tracing", feature = "opentelemetry"))]
fn span_name(call: &Call<'_>) -> String {
    call.table.map_or_else(|| call.operation.to_owned(), |table| format!("{} {table}", call.operation))
}

/// Makes a span of OpenTelemetry and a measurement of the histogram `db.client.operation.duration` for each call, by the conventions
/// for databases, and sends the context of the span to the daemon. It uses the global providers:
/// [`ClientBuilder::observer`](crate::ClientBuilder::observer).
#[cfg(feature = "opentelemetry")]
#[derive(Debug)]
pub struct OpenTelemetry {
    duration: opentelemetry::metrics::Histogram<f64>,
}

#[cfg(feature = "opentelemetry")]
mod otel {
    use std::time::Instant;

    use opentelemetry::propagation::Injector;
    use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer};
    use opentelemetry::{global, Context, KeyValue};
    use tonic::metadata::{MetadataKey, MetadataMap};

    use super::*;

    const SCOPE: &str = "armature-client";
    /// Upper bounds of the histogram, in seconds.
    const BOUNDARIES: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0];

    impl OpenTelemetry {
        /// An observer that uses the global providers of this moment.
        pub fn new() -> Self {
            let meter = global::meter(SCOPE);
            let duration = meter
                .f64_histogram("db.client.operation.duration")
                .with_unit("s")
                .with_description("Duration of calls, with all their attempts.")
                .with_boundaries(BOUNDARIES.to_vec())
                .build();
            Self { duration }
        }
    }

    impl Default for OpenTelemetry {
        fn default() -> Self {
            Self::new()
        }
    }

    impl Observer for OpenTelemetry {
        fn begin(&self, call: &Call<'_>) -> Box<dyn Observation> {
            let mut attributes =
                vec![KeyValue::new("db.system.name", "armature"), KeyValue::new("db.operation.name", call.operation)];
            if let Some(table) = call.table {
                attributes.push(KeyValue::new("db.collection.name", table.to_owned()));
            }
            let tracer = global::tracer(SCOPE);
            let builder = tracer.span_builder(span_name(call)).with_kind(SpanKind::Client);
            let span = tracer.build(builder.with_attributes(attributes.clone()));
            Box::new(OtelCall {
                context: Context::current_with_span(span),
                duration: self.duration.clone(),
                attributes,
                begin: Instant::now(),
            })
        }
    }

    struct OtelCall {
        context: Context,
        duration: opentelemetry::metrics::Histogram<f64>,
        attributes: Vec<KeyValue>,
        begin: Instant,
    }

    impl Observation for OtelCall {
        fn propagate(&self, metadata: &mut MetadataMap) {
            global::get_text_map_propagator(|propagator| {
                propagator.inject_context(&self.context, &mut Metadata(metadata));
            });
        }

        fn end(mut self: Box<Self>, result: &CallResult<'_>) {
            let span = self.context.span();
            if result.attempts > 1 {
                span.set_attribute(KeyValue::new("armature.attempts", i64::from(result.attempts)));
            }
            if let Some(error) = result.error {
                let kind = KeyValue::new("error.type", error_type(error));
                span.set_attribute(kind.clone());
                self.attributes.push(kind);
                if let Some(call) = error.call() {
                    span.set_attribute(KeyValue::new("db.response.status_code", (call.code as i32).to_string()));
                }
                span.set_status(Status::error(error.to_string()));
            }
            self.duration.record(self.begin.elapsed().as_secs_f64(), &self.attributes);
            span.end();
        }
    }

    struct Metadata<'a>(&'a mut MetadataMap);

    impl Injector for Metadata<'_> {
        fn set(&mut self, key: &str, value: String) {
            if let (Ok(key), Ok(value)) = (MetadataKey::from_bytes(key.as_bytes()), value.parse()) {
                self.0.insert(key, value);
            }
        }
    }
}
