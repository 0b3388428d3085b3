//! Spans and measurements of OpenTelemetry.
use std::time::Duration;

use armature_client::{item, Client, Item, OpenTelemetry, Retry};
use opentelemetry::global;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};

#[tokio::test]
async fn calls_have_spans_and_measurements() {
    let spans = InMemorySpanExporter::default();
    let traces = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    global::set_tracer_provider(traces.clone());
    let metrics = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(metrics.clone()).with_interval(Duration::from_secs(3600)).build();
    let meters = SdkMeterProvider::builder().with_reader(reader).build();
    global::set_meter_provider(meters.clone());

    // Nobody listens there.
    let retry = Retry { max_attempts: 2, ..Retry::default() };
    let client = Client::builder("127.0.0.1:1").retry(retry).observer(OpenTelemetry::new()).build().unwrap();
    client.table::<Item>("users").get(item! { "id": "ann" }).await.unwrap_err();

    traces.force_flush().unwrap();
    let spans = spans.get_finished_spans().unwrap();
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].name, "GetItem users");
    let attribute = |name: &str| {
        let found = spans[0].attributes.iter().find(|attribute| attribute.key.as_str() == name);
        found.map(|attribute| attribute.value.to_string())
    };
    assert_eq!(attribute("error.type").as_deref(), Some("Unavailable"));
    assert_eq!(attribute("armature.attempts").as_deref(), Some("2"));
    assert_eq!(attribute("db.collection.name").as_deref(), Some("users"));
    meters.force_flush().unwrap();
    let metrics = format!("{:?}", metrics.get_finished_metrics().unwrap());
    assert!(metrics.contains("db.client.operation.duration"), "{metrics}");
}
