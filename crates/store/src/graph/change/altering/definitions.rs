//! Definitions of predicates and types together: the result of a change of the schema, and the
//! schema of a snapshot.

use hexgraph_base::schema::{PredicateDef, Schema, TypeDef, is_reserved};
use hexgraph_base::types::Result;
use hexgraph_base::types::fields::{
    ByteReader, Unread, put_field, put_text_field, required, skip_unknown,
};

/// Fields of definitions; one of each for each predicate or type.
const PREDICATE: u64 = required(1);
const TYPE: u64 = required(2);
const DROPPED_TYPE: u64 = required(3);

/// Definitions that replace previous ones, each predicate and each type entirely.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Definitions {
    /// Predicates as they are from now on.
    pub predicates: Vec<PredicateDef>,
    /// Types as they are from now on.
    pub types: Vec<TypeDef>,
    /// Types that are no more.
    pub dropped_types: Vec<String>,
}

impl Definitions {
    /// All of a schema but what every graph has.
    pub fn of(schema: &Schema) -> Definitions {
        let predicates = schema.predicates.values().filter(|def| !is_reserved(&def.name));
        let types = schema.types.values().filter(|def| !is_reserved(&def.name));
        Definitions {
            predicates: predicates.cloned().collect(),
            types: types.cloned().collect(),
            dropped_types: Vec::new(),
        }
    }

    /// Checks that this build has the features which the predicates need.
    ///
    /// # Errors
    ///
    /// As [`PredicateDef::check_build`].
    pub fn check_build(&self) -> Result<()> {
        self.predicates.iter().try_for_each(PredicateDef::check_build)
    }

    /// Has a schema hold them.
    pub fn apply(&self, schema: &mut Schema) {
        for def in &self.predicates {
            schema.predicates.insert(def.name.clone(), def.clone());
        }
        for def in &self.types {
            schema.types.insert(def.name.clone(), def.clone());
        }
        for name in &self.dropped_types {
            schema.types.remove(name);
        }
    }

    /// Adds them as bytes, which [`Definitions::decode`] reads to their end.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.predicates.iter().for_each(|def| put_field(PREDICATE, out, |out| def.encode(out)));
        self.types.iter().for_each(|def| put_field(TYPE, out, |out| def.encode(out)));
        self.dropped_types.iter().for_each(|name| put_text_field(DROPPED_TYPE, name, out));
    }

    /// The definitions that the bytes hold.
    ///
    /// # Errors
    ///
    /// The reason when they hold none.
    pub fn decode(mut bytes: ByteReader<'_>) -> std::result::Result<Definitions, Unread> {
        let mut definitions = Definitions::default();
        while let Some((tag, field)) = bytes.field()? {
            match tag {
                PREDICATE => definitions.predicates.push(PredicateDef::decode(field)?),
                TYPE => definitions.types.push(TypeDef::decode(field)?),
                DROPPED_TYPE => definitions.dropped_types.push(field.entire_text()?.to_owned()),
                _ => skip_unknown(tag)?,
            }
        }
        Ok(definitions)
    }
}
