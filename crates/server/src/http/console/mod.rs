//! The console: the page at `/`, GraphiQL at `/graphql`, and the files that they load. They are
//! made from `console/` (`make console`), compressed when this crate is built, and part of the
//! program: nothing is read from the disk and nothing comes from another server.
//!
//! The files hold no data, so they need no key. What a page shows comes from the routes that all
//! clients have, under their rules.

mod algorithms;
mod asset;
mod pages;
mod session;

pub(in crate::http) use algorithms::algorithms;
pub(in crate::http) use pages::{
    graphiql, graphiql_script, graphiql_style, index, is_for_graphiql, licenses, script, style,
};
pub(in crate::http) use session::open_session;
