//! Rows of an answer: as values of the caller's types, and their number without writing them
//! anywhere.

use crate::db::guard::guarded;
use crate::db::query::answer::QueryAnswer;
use crate::db::query::checked::CheckedSink;
use hexgraph_base::answer::Outline;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::vec;

/// The nesting depth of the objects of a block: they lie in the array of the block, in the object
/// of all blocks.
const ROW_DEPTH: usize = 3;

/// # As rows
impl QueryAnswer {
    /// The answer as a value of a type that has a field for each block.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use std::collections::BTreeMap;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let blocks: BTreeMap<String, Vec<BTreeMap<String, String>>> = answer.deserialize()?;
    /// assert_eq!(blocks["q"][0]["name"], "Ada");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` with the position in the JSON text, where the answer is not of this type; as
    /// [`QueryAnswer::write`].
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        let (json, _) = self.to_json()?;
        serde_json::from_str(&json).map_err(|error| does_not_fit("the answer", &error))
    }

    /// The objects of a block, each as a value of the type; `None` selects the only block.
    ///
    /// ```
    /// use hexgraph::db::Database;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Person {
    ///     name: String,
    ///     born: Option<i64>,
    /// }
    ///
    /// let db = Database::in_memory();
    /// db.alter("name: string .\nborn: int .")?;
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <born> \"1815\" .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ people(func: has(name)) { name born } }")?;
    /// for person in answer.rows::<Person>(None)? {
    ///     assert_eq!(person.born.is_some(), person.name == "Ada");
    /// }
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` with the number of the first row that is not of this type, counted from 0; as
    /// [`QueryAnswer::block_name`] and [`QueryAnswer::write`].
    pub fn rows<T: DeserializeOwned>(&self, block: Option<&str>) -> Result<vec::IntoIter<T>> {
        let name = self.block_name(block)?;
        let (json, _) = self.to_json()?;
        let row = Cell::new(0);
        let seed = BlockRows { name: &name, row: &row, row_type: PhantomData };
        let mut text = serde_json::Deserializer::from_str(&json);
        let rows = seed.deserialize(&mut text).map_err(|error| {
            does_not_fit(&format!("row {} of block `{name}`", row.get()), &error)
        })?;
        Ok(rows.into_iter())
    }

    /// Counts the objects in all blocks together.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// assert_eq!(db.query("{ q(func: has(name)) { name } }")?.row_count()?, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::row_count_with`].
    pub fn row_count(&self) -> Result<usize> {
        self.row_count_with(&RequestContext::new())
    }

    /// Counts the objects in all blocks together. Costs as much as writing the answer.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert_eq!(answer.row_count_with(&RequestContext::new())?, 0);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn row_count_with(&self, context: &RequestContext) -> Result<usize> {
        guarded(|| {
            let counter = RowCounter::default();
            let most = self.exec_options().result;
            let mut sink = CheckedSink::new(counter, context, most).passing_on();
            self.write_to(usize::MAX, &mut sink)?;
            Ok(sink.into_inner().rows())
        })
    }

    /// True if any block has an object.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// assert!(!db.query("{ q(func: has(name)) { name } }")?.has_rows()?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::has_rows_with`].
    pub fn has_rows(&self) -> Result<bool> {
        self.has_rows_with(&RequestContext::new())
    }

    /// Whether any block has an object. Costs as much as writing one object of each block.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(answer.has_rows_with(&RequestContext::new())?);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn has_rows_with(&self, context: &RequestContext) -> Result<bool> {
        Ok(self.write_head(1, RowCounter::default(), context)?.rows() != 0)
    }
}

/// The error for a part of an answer that is of another type.
fn does_not_fit(part: &str, error: &serde_json::Error) -> Error {
    Error::query(format!("{part} does not fit the type: {error}"))
        .with_hint("a value that a node may lack is an `Option`, or has `#[serde(default)]`")
}

/// Reads the rows of one block of an answer, and passes over other blocks.
struct BlockRows<'a, T> {
    name: &'a str,
    /// The number of rows so far.
    row: &'a Cell<usize>,
    row_type: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for BlockRows<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        text: D,
    ) -> std::result::Result<Vec<T>, D::Error> {
        text.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for BlockRows<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an answer with the block `{}`", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut blocks: A) -> std::result::Result<Vec<T>, A::Error> {
        let mut rows = Vec::new();
        while let Some(name) = blocks.next_key::<String>()? {
            match name == self.name {
                true => {
                    rows =
                        blocks.next_value_seed(Counted { row: self.row, row_type: PhantomData })?
                }
                false => drop(blocks.next_value::<IgnoredAny>()?),
            }
        }
        Ok(rows)
    }
}

