//! Log lines as JSON: one object for each event.
//!
//! Invariants: the message is constant, values are fields; a value that is no number or truth value is text.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;
use trueup_core::engine::text::printable_json;

/// Formats events as JSON objects.
pub struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        let Fields(mut line) = fields;
        line.insert("time".to_owned(), now().to_string().into());
        line.insert("level".to_owned(), metadata.level().as_str().to_lowercase().into());
        line.insert("target".to_owned(), metadata.target().into());
        writeln!(writer, "{}", printable_json(&Value::Object(line).to_string()))
    }
}

#[expect(clippy::disallowed_methods, reason = "a log line has the time at which it is written")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

struct Fields(Map<String, Value>);

impl Fields {
    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn an_event_is_one_object_with_its_fields() {
        let written: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = written.clone();
        let make = move || Sink(sink.clone());
        let subscriber = tracing_subscriber::fmt().event_format(JsonLines).with_writer(make).finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(shard = 3, why = "a \"quoted\"\nline", is_held = true, "acquired Lease");
        });
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let mut line: Value = serde_json::from_str(&text).unwrap();
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
        line["time"] = Value::Null;
        let expected = serde_json::json!({
            "time": null, "level": "info", "target": module_path!(), "message": "acquired Lease",
            "shard": 3, "why": "a \"quoted\"\nline", "is_held": true,
        });
        assert_eq!(line, expected);
    }

    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
