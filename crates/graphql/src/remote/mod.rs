//! Fields that other servers answer: the requests to them, and what their answers say. No network is known here.

mod message;
mod calls;
mod schema_check;

pub use calls::call::{Call, Sender, worded};
pub use calls::event::{Change, event};
pub use calls::needs::needs;
pub use calls::operation::hidden_key;
pub use calls::reply::{Reply, Told};
pub use message::call_error::CallError;
pub use message::exchange::{Fetch, Incoming, NoFetch, Outgoing, Unanswered};
pub use message::headers::HeaderOf;
pub use message::interpolation::{Values, json_of};
pub use schema_check::survey::survey;
