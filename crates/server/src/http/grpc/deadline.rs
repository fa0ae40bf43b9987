//! How long a client waits for its call: the header `grpc-timeout`.

use super::status::{Code, Status};
use axum::http::HeaderMap;
use std::time::Duration;

/// The header.
const TIMEOUT: &str = "grpc-timeout";

/// The most digits of a timeout.
const DIGITS_MAX: usize = 8;

/// Returns the timeout of a call; `None` where its client does not say.
///
/// # Errors
///
/// [`Code::InvalidArgument`] for what is no timeout.
pub(in crate::http) fn timeout_of(headers: &HeaderMap) -> Result<Option<Duration>, Status> {
    let Some(value) = headers.get(TIMEOUT) else { return Ok(None) };
    let read = value.to_str().ok().and_then(duration);
    read.map(Some).ok_or_else(|| {
        let message = format!(
            "the header {TIMEOUT} is {value:?}: write up to {DIGITS_MAX} digits and a unit, H, M, S, m, u or n"
        );
        Status::new(Code::InvalidArgument, message)
    })
}

fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if digits.len() > DIGITS_MAX || !is_number {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts() {
        for (text, want) in [
            ("2H", Some(Duration::from_secs(7200))),
            ("3M", Some(Duration::from_secs(180))),
            ("1S", Some(Duration::from_secs(1))),
            ("250m", Some(Duration::from_millis(250))),
            ("7u", Some(Duration::from_micros(7))),
            ("99999999n", Some(Duration::from_nanos(99_999_999))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3600))),
            ("100000000n", None),
            ("0S", Some(Duration::ZERO)),
            ("S", None),
            ("", None),
            ("1", None),
            ("+1S", None),
            ("1s", None),
            ("1é", None),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
        let mut headers = HeaderMap::new();
        assert_eq!(timeout_of(&headers), Ok(None));
        headers.insert(TIMEOUT, "soon".parse().unwrap());
        let reported = timeout_of(&headers).unwrap_err();
        assert!(
            reported.message.contains("is \"soon\": write up to 8 digits"),
            "{}",
            reported.message
        );
    }
}
