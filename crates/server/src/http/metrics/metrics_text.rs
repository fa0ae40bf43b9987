//! [`MetricsText`]: metrics in the text format of OpenMetrics, which Prometheus reads.

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Metric, Registry, Unit};
use std::fmt;

/// The metrics whose values are read when they are requested.
pub(in crate::http) struct MetricsText {
    registry: Registry,
}

impl MetricsText {
    /// The media type.
    pub(in crate::http) const TYPE: &'static str =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// None yet.
    pub(in crate::http) fn new() -> MetricsText {
        MetricsText { registry: registry() }
    }

    /// Adds a number that goes up and down.
    pub(in crate::http) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.registry.register(name, help, ConstGauge::new(value));
    }

    /// Adds a size in bytes.
    pub(in crate::http) fn bytes(&mut self, name: &str, help: &str, value: u64) {
        self.registry.register_with_unit(name, help, Unit::Bytes, ConstGauge::new(value));
    }

    /// Adds a time that goes up and down, in seconds.
    pub(in crate::http) fn seconds(&mut self, name: &str, help: &str, value: f64) {
        self.registry.register_with_unit(name, help, Unit::Seconds, ConstGauge::new(value));
    }

    /// Adds a number that only grows.
    pub(in crate::http) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.registry.register(name, help, ConstCounter::new(value));
    }

    /// Adds a time that only grows, in seconds.
    pub(in crate::http) fn seconds_counter(&mut self, name: &str, help: &str, value: f64) {
        self.registry.register_with_unit(name, help, Unit::Seconds, ConstCounter::new(value));
    }

    /// Adds numbers that go up and down, one for each value of a label.
    pub(in crate::http) fn gauges<const N: usize>(
        &mut self,
        (name, help): (&str, &str),
        label: &'static str,
        values: [(&'static str, u64); N],
    ) {
        self.registry.register(name, help, labelled(label, values));
    }

    /// Adds sizes in bytes, one for each value of a label.
    pub(in crate::http) fn bytes_by<const N: usize>(
        &mut self,
        (name, help): (&str, &str),
        label: &'static str,
        values: [(&'static str, u64); N],
    ) {
        self.registry.register_with_unit(name, help, Unit::Bytes, labelled(label, values));
    }

    /// The text of `counted` and of these metrics.
    ///
    /// # Errors
    ///
    /// A text takes everything, so there are none.
    pub(super) fn write(self, counted: &Registry) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, counted)?;
        encode_registry(&mut text, &self.registry)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// An empty registry for the metrics of hexgraph.
pub(super) fn registry() -> Registry {
    Registry::with_prefix("hexgraph")
}

fn labelled<const N: usize>(label: &'static str, values: [(&'static str, u64); N]) -> impl Metric {
    let family = Family::<[(&'static str, &'static str); 1], Gauge>::default();
    for (name, value) in values {
        family.get_or_create(&[(label, name)]).set(i64::try_from(value).unwrap_or(i64::MAX));
    }
    family
}
