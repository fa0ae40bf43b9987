//! Nothing that happens inside the engine unwinds into a surface.

use crate::types::Error;
use crate::types::Result;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// Runs `work` and turns a panic into an error.
///
/// The engine unwinds with an [`Error`] where it meets a damaged block of a mapped file. It
/// publishes changes whole or not at all, so what others see is sound after any panic.
///
/// # Errors
///
/// Those of `work`; the one that it unwound with; [`Error::Query`] for any other panic.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(error_of(payload)))
}

fn error_of(payload: Box<dyn Any + Send>) -> Error {
    let payload = match payload.downcast::<Error>() {
        Ok(error) => return *error,
        Err(other) => other,
    };
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without a message".to_owned());
    Error::query(format!("internal error, please report it: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        let damaged = || Error::Corrupt { path: "p".into(), message: "m".into() };
        let error = guarded::<()>(|| std::panic::resume_unwind(Box::new(damaged()))).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }));
        let error = guarded::<()>(|| std::panic::resume_unwind(Box::new("why"))).unwrap_err();
        assert_eq!(error.to_string(), "internal error, please report it: why");
        assert_eq!(guarded(|| Ok(1)).unwrap(), 1);
    }
}
