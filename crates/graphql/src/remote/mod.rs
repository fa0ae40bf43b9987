//! Fields that other servers answer: the requests to them, and what their answers say. No network is known here.

mod fetch;
mod template;
mod address;
mod needs;
mod operation;
mod call;
mod reply;
mod headers;
mod schema;
mod fit;
mod survey;
mod event;

pub use call::{Call, Sender, worded};
pub use event::{Change, event};
pub use fetch::{Fetch, Incoming, NoFetch, Outgoing, Unanswered};
pub use headers::HeaderOf;
pub use needs::needs;
pub use operation::hidden_key;
pub use reply::{Reply, Told};
pub use survey::survey;
pub use template::{Values, json_of};
