//! The trace that a call belongs to, as the headers of W3C's Trace Context.

use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use tonic::metadata::MetadataMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The trace of a span; none where no tracing layer of OpenTelemetry is installed.
#[derive(Clone, Debug)]
pub(crate) struct TraceContext(Option<SpanContext>);

impl TraceContext {
    /// The trace of the current span.
    pub(crate) fn current() -> Self {
        let context = Span::current().context();
        let span = context.span().span_context().clone();
        Self(span.is_valid().then_some(span))
    }

    /// Adds the headers.
    pub(crate) fn write(&self, headers: &mut MetadataMap) {
        let Some(span) = &self.0 else {
            return;
        };
        // https://www.w3.org/TR/trace-context/#traceparent-header, version 0.
        let parent = format!(
            "00-{}-{}-{:02x}",
            span.trace_id(),
            span.span_id(),
            span.trace_flags().to_u8()
        );
        let state = span.trace_state().header();
        for (name, value) in [("traceparent", parent), ("tracestate", state)] {
            if let (false, Ok(value)) = (value.is_empty(), value.parse()) {
                headers.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};

    use super::*;

    fn headers(context: &TraceContext) -> Vec<(String, String)> {
        let mut headers = MetadataMap::new();
        context.write(&mut headers);
        let text = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        headers.as_ref().iter().map(text).collect()
    }

    #[test]
    fn a_trace_is_written_as_the_standard_says() {
        let state = TraceState::from_key_value([("vendor", "x")]).unwrap();
        let span = SpanContext::new(
            TraceId::from_bytes(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes()),
            SpanId::from_bytes(0x00f0_67aa_0ba9_02b7_u64.to_be_bytes()),
            TraceFlags::SAMPLED,
            false,
            state,
        );
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(
            headers(&TraceContext(Some(span))),
            [
                ("traceparent".to_owned(), parent.to_owned()),
                ("tracestate".to_owned(), "vendor=x".to_owned())
            ]
        );
    }

    #[test]
    fn without_a_trace_there_are_no_headers() {
        assert_eq!(headers(&TraceContext::current()), []);
    }
}
