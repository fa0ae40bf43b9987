//! [`SpanOptions`]: the collector that spans are sent to.

use axum::http::Uri;
use hexgraph_base::types::{Error, Result};
use std::ffi::OsString;

/// The path of traces below the address of a collector, by OTLP.
const TRACES: &str = "/v1/traces";

/// The standard variable with the URL for traces, which is used as it is.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/// The standard variable with the URL of a collector.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The standard variables with the protocol, the more specific one first.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// The protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";

/// Where spans are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanOptions {
    /// The URL for traces.
    url: String,
    /// Whether a standard variable names it.
    is_ambient: bool,
}

impl SpanOptions {
    /// Spans are sent to a collector at a URL, to the path `/v1/traces` below it.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for what is no URL of a collector.
    pub fn new(endpoint: &str) -> Result<SpanOptions> {
        checked(endpoint.trim(), "--otlp-endpoint", true)
    }

    /// Reads the standard variables of OpenTelemetry. `None` where they name no collector, or have
    /// traces off. `variable` returns the value of a variable.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the variable, and what is wrong.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<SpanOptions>> {
        let read = |name: &str| {
            let value = variable(name)?.into_string().ok()?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let is_off = read("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"))
            || read("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
        let named = [(TRACES_ENDPOINT, false), (ENDPOINT, true)].into_iter();
        let named = named.filter_map(|(name, is_base)| Some((read(name)?, name, is_base))).next();
        let Some((url, name, is_base)) = named.filter(|_| !is_off) else {
            return Ok(None);
        };
        let options = SpanOptions { is_ambient: true, ..checked(&url, name, is_base)? };
        let protocol = PROTOCOLS.into_iter().find_map(|name| Some((name, read(name)?)));
        match protocol {
            Some((name, protocol)) if protocol != PROTOCOL => {
                let fault = format!("{name}={protocol}: spans are exported by {PROTOCOL} alone");
                let hint =
                    "name a collector for it by --otlp-endpoint, or set OTEL_TRACES_EXPORTER=none";
                Err(Error::query(fault).with_hint(hint))
            }
            _ => Ok(Some(options)),
        }
    }

    /// The URL for traces.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Whether a standard variable names the collector, which may be meant for other programs.
    pub(super) fn is_ambient(&self) -> bool {
        self.is_ambient
    }
}

/// Checks a URL that comes from an option or a variable. The path of traces is added to the URL of
/// a collector.
fn checked(url: &str, name: &str, is_base: bool) -> Result<SpanOptions> {
    let uri = url.parse::<Uri>().unwrap_or_default();
    let has_secret = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if has_secret {
        let fault = format!("{name}: the URL contains a user or a password");
        return Err(Error::query(fault).with_hint("set OTEL_EXPORTER_OTLP_HEADERS instead"));
    }
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !is_http || uri.host().is_none_or(str::is_empty) || uri.query().is_some() {
        // A query may be a key.
        let shown = url.split('?').next().unwrap_or_default();
        let fault = format!("{name} {shown}: it is no URL of a collector");
        return Err(Error::query(fault).with_hint("write it as http://localhost:4318"));
    }
    let url = match is_base {
        true => format!("{}{TRACES}", url.trim_end_matches('/').trim_end_matches(TRACES)),
        false => url.to_owned(),
    };
    Ok(SpanOptions { url, is_ambient: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_that_of_a_collector() {
        for (given, url) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            (" https://c.example/otlp/ ", "https://c.example/otlp/v1/traces"),
            ("http://[::1]:4318/v1/traces", "http://[::1]:4318/v1/traces"),
        ] {
            assert_eq!(SpanOptions::new(given).unwrap().url(), url);
        }
        for wrong in ["", "localhost:4318", "ftp://c", "http://", "http://c?key=x", "/v1/traces"] {
            let error = SpanOptions::new(wrong).unwrap_err().to_string();
            assert!(error.contains("--otlp-endpoint") && error.contains("http://localhost:4318"));
        }
        let error = SpanOptions::new("http://me:hunter2@c").unwrap_err().to_string();
        assert!(error.contains("OTEL_EXPORTER_OTLP_HEADERS") && !error.contains("hunter2"));
    }

    #[test]
    fn standard_variables_name_a_collector() {
        let read = |set: &[(&str, &str)]| {
            SpanOptions::of_environment(|name| {
                let value = set.iter().find(|(it, _)| *it == name)?.1;
                Some(OsString::from(value))
            })
            .map(|options| options.map(|options| options.url().to_owned()))
            .map_err(|error| error.to_string())
        };
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:4318/any");
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), Ok(None));
        assert_eq!(read(&[base]).unwrap().unwrap(), "http://c:4318/v1/traces");
        assert_eq!(read(&[base, traces]).unwrap().unwrap(), "http://t:4318/any");
        assert_eq!(read(&[base, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
        assert_eq!(read(&[base, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
        let grpc = read(&[base, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).unwrap_err();
        assert!(grpc.contains("OTEL_EXPORTER_OTLP_PROTOCOL=grpc"), "{grpc}");
        let wrong = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318")]).unwrap_err();
        assert!(wrong.contains("OTEL_EXPORTER_OTLP_ENDPOINT c:4318"), "{wrong}");
    }
}
