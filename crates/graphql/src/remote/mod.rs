//! Custom fields: the requests to the servers that answer them, and what the answers mean. This
//! layer makes and reads messages; its caller sends them.

mod message;
mod calls;
mod schema_check;

pub use calls::call::{Call, Sender, worded};
pub use calls::event::{Change, event};
pub use calls::needs::needs;
pub use calls::operation::hidden_key;
pub use calls::reply::{Reply, Report};
pub use message::call_error::CallError;
pub use message::exchange::{Fetch, Incoming, NoFetch, Outgoing, Unanswered};
pub use message::headers::HeaderOf;
pub use message::interpolation::{Values, json_of};
pub use schema_check::survey::survey;
