//! Which request runs now, which waits, which is refused: the cost of a request is unknown before
//! it runs.
//!
//! A request begins in the fast pool. After 2 ms of work it has to have one of the few slots of the
//! slow pool, for which it waits, in a queue that is fair between clients; so a quick request never
//! stands behind slow ones. There it computes in turns of 20 ms, and between two of them those go
//! first that have computed for less; so a slow request never stands behind one of minutes. A
//! request whose like was slow before begins in the slow pool's queue at once. Whoever would wait
//! too long is refused at once.
//!
//! Requests compute on threads of their own, but for those whose like were quick lately: they stay
//! on the thread that has read them. One that is slow nevertheless, or is about to wait, has the
//! runtime move that thread's connections to another thread first.

mod admission_options;
mod likeness;
mod quick;
mod fair_queue;
mod lane;
mod workers;
mod queues;
mod ticket;

pub use admission_options::AdmissionOptions;
pub(super) use likeness::likeness;
pub(super) use queues::Queues;
pub(super) use quick::stay_max;
pub(super) use ticket::{OVERLOADED, Overloaded, RequestedQuery, busy_time, execute};
pub(super) use workers::lower_priority;
