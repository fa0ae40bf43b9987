//! Nothing that happens inside the engine unwinds into a surface.
//!
//! A panic carries its message and not its position, and may come from another thread: one of the
//! pool passes it on to the thread that waits. So a hook records the position of each panic with
//! its message, and the handler looks the message up.

use hexgraph_base::types::{Error, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::panic;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// How many panics are remembered until they are caught. The hook also sees panics of the
/// surrounding program, which nobody requests, so the list has to be bounded.
const NOTED_MAX: usize = 32;

/// The last panics, each with its message and its source location.
static NOTED: Mutex<VecDeque<(String, String)>> = Mutex::new(VecDeque::new());

static HOOK: Once = Once::new();

/// Runs `work` and converts a panic to an error.
///
/// The engine unwinds with an [`Error`] where it meets a damaged block of a mapped file. It
/// publishes changes entire or not at all, so what others see is sound after any panic.
///
/// ```
/// use hexgraph::{db::guarded, types::Error};
///
/// assert!(matches!(guarded::<()>(|| panic!("a fault")), Err(Error::Internal { .. })));
/// ```
///
/// # Errors
///
/// Those of `work`; the one that it unwound with; [`Error::Internal`] for any other panic.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    HOOK.call_once(note_positions);
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(error_of(payload)))
}

fn error_of(payload: Box<dyn Any + Send>) -> Error {
    let payload = match payload.downcast::<Error>() {
        Ok(error) => return *error,
        Err(other) => other,
    };
    let message = text_of(&*payload);
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    // The newest panic of this message is used, since an older one may be one that nobody caught.
    let result = noted.iter().rposition(|(existing, _)| *existing == message);
    let position = result.and_then(|at| noted.remove(at)).map(|(_, position)| position);
    Error::Internal { message, position: position.unwrap_or_default() }
}

/// Installs a panic hook that records the locations of panics, and calls the hook that was
/// installed before.
fn note_positions() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Printing may need seconds; noted last, the position is not pushed out meanwhile.
        before(info);
        let position = info.location().map(ToString::to_string).unwrap_or_default();
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() == NOTED_MAX {
            noted.pop_front();
        }
        noted.push_back((text_of(info.payload()), position));
    }));
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unwound_with_becomes_the_error() {
        let damaged = || Error::Corrupt { path: "p".into(), message: "m".into() };
        let error = guarded::<()>(|| panic::resume_unwind(Box::new(damaged()))).unwrap_err();
        assert_eq!(error.to_string(), "p: m");
        assert_eq!(guarded(|| Ok(1)).unwrap(), 1);
    }

    #[test]
    fn panics_are_reported_with_their_position() {
        let line = line!() + 1;
        let error = guarded::<()>(|| panic!("no {}", "row")).unwrap_err();
        let Error::Internal { message, position } = &error else { panic!("{error:?}") };
        assert_eq!(message, "no row");
        assert!(position.starts_with(&format!("src/db/guard.rs:{line}:")), "{position}");
        let reported = format!("a fault of hexgraph, please report it: no row ({position})");
        assert_eq!(error.to_string(), reported);
    }

    #[test]
    fn panics_of_other_threads_are_reported_with_their_position() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let error = guarded::<()>(|| pool.install(|| panic!("in the pool"))).unwrap_err();
        let Error::Internal { message, position } = error else { panic!("{error:?}") };
        assert_eq!(message, "in the pool");
        assert!(position.starts_with("src/db/guard.rs:"), "{position}");
    }

    #[test]
    fn a_panic_without_a_hook_has_no_position() {
        let error = guarded::<()>(|| panic::resume_unwind(Box::new("why"))).unwrap_err();
        assert_eq!(error.to_string(), "a fault of hexgraph, please report it: why");
    }
}
