//! Answers as tables.

use crate::db::guard::guarded;
use crate::db::query::answer::QueryAnswer;
use crate::db::query::checked::too_long;
use hexgraph_base::answer::{
    Key, KeySink, NestedSink, RowForm, Shape, Table, TableSink, columns, need_data,
};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::{COMMON_LEVELS, RequestContext};

/// # As a table
impl QueryAnswer {
    /// Returns the name of a block, and the keys of its objects in the order of the query.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// let answer = db.query("{ people(func: has(name)) { uid name years: age } }")?;
    /// let (block, keys) = answer.keys(None)?;
    /// assert_eq!((block.as_str(), keys), ("people", ["uid", "name", "years"].map(str::to_owned).to_vec()));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::keys_with`].
    pub fn keys(&self, block: Option<&str>) -> Result<(String, Vec<String>)> {
        self.keys_with(block, &RequestContext::new())
    }

    /// Returns the name of a block, and the keys of its objects in the order of the query. `None`
    /// selects the only block.
    ///
    /// The query does not list the keys of `@facets` and of all languages (`name@*`). If it
    /// requests them, the entire answer is written once to collect them.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let answer = db.query("{ a(func: has(name)) { name } b(func: has(name)) { uid } }")?;
    /// assert_eq!(answer.keys_with(Some("b"), &RequestContext::new())?.1, ["uid"]);
    /// assert!(answer.keys_with(None, &RequestContext::new()).is_err(), "there are two blocks");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` if there is no such block, or if `block` is `None` and there are several blocks;
    /// otherwise as [`QueryAnswer::write`].
    pub fn keys_with(
        &self,
        block: Option<&str>,
        context: &RequestContext,
    ) -> Result<(String, Vec<String>)> {
        let name = self.block_name(block)?;
        let keys = self.answer_keys(&name);
        let result = match need_data(&keys) {
            true => self.write(KeySink::new(name.clone()), context)?.finish(),
            false => Vec::new(),
        };
        Ok((name, columns(&keys, &result)))
    }

    /// The keys that the objects of a block may have, in the order of the query.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub(in crate::db::query) fn block_keys(&self, block: Option<&str>) -> Result<Vec<Key>> {
        Ok(self.answer_keys(&self.block_name(block)?))
    }

    /// The columns of the rows of a block, with their types, by the query and the schema.
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub(in crate::db::query) fn block_shapes(&self, block: Option<&str>) -> Result<Vec<Shape>> {
        Ok(self.answer_shapes(&self.block_name(block)?))
    }

    /// The rows of a block as a table of columns; `None` selects the only block.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.alter("name: string .\nborn: int .")?;
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <born> \"1815\" .\n<2> <name> \"Bob\" .", "")?;
    /// let table = db.query("{ q(func: has(name)) { name born } }")?.table(None)?;
    /// assert_eq!(table.rows, 2);
    /// assert_eq!(table.columns[1].name, "born");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::table_with`].
    pub fn table(&self, block: Option<&str>) -> Result<Table> {
        self.table_with(block, &RequestContext::new())
    }

    /// The rows of a block as a table: its objects, its groups, or what a block without nodes
    /// computes as one row. The columns are in the order of the query, also those without a value;
    /// objects within rows are struct columns. If this block is built column by column, other
    /// blocks are not read, and errors of their values are not reported.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ a(func: has(name)) { name } b(func: uid(1)) { uid name } }")?;
    /// let table = answer.table_with(Some("b"), &RequestContext::new())?;
    /// assert_eq!((table.rows, table.columns.len()), (1, 2));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`] and [`TableSink::finish`].
    pub fn table_with(&self, block: Option<&str>, context: &RequestContext) -> Result<Table> {
        let name = self.block_name(block)?;
        self.check_table_depth(&name)?;
        let mut table = match self.columns(&name, context)? {
            Some(table) => table,
            None => self.table_by_rows(&name, context)?,
        };
        table.shape(&self.answer_shapes(&name));
        table.put_in_order(&self.block_keys(Some(&name))?);
        Ok(table)
    }

    /// Builds the table column by column; `None` if the rows have to be written one by one, or if
    /// there is an error, which writing them one by one reports.
    fn columns(&self, block: &str, context: &RequestContext) -> Result<Option<Table>> {
        let Some(answer) = self.held_answer() else { return Ok(None) };
        self.prepare(context);
        let before = context.reservation().map_or(0, |reservation| reservation.used());
        let most = self.exec_options().result;
        let mut bytes = 0_u64;
        let mut look = |more: u64| {
            bytes = bytes.saturating_add(more);
            if most < bytes { Err(too_long(most)) } else { Ok(()) }
        };
        match guarded(|| answer.table(block, context, &mut look)) {
            Ok(Some(table)) => Ok(Some(table)),
            Err(error @ Error::Limit { .. }) => Err(error),
            Ok(None) | Err(_) => {
                if let Some(reservation) = context.reservation() {
                    reservation.retain_only(before);
                }
                Ok(None)
            }
        }
    }

    fn table_by_rows(&self, name: &str, context: &RequestContext) -> Result<Table> {
        match self.answer_row_form(name) {
            form @ (RowForm::Nested | RowForm::Joined) => {
                let sink = NestedSink::new(name.to_owned(), form == RowForm::Joined);
                self.write(sink, context)?.finish()
            }
            RowForm::Flat | RowForm::Groups => {
                let sink = || TableSink::new(Some(name.to_owned()));
                let table = match self.answer_block_is_written(name) {
                    true => self.write_shared(sink(), context)?.finish(),
                    false => Ok(Table::default()),
                };
                // The first of several errors is reported, which needs a run on one thread.
                table.or_else(|_| self.write(sink(), context)?.finish())
            }
        }
    }

    /// What the rows of a block are made of; `None` selects the only block.
    ///
    /// ```
    /// use hexgraph::{answer::RowForm, db::Database};
    ///
    /// let db = Database::in_memory();
    /// let answer = db.query("{ q(func: has(name)) @groupby(name) { count(uid) } }")?;
    /// assert_eq!(answer.row_form(None)?, RowForm::Groups);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::block_name`].
    pub fn row_form(&self, block: Option<&str>) -> Result<RowForm> {
        Ok(self.answer_row_form(&self.block_name(block)?))
    }

    /// Checks that a block can be a table, whose columns nest as deep as the levels of the block.
    ///
    /// # Errors
    ///
    /// `Limit` when it is deeper than 256 levels.
    fn check_table_depth(&self, name: &str) -> Result<()> {
        match self.deep_blocks().find(|block| block.name == name) {
            None => Ok(()),
            Some(_) => Err(Error::Limit {
                message: format!(
                    "block `{name}` nests in more than {COMMON_LEVELS} levels, and a table has at most so many: give \
                     `@recurse` a `depth`, ask for nodes and their distances with a block `bfs(source: …)`, or read \
                     the answer with `to_dict()`"
                ),
            }),
        }
    }
}
