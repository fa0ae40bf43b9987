//! Records of the first format. They hold texts of schemas, and passwords that are deleted by their
//! text.
//!
//! A byte says what it is: 1 for changes, 2 for a change of the schema, whose kind follows.

use super::record::SchemaChange;
use super::replay::{Positions, Read, Replay};
use crate::graph::change::altering::alter::alter;
use crate::graph::change::changes::Part;
use hexgraph_base::schema::parse_schema;
use hexgraph_base::types::Result;
use hexgraph_base::types::fields::{ByteReader, Unread};

impl Replay {
    /// Reads a record that begins with the byte `first`. The inner result says whether it could be
    /// read.
    ///
    /// # Errors
    ///
    /// As [`Replay::record`].
    pub(in crate::graph) fn first_format(
        &mut self,
        first: u8,
        mut bytes: ByteReader<'_>,
    ) -> Result<Read> {
        let existing = match first {
            1 => self.first_changes(&mut bytes),
            _ => self.first_schema_change(&mut bytes)?,
        };
        Ok(existing.filter(|()| bytes.is_empty()).ok_or(Unread::Damaged))
    }

    fn first_schema_change(&mut self, bytes: &mut ByteReader<'_>) -> Result<Option<()>> {
        let (Some(kind), Some(text)) = (bytes.byte(), bytes.text()) else { return Ok(None) };
        self.execute()?;
        let change = match kind {
            0 => {
                self.version = alter(&self.version, text)?;
                return Ok(Some(()));
            }
            1 => SchemaChange::DropAll,
            2 => SchemaChange::DropData,
            3 => SchemaChange::DropPredicate(text.to_owned()),
            4 => SchemaChange::DropType(text.to_owned()),
            _ => return Ok(None),
        };
        self.version = change.execute(&self.version, &|| Ok(()))?;
        Ok(Some(()))
    }

    fn first_changes(&mut self, bytes: &mut ByteReader<'_>) -> Option<()> {
        for _ in 0..bytes.count()? {
            self.gathered.next_uid = self.gathered.next_uid.max(bytes.number()?);
            let definitions = bytes.text()?;
            if !definitions.is_empty() {
                self.gathered.definitions.extend(parse_schema(definitions).ok()?.predicates);
            }
            let mut positions = Positions::default();
            for _ in 0..bytes.count()? {
                positions.predicates.push(self.predicate(bytes.text()?)?);
            }
            for _ in 0..bytes.count()? {
                positions.langs.push(self.lang(bytes.text()?));
            }
            for _ in 0..bytes.count()? {
                self.first_part(bytes, &positions)?;
            }
        }
        Some(())
    }

    fn first_part(&mut self, bytes: &mut ByteReader<'_>, positions: &Positions) -> Option<()> {
        let deletes = bytes.count()?;
        // As in the format of today.
        if 0 < deletes || self.gathered.parts.is_empty() {
            self.gathered.parts.push(Part::default());
        }
        for _ in 0..deletes {
            self.delete(bytes, positions)?;
        }
        for _ in 0..bytes.count()? {
            self.value(bytes, positions)?;
        }
        for _ in 0..bytes.count()? {
            self.edge(bytes, positions)?;
        }
        Some(())
    }
}
