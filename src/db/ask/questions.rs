//! One query that is asked many times, with other values of its variables, always from the same version.

use super::plans::Variables;
use super::query::{Asked, QueryAnswer};
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::types::{Error, Result};
use hexgraph_dql::Document;
use hexgraph_store::exec::Control as RequestContext;
use hexgraph_store::graph::Version;
use std::sync::Arc;

/// A query that was parsed once, and the version that all its answers come from.
pub struct Questions {
    database: Database,
    version: Arc<Version>,
    text: String,
    document: Document,
}

impl Database {
    /// Parses a query that is answered many times, all of them from the version that is newest now.
    ///
    /// # Errors
    ///
    /// As [`Database::questions_with`].
    pub fn questions(&self, text: &str) -> Result<Questions> {
        self.questions_with(text, &RequestContext::new())
    }

    /// A query in DQL that is to be asked many times, from the newest version. The memory for parsing it is drawn for `context`.
    ///
    /// # Errors
    ///
    /// `Syntax` for a text that can't be parsed, `Limit` for one that is too long, `Closed`.
    pub fn questions_with(&self, text: &str, context: &RequestContext) -> Result<Questions> {
        self.questions_of(self.version()?, text, context)
    }

    /// As [`Database::questions`], from a given version.
    pub(in crate::db) fn questions_of(
        &self,
        version: Arc<Version>,
        text: &str,
        context: &RequestContext,
    ) -> Result<Questions> {
        self.prepare(context);
        let document = guarded(|| self.document(text, context))?;
        Ok(Questions { database: self.clone(), version, text: text.to_owned(), document })
    }
}

impl Questions {
    /// Checks that who asks is still known: the questions may go on for longer than a token or a key holds.
    ///
    /// # Errors
    ///
    /// `Access` when a token has ended, a key was revoked, or a user was deleted since the last answer; as [`Database::query`].
    pub fn check_caller(&self) -> Result<()> {
        self.database.check_known()
    }

    /// Answers the query with the values of a row of arguments, which are columns of a table. A row that lacks one is refused, where [`Questions::ask`] takes
    /// an empty text for it: a table's gap means none of the nodes whose key is empty. So is a column that no variable is declared for.
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`].
    pub(super) fn ask_row(&self, row: &Variables, context: &RequestContext) -> Result<QueryAnswer> {
        if let Some((name, declared)) = self.document.undeclared(row) {
            return Err(no_variable(name, &declared));
        }
        if let Some(name) = self.document.missing(row) {
            let error = Error::query(format!("variable {name} has no value"));
            return Err(
                error.with_hint("leave the row out, or write a default behind the variable's type")
            );
        }
        self.ask(row, context)
    }

    /// Answers the query with some values of its variables.
    ///
    /// # Errors
    ///
    /// Those of [`Database::query`].
    pub fn ask(&self, variables: &Variables, context: &RequestContext) -> Result<QueryAnswer> {
        let asked = Asked { text: &self.text, variables, debug: false };
        let plan = || Ok(Arc::new(self.document.plan(variables)?));
        self.database.query_planned(Arc::clone(&self.version), asked, plan, context)
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
