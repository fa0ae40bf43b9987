//! Which request runs now, which waits, which is refused: the cost of a request is unknown before
//! it runs.
//!
//! A request begins in the fast pool. After 2 ms of work it has to have one of the few slots of the
//! slow pool, for which it waits, in a queue that is fair between clients; so a quick request never
//! waits for slow ones. The slow pool computes in time slices of 20 ms. After each slice, the
//! requests that have computed for less time go first, so none waits for the end of one that
//! computes for minutes. A request whose like was slow before begins in the slow pool's queue at
//! once. A request that would wait too long is refused at once.
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
