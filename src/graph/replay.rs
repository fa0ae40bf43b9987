//! Carries out the records of a log again.
//!
//! Records are small and many, and a version for each would cost far more than the changes
//! themselves. So changes are gathered, and carried out together: sets upon sets become one part,
//! whose values go to their columns at once. What was checked when a commit was made, that no two
//! nodes have a value that only one may have, is not checked again: of several commits together it
//! need not hold at each moment.

use super::changes::Changes;
use super::changes::Delete;
use super::changes::Deleted;
use super::changes::Part;
use super::changes::SetEdge;
use super::changes::SetValue;
use super::delta::FacetList;
use super::node_ids::NodeIds;
use super::record::CHANGES_TAG;
use super::record::SCHEMA_TAG;
use super::record::SchemaChange;
use super::record::deleted;
use super::version::Version;
use crate::schema::PredicateDef;
use crate::schema::parse_schema;
use crate::types::Error;
use crate::types::Result;
use crate::types::Uid;
use crate::types::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// So many statements are gathered before they are carried out.
const STATEMENTS_MAX: usize = if cfg!(test) { 5 } else { 1 << 18 };

/// A version that follows the records of a log.
pub struct Replay {
    version: Version,
    commit: u64,
    gathered: Changes,
    /// The places of predicates and languages in `gathered`.
    predicates: FxHashMap<Arc<str>, u32>,
    langs: FxHashMap<Box<str>, u32>,
    /// Keys of facets, each once.
    facet_keys: FxHashMap<Box<str>, Arc<str>>,
    statements: usize,
}

impl Replay {
    /// Records follow upon `version`.
    pub fn new(version: Version) -> Replay {
        Replay {
            commit: version.commit,
            version,
            gathered: Changes::default(),
            predicates: FxHashMap::default(),
            langs: FxHashMap::default(),
            facet_keys: FxHashMap::default(),
            statements: 0,
        }
    }

    /// Takes the next record. One whose commit the version has already is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it can't be read or carried out: it was written by another version of
    /// the program, or for other data.
    pub fn record(&mut self, commit: u64, record: &[u8]) -> Result<()> {
        if commit <= self.commit {
            return Ok(());
        }
        let mut bytes = Bytes(record);
        let known = match bytes.byte() {
            Some(CHANGES_TAG) => self.gather(&mut bytes),
            Some(SCHEMA_TAG) => self.change_schema(&mut bytes)?,
            _ => None,
        };
        if known.is_none() || !bytes.0.is_empty() {
            return Err(Error::query(format!("the record of commit {commit} can't be read")));
        }
        self.commit = commit;
        if STATEMENTS_MAX <= self.statements {
            self.carry_out()?;
        }
        Ok(())
    }

    /// The version after the records so far. More may follow.
    ///
    /// # Errors
    ///
    /// As [`Replay::record`].
    pub fn version(&mut self) -> Result<Version> {
        self.carry_out()?;
        self.version.commit = self.commit;
        Ok(self.version.clone())
    }