/// Reads an array of rows, and counts them.
struct Counted<'a, T> {
    row: &'a Cell<usize>,
    row_type: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Counted<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        text: D,
    ) -> std::result::Result<Vec<T>, D::Error> {
        text.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Counted<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Vec<T>, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = items.next_element()? {
            rows.push(row);
            self.row.set(rows.len());
        }
        Ok(rows)
    }
}

/// A sink that counts the objects directly below the blocks of an answer, and retains nothing else.
#[derive(Default)]
pub(in crate::db) struct RowCounter {
    rows: usize,
    /// The number of elements so far, for each object or array that is still open.
    open: Vec<usize>,
}

impl RowCounter {
    /// Returns the number of objects in all blocks.
    pub(in crate::db) fn rows(&self) -> usize {
        self.rows
    }
}

impl Outline for RowCounter {
    fn begin(&mut self) {
        self.item();
        self.open.push(0);
        self.rows += usize::from(self.open.len() == ROW_DEPTH);
    }

    fn end(&mut self) {
        self.open.pop();
    }

    fn discard(&mut self) {
        self.rows -= usize::from(self.open.len() == ROW_DEPTH);
        self.open.pop();
        if let Some(items) = self.open.last_mut() {
            *items -= 1;
        }
    }

    fn item(&mut self) {
        if let Some(items) = self.open.last_mut() {
            *items += 1;
        }
    }

    fn has_element(&self) -> bool {
        self.open.last().is_some_and(|items| *items != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Database;
    use hexgraph_base::types::{Sink, ValueRef};
    use std::collections::BTreeMap;

    fn answer(text: &str) -> crate::db::QueryAnswer {
        let db = Database::in_memory();
        db.alter("name: string .\nweight: float .").unwrap();
        db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .\n<1> <weight> \"0.1\" .", "")
            .unwrap();
        db.query(text).unwrap()
    }

    #[test]
    fn rows_come_from_the_block_that_is_named() {
        let answer = answer("{ a(func: uid(1)) { name } b(func: has(name)) { weight name } }");
        let rows: Vec<BTreeMap<String, serde_json::Value>> =
            answer.rows(Some("b")).unwrap().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["weight"], 0.1);
        let missing = answer.rows::<BTreeMap<String, String>>(None).map(drop).unwrap_err();
        assert!(missing.to_string().contains("several blocks"), "{missing}");
    }

    #[test]
    fn a_row_of_another_type_is_named_by_its_number() {
        #[derive(Debug, serde::Deserialize)]
        struct Weighed {
            #[expect(dead_code)]
            weight: f64,
        }
        let answer = answer("{ q(func: has(name)) { name weight } }");
        let error = answer.rows::<Weighed>(None).map(drop).unwrap_err().to_string();
        assert!(error.contains("row 1 of block `q`") && error.contains("weight"), "{error}");
        let error = answer.deserialize::<BTreeMap<String, Vec<Weighed>>>().unwrap_err().to_string();
        assert!(error.contains("missing field `weight`"), "{error}");
    }

    #[test]
    fn values_that_answers_omit_are_no_rows() {
        let mut counter = RowCounter::default();
        counter.begin_object();
        counter.key("q");
        counter.begin_array();
        for value in [ValueRef::Float(f64::INFINITY), ValueRef::Password("secret")] {
            counter.begin_object();
            counter.key("omitted");
            counter.value(value);
            assert!(counter.is_empty());
            counter.discard_object();
        }
        assert_eq!(counter.rows(), 0);
        let db = Database::in_memory();
        db.alter("name: string .\nsecret: password .").unwrap();
        db.mutate("<1> <name> \"Ada\" .\n<2> <secret> \"abc123\" .", "").unwrap();
        let answer = db.query("{ q(func: uid(1, 2)) { name secret } }").unwrap();
        let rows = answer.rows::<BTreeMap<String, String>>(None).unwrap();
        assert_eq!(answer.row_count().unwrap(), rows.count());
    }

    #[test]
    fn nested_and_discarded_objects_do_not_count() {
        let mut counter = RowCounter::default();
        counter.begin_object();
        counter.key("q");
        counter.begin_array();
        for empty in [false, true] {
            counter.begin_object();
            counter.key("friend");
            counter.begin_array();
            assert!(counter.is_empty());
            counter.begin_object();
            counter.end_object();
            counter.end_array();
            if empty { counter.discard_object() } else { counter.end_object() }
        }
        assert!(!counter.is_empty());
        counter.end_array();
        counter.end_object();
        assert_eq!(counter.rows(), 1);
    }
}
