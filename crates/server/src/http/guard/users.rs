//! The caller, where users have rights: the token of a request, and the mark of a transaction.

use crate::http::guard::keys::{KEY_HEADER, key_of};
use crate::http::message::request_error::RequestError;
use axum::http::HeaderMap;
use hexgraph::db::Database;
use hexgraph::db::graphql::Headers;

/// The headers that hold the token of a login: that of the interface, and those of clients of
/// Dgraph by HTTP and by gRPC.
pub(in crate::http) const TOKEN_HEADERS: [&str; 3] =
    ["x-service-accesstoken", "x-dgraph-accesstoken", "accessjwt"];

/// The database as the bearer of the token in some headers sees it, whatever the role of the key
/// that the server was started with.
pub(in crate::http) fn database_for(database: &Database, headers: &HeaderMap) -> Database {
    let token = TOKEN_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    database.for_secrets(key_of(headers), token)
}

/// The same for headers that came partly over a WebSocket.
pub(in crate::http) fn database_for_subscriber(database: &Database, headers: &Headers) -> Database {
    let token = TOKEN_HEADERS.iter().find_map(|name| headers.get(name));
    database.for_secrets(headers.get(KEY_HEADER), token)
}

/// Checks that a request of the transaction `start` has the mark that the server gave it, where
/// there are users: else anybody could go on with a transaction by its number. 0 means a new
/// transaction.
///
/// # Errors
///
/// [`RequestError::Mark`] when it has not.
pub(in crate::http) fn check_mark(
    database: &Database,
    start: u64,
    mark: &str,
) -> Result<(), RequestError> {
    match database.transaction_mark(start) {
        Some(expected) if start != 0 && expected != mark => Err(RequestError::Mark),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph::db::access::AccessOptions;

    #[test]
    fn marks_of_transactions() {
        let database = Database::in_memory();
        assert_eq!(check_mark(&database, 7, ""), Ok(()), "without users there are none");
        database.enable_access(AccessOptions::new(vec![7; 32])).unwrap();
        let mark = database.transaction_mark(7).unwrap();
        assert_eq!(mark.len(), 64);
        assert_eq!(check_mark(&database, 7, &mark), Ok(()));
        assert_eq!(check_mark(&database, 0, ""), Ok(()), "a new transaction");
        for (start, given) in [(8, mark.as_str()), (7, ""), (7, &mark[1..])] {
            assert_eq!(check_mark(&database, start, given), Err(RequestError::Mark));
        }
    }
}