    fn carry_out(&mut self) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.predicates.clear();
        self.langs.clear();
        self.statements = 0;
        self.version = gathered.apply_again(&self.version)?;
        Ok(())
    }

    fn change_schema(&mut self, bytes: &mut Bytes<'_>) -> Result<Option<()>> {
        let (Some(kind), Some(text)) = (bytes.byte(), bytes.text()) else { return Ok(None) };
        let Some(change) = SchemaChange::of(kind, text) else { return Ok(None) };
        self.carry_out()?;
        self.version = change.carry_out(&self.version)?;
        Ok(Some(()))
    }

    /// Adds changes to those that are gathered. What it adds before it meets damage is of no
    /// consequence: the whole recovery fails then.
    fn gather(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        for _ in 0..bytes.count()? {
            self.gathered.next_uid = self.gathered.next_uid.max(bytes.number()?);
            let definitions = bytes.text()?;
            if !definitions.is_empty() {
                self.gathered.definitions.extend(parse_schema(definitions).ok()?.predicates);
            }
            let places = self.places(bytes)?;
            for _ in 0..bytes.count()? {
                self.part(bytes, &places)?;
            }
        }
        Some(())
    }

    fn places(&mut self, bytes: &mut Bytes<'_>) -> Option<Places> {
        let mut places = Places { predicates: Vec::new(), langs: Vec::new() };
        for _ in 0..bytes.count()? {
            places.predicates.push(self.predicate(bytes.text()?)?);
        }
        for _ in 0..bytes.count()? {
            places.langs.push(self.lang(bytes.text()?));
        }
        Some(places)
    }

    fn part(&mut self, bytes: &mut Bytes<'_>, places: &Places) -> Option<()> {
        let deletes = bytes.count()?;
        // Sets follow upon sets without an end of the part: the last one wins either way.
        if 0 < deletes || self.gathered.parts.is_empty() {
            self.gathered.parts.push(Part::default());
        }
        self.statements += deletes;
        for _ in 0..deletes {
            let predicate = places.predicate(bytes)?;
            let node = Uid(bytes.number()?);
            let what = deleted_of(bytes, places)?;
            self.last_part().deletes.push(Delete { predicate, node, what });
        }
        let values = bytes.count()?;
        self.statements += values;
        for _ in 0..values {
            let predicate = places.predicate(bytes)?;
            let lang = places.lang(bytes)?;
            let node = self.node(bytes)?;
            let value = bytes.value()?;
            let facets = self.facets(bytes)?;
            self.last_part().values.push(SetValue { predicate, lang, node, value, facets });
        }
        let edges = bytes.count()?;
        self.statements += edges;
        for _ in 0..edges {
            let predicate = places.predicate(bytes)?;
            let (node, target) = (self.node(bytes)?, self.node(bytes)?);
            let facets = self.facets(bytes)?;
            self.last_part().edges.push(SetEdge { predicate, node, target, facets });
        }
        Some(())
    }

    /// A node that is set.
    fn node(&mut self, bytes: &mut Bytes<'_>) -> Option<Uid> {
        let uid = Uid(bytes.number()?);
        if NodeIds::is_high(uid) {
            self.gathered.high.push(uid.0);
        }
        Some(uid)
    }

    fn last_part(&mut self) -> &mut Part {
        self.gathered.parts.last_mut().expect("the part was begun")
    }

    fn facets(&mut self, bytes: &mut Bytes<'_>) -> Option<FacetList> {
        let mut facets = FacetList::new();
        for _ in 0..bytes.count()? {
            let key = bytes.text()?;
            let key = match self.facet_keys.get(key) {
                Some(key) => Arc::clone(key),
                None => {
                    let shared: Arc<str> = key.into();
                    self.facet_keys.insert(key.into(), Arc::clone(&shared));
                    shared
                }
            };
            facets.push((key, bytes.value()?));
        }
        Some(facets)
    }

    /// The place of a predicate among those that are gathered; `None` when nobody knows it.
    fn predicate(&mut self, name: &str) -> Option<u32> {
        if let Some(place) = self.predicates.get(name) {
            return Some(*place);
        }
        let new = |def: &&PredicateDef| def.name == name;
        let known = self.version.schema.predicates.get(name);
        let def = known.or_else(|| self.gathered.definitions.iter().find(new))?;
        let place = self.gathered.predicates.len() as u32;
        self.gathered.predicates.push(Arc::new(def.clone()));
        self.predicates.insert(name.into(), place);
        Some(place)
    }

    fn lang(&mut self, lang: &str) -> u32 {
        if let Some(place) = self.langs.get(lang) {
            return *place;
        }
        let place = self.gathered.langs.len() as u32;
        self.gathered.langs.push(lang.into());
        self.langs.insert(lang.into(), place);
        place
    }
}

/// Where the predicates and languages of a record are among those that are gathered.
struct Places {
    predicates: Vec<u32>,
    langs: Vec<u32>,
}

impl Places {
    fn predicate(&self, bytes: &mut Bytes<'_>) -> Option<u32> {
        self.predicates.get(usize::try_from(bytes.number()?).ok()?).copied()
    }

    fn lang(&self, bytes: &mut Bytes<'_>) -> Option<u32> {
        self.langs.get(usize::try_from(bytes.number()?).ok()?).copied()
    }
}

fn deleted_of(bytes: &mut Bytes<'_>, places: &Places) -> Option<Deleted> {
    Some(match bytes.byte()? {
        deleted::ALL => Deleted::All,
        deleted::LANG => Deleted::Lang(places.lang(bytes)?),
        deleted::VALUE => Deleted::Value(places.lang(bytes)?, bytes.value()?),
        deleted::PASSWORD => Deleted::Password(places.lang(bytes)?, bytes.text()?.to_owned()),
        deleted::EDGE => Deleted::Edge(Uid(bytes.number()?)),
        _ => return None,
    })
}

/// The rest of a record. `None` where it ends too early.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things that take a byte each at the least.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = self.count()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn value(&mut self) -> Option<Value> {
        let (value, used) = Value::decode(self.0)?;
        self.0 = self.0.get(used..)?;
        Some(value)
    }
}
