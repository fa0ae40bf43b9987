//! The naive executor: every step looks at every node, nothing is retained but plain maps.

mod state;
mod functions;
mod filter;
mod order;
mod level;
mod facets;
mod expand;
mod cascade;
mod publish;
mod aggregate;
mod math;
mod compute;
mod group;
mod recurse;
mod shortest;
mod root;
mod request;
mod output;
mod normalize;

pub use request::answer;
pub use state::Failure;
