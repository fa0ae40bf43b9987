//! One query that is answered many times, with other values of its variables, always from the same
//! version.

use super::answer::{QueryAnswer, RequestedQuery};
use super::plans::Variables;
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::types::{Error, Result};
use hexgraph_dql::Document;
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Version;
use std::sync::Arc;

/// A query that was parsed once, and the version that all its answers come from.
pub struct PreparedQuery {
    database: Database,
    version: Arc<Version>,
    text: String,
    document: Document,
}

/// # Prepared queries
impl Database {
    /// Parses a query that is answered many times, all of them from the version that is newest now.
    ///
    /// ```
    /// use hexgraph::db::{Database, ParameterValue, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let prepared = db.prepare_query("query q($a: string) { q(func: uid($a)) { name } }")?;
    /// let variables = Variables::from([("$a".to_owned(), ParameterValue::from("0x1"))]);
    /// let answer = prepared.query(&variables)?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::prepare_query_with`].
    pub fn prepare_query(&self, text: &str) -> Result<PreparedQuery> {
        self.prepare_query_with(text, &RequestContext::new())
    }

    /// As [`Database::prepare_query`]. The memory for parsing is reserved for `context`, which can
    /// stop it.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let error = db.prepare_query_with("{ q(func: ", &RequestContext::new()).err().unwrap();
    /// assert!(matches!(error, hexgraph::types::Error::Syntax { .. }));
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax` for a text that can't be parsed, `Limit` for one that is too long, `Closed`.
    pub fn prepare_query_with(
        &self,
        text: &str,
        context: &RequestContext,
    ) -> Result<PreparedQuery> {
        self.prepared_query_of(self.version()?, text, context)
    }

    /// As [`Database::prepare_query`], from a given version.
    pub(in crate::db) fn prepared_query_of(
        &self,
        version: Arc<Version>,
        text: &str,
        context: &RequestContext,
    ) -> Result<PreparedQuery> {
        self.prepare(context);
        let document = guarded(|| self.document(text, context))?;
        Ok(PreparedQuery { database: self.clone(), version, text: text.to_owned(), document })
    }
}

impl PreparedQuery {
    /// Checks that the caller is still authenticated: a prepared query may be used for longer than
    /// a token or a key is valid.
    ///
    /// ```
    /// use hexgraph::db::{Database, access::{KeyRole, NewKey}};
    ///
    /// let db = Database::in_memory();
    /// let new = NewKey { name: "dashboard", role: KeyRole::ReadOnly, lifetime: None };
    /// let (key, secret) = db.create_key(&new)?;
    /// let client = db.for_secrets(Some(secret.reveal()), None);
    /// let prepared = client.prepare_query("{ q(func: has(name)) { name } }")?;
    /// prepared.check_caller()?;
    /// db.revoke_key(&key.id)?;
    /// assert!(prepared.check_caller().is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Access` when a token has ended, a key was revoked, or a user was deleted since the last
    /// answer; as [`Database::query`].
    pub fn check_caller(&self) -> Result<()> {
        self.database.check_existing()
    }

    /// Answers the query with the values of a row of arguments, which are columns of a table. A row
    /// that lacks one is refused, where [`PreparedQuery::query`] takes an empty text for it: a
    /// table's gap means none of the nodes whose key is empty. So is a column that no variable is
    /// declared for.
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`].
    pub(super) fn query_row(
        &self,
        row: &Variables,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        if let Some((name, declared)) = self.document.undeclared(row) {
            return Err(no_variable(name, &declared));
        }
        if let Some(name) = self.document.missing(row) {
            let error = Error::query(format!("variable {name} has no value"));
            return Err(
                error.with_hint("leave the row out, or write a default behind the variable's type")
            );
        }
        self.query_with(row, context)
    }

    /// Answers the query with some values of its variables.
    ///
    /// ```
    /// use hexgraph::db::{Database, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let prepared = db.prepare_query("{ q(func: has(name)) { name } }")?;
    /// // All answers are of the version that was newest when the query was parsed.
    /// db.mutate("<2> <name> \"Bob\" .", "")?;
    /// assert_eq!(prepared.query(&Variables::new())?.row_count()?, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PreparedQuery::query_with`].
    pub fn query(&self, variables: &Variables) -> Result<QueryAnswer> {
        self.query_with(variables, &RequestContext::new())
    }

    /// As [`PreparedQuery::query`], until `context` stops it.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// let prepared = db.prepare_query("{ q(func: has(name)) { name } }")?;
    /// let context = RequestContext::new();
    /// context.canceller().cancel();
    /// assert!(prepared.query_with(&Variables::new(), &context).is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`].
    pub fn query_with(
        &self,
        variables: &Variables,
        context: &RequestContext,
    ) -> Result<QueryAnswer> {
        let requested = RequestedQuery { text: &self.text, variables, debug: false };
        let plan = || Ok(Arc::new(self.document.plan(variables)?));
        self.database.query_planned(Arc::clone(&self.version), requested, plan, context)
    }
}

/// The error for a column of a table that the query has no variable for.
fn no_variable(name: &str, declared: &[&str]) -> Error {
    let column = name.trim_start_matches('$');
    let hint = match declared {
        [] => format!(
            "leave the column out, or declare it: `query name(${column}: string) {{ ... }}`"
        ),
        _ => {
            let declared = declared.join(", ");
            format!(
                "it declares {declared}: leave the column out, rename it, or declare `${column}: string`"
            )
        }
    };
    Error::query(format!("column {column:?} of the table has no variable in the query"))
        .with_hint(hint)
}
