//! Writes versions to snapshot files, and opens them.
//!
//! A section named `catalog` holds the schema and lists the columns; each column has sections of
//! its own, named by number: `3.0.values` belongs to the first language of the fourth predicate,
//! `3.edges` and `3.reverse` to its edges. A snapshot is opened by reading the catalog and mapping
//! the rest, and no data is read before a query needs it.

use super::catalog::{CatalogReader, CatalogWriter};
use super::vector_sections::{VECTORS_TAG, read_vectors, write_vectors};
use crate::graph::build::compact::{Check, settle_all_while, space_to_settle};
use crate::graph::change::altering::definitions::Definitions;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::{Direction, EdgeStore};
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::uids::Uids;
use crate::graph::version::values::{LangValues, ValueBase};
use crate::index::{IndexKind, TokenIndex};
use crate::storage::{
    Array, Column, Disk, Edges, FacetColumn, FileAccess, Files, FrozenBitmap, Identity,
    SnapshotFile, SnapshotWriter, Values, catch_corrupt,
};
use hexgraph_base::schema::{PredicateDef, Schema, parse_schema};
use hexgraph_base::types::fields::{ByteReader, Unread, skip_unknown};
use hexgraph_base::types::{Error, Result, ValueType};
use std::path::Path;
use std::sync::Arc;

/// The layout of the catalog and the names of the sections.
///
/// In layout 1 the schema is a text, and the catalog ends with the last predicate. In layout 2 the
/// definitions are those of `definitions.rs`, and tagged fields (`types/fields.rs`) follow the last
/// predicate. They are for later releases; a reader skips unknown ones, with their sections.
const LAYOUT: u8 = 2;
const FIRST_LAYOUT: u8 = 1;

const CATALOG: &str = "catalog";

/// The section of the uids that no new node may get; missing where there are none.
const NAMED: &str = "named";

/// Writes a version to a new file and waits until it is on the disk. Changes are compacted into
/// their bases on the way.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Io`] on an error of the operating system,
/// [`hexgraph_base::types::Error::Corrupt`] when the file of the version is damaged. The new file
/// is incomplete then.
pub fn save(version: &Version, path: &Path) -> Result<()> {
    save_in(&Disk, version, path, Identity::NONE, &|| Ok(()))
}

/// As [`save`], in other files than those of the operating system, for a database of an identity.
/// Calls `check` before each predicate and language to see whether to go on.
///
/// # Errors
///
/// As [`save`]; those of `check`.
pub fn save_in(
    files: &dyn Files,
    version: &Version,
    path: &Path,
    identity: Identity,
    check: Check<'_>,
) -> Result<()> {
    catch_corrupt(|| {
        // Until the file is written, memory has both the compacted and the current data.
        let _capacity = space_to_settle(version)?;
        let version = settle_all_while(version, check)?;
        let mut writer = Writer::create(files, path)?;
        writer.file.set_identity(identity);
        writer.version(&version, check)?;
        writer.into_file()?.finish()
    })?
}

/// As [`save`], without waiting for the disk.
///
/// # Errors
///
/// As [`save`].
pub fn save_temporary(version: &Version, path: &Path) -> Result<()> {
    catch_corrupt(|| {
        let mut writer = Writer::create(&Disk, path)?;
        writer.version(version, &|| Ok(()))?;
        writer.into_file()?.finish_temporary()
    })?
}

/// The version that a file holds. Costs O(number of predicates and indexes).
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Corrupt`] when it is no snapshot, of another kind or damaged,
/// [`hexgraph_base::types::Error::Io`] when it can't be opened.
pub fn open(path: &Path) -> Result<Version> {
    version_of(&SnapshotFile::open(path)?, Thresholds::default())
}

/// As [`open`], if the file must belong to a database. A file without an identity is accepted. The
/// version gets `thresholds`.
///
/// # Errors
///
/// As [`open`]; [`hexgraph_base::types::Error::Corrupt`] when it belongs to another.
pub fn open_of(
    path: &Path,
    identity: Identity,
    access: FileAccess,
    thresholds: Thresholds,
) -> Result<Version> {
    let file = SnapshotFile::open_with(path, access)?;
    let whose = file.identity();
    if whose != identity && whose != Identity::NONE && identity != Identity::NONE {
        return Err(Error::Corrupt {
            path: path.display().to_string(),
            message: format!("it belongs to another database, {whose} and not {identity}"),
        });
    }
    version_of(&file, thresholds)
}

fn version_of(file: &SnapshotFile, thresholds: Thresholds) -> Result<Version> {
    catch_corrupt(|| {
        let bytes = file.bytes(CATALOG)?;
        Reader { thresholds, ..Reader::new(file, bytes.as_slice()) }.version()
    })?
}

/// Reads all of a file and compares its checksums, then checks that all texts are UTF-8, as a
/// checksum covers only what was written.
///
/// # Errors
///
/// As [`open`], for any damage, with the predicate of an invalid text.
pub fn verify(path: &Path) -> Result<()> {
    SnapshotFile::open(path)?.verify_all()?;
    for (name, predicate) in &open(path)?.predicates {
        catch_corrupt(|| check_texts(predicate)).map_err(|error| match error {
            Error::Corrupt { path, message } => {
                Error::Corrupt { path, message: format!("predicate {name:?}: {message}") }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// Reads all texts of a predicate that was just opened. It unwinds where one is none.
fn check_texts(predicate: &Predicate) {
    let facets = |facets: &[FacetColumn]| facets.iter().for_each(|it| it.values.check_texts());
    match &predicate.data {
        PredicateData::Values(langs) => {
            for ValueBase { column, indexes, .. } in langs.iter().map(|values| &*values.base) {
                column.values.check_texts();
                facets(&column.facets);
                indexes.iter().for_each(|(_, index)| index.keys.check_texts());
            }
        }
        PredicateData::Edges(edges) => {
            let directions = [Some(&edges.forward), edges.reverse.as_ref()];
            directions.into_iter().flatten().for_each(|direction| facets(&direction.base.facets));
        }
    }
}

/// Writes sections, and the catalog that says what they are.
pub(crate) struct Writer {
    file: SnapshotWriter,
    /// The catalog so far.
    pub catalog: CatalogWriter,
}

impl Writer {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Io`] on an error of the operating system, as do all that
    /// write.
    pub(crate) fn create(files: &dyn Files, path: &Path) -> Result<Writer> {
        let file = SnapshotWriter::create_in(files, path)?;
        Ok(Writer { file, catalog: CatalogWriter::default() })
    }

    /// The catalog of what was written since the last call.
    pub(crate) fn finish_catalog(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.catalog).finish()
    }

    /// Finishes a file whose catalogs are stored elsewhere, without waiting for the disk.
    ///
    /// # Errors
    ///
    /// As [`Writer::create`].
    pub(crate) fn finish_temporary(self) -> Result<()> {
        self.file.finish_temporary()
    }

    fn into_file(self) -> Result<SnapshotWriter> {
        let Writer { mut file, catalog } = self;
        file.bytes(CATALOG, &catalog.finish())?;
        Ok(file)
    }

    /// Writes numbers.
    ///
    /// # Errors
    ///
    /// As [`Writer::create`].
    pub(crate) fn numbers(&mut self, name: &str, numbers: Vec<u32>) -> Result<()> {
        self.file.array(name, &Array::from_vec(numbers))
    }

    fn version(&mut self, version: &Version, check: Check<'_>) -> Result<()> {
        self.catalog.byte(LAYOUT);
        self.catalog.number(version.commit);
        self.catalog.number(version.uids.next());
        let mut definitions = Vec::new();
        Definitions::of(&version.schema).encode(&mut definitions);
        self.catalog.bytes(&definitions);
        self.file.array("high", version.nodes.high())?;
        let named = version.uids.named();
        if !named.is_empty() {
            self.file.bitmap(NAMED, &FrozenBitmap::from_roaring(&named))?;
        }
        let mut predicates: Vec<_> = version.predicates.iter().collect();
        predicates.sort_by(|one, other| one.0.cmp(other.0));
        self.catalog.count(predicates.len());
        for (position, (name, predicate)) in predicates.into_iter().enumerate() {
            check()?;
            self.catalog.text(name);
            match &predicate.data {
                PredicateData::Values(langs) => {
                    self.catalog.byte(0);
                    self.catalog.count(langs.len());
                    for (lang, values) in langs.iter().enumerate() {
                        check()?;
                        self.lang(&format!("{position}.{lang}"), values)?;
                    }
                }
                PredicateData::Edges(edges) => {
                    self.catalog.byte(1 + u8::from(edges.reverse.is_some()));
                    self.edges(&format!("{position}.edges"), &edges.forward.base)?;
                    if let Some(reverse) = &edges.reverse {
                        self.edges(&format!("{position}.reverse"), &reverse.base)?;
                    }
                }
            }
        }
        // No further fields of columns exist yet.
        self.catalog.bytes(&[]);
        Ok(())
    }

    fn lang(&mut self, name: &str, values: &LangValues) -> Result<()> {
        let column = &values.base.column;
        self.catalog.text(&values.lang);
        self.file.bitmap(&format!("{name}.subjects"), &column.subjects)?;
        self.catalog.byte(u8::from(column.rows.is_some()));
        if let Some(rows) = &column.rows {
            self.file.offsets(&format!("{name}.rows"), rows)?;
        }
        self.values(&format!("{name}.values"), &column.values)?;
        self.facets(name, &column.facets)?;
        let vectors = &values.base.vectors;
        self.catalog.count(values.base.indexes.len() + usize::from(vectors.is_some()));
        for (kind, index) in &values.base.indexes {
            let name = format!("{name}.index{}", *kind as u8);
            self.catalog.byte(*kind as u8);
            self.values(&format!("{name}.keys"), &index.keys)?;
            self.file.offsets(&format!("{name}.offsets"), &index.offsets)?;
            self.file.array(&format!("{name}.postings"), &index.postings)?;
        }
        match vectors {
            Some(vectors) => write_vectors(&mut self.file, &mut self.catalog, name, vectors),
            None => Ok(()),
        }
    }

    fn edges(&mut self, name: &str, edges: &Edges) -> Result<()> {
        self.file.bitmap(&format!("{name}.subjects"), &edges.subjects)?;
        self.file.offsets(&format!("{name}.offsets"), &edges.offsets)?;
        self.file.array(&format!("{name}.targets"), &edges.targets)?;
        self.facets(name, &edges.facets)
    }

    fn facets(&mut self, name: &str, facets: &[FacetColumn]) -> Result<()> {
        self.catalog.count(facets.len());
        for (position, facet) in facets.iter().enumerate() {
            self.catalog.text(&facet.key);
            self.file.bitmap(&format!("{name}.facet{position}.positions"), &facet.positions)?;
            self.values(&format!("{name}.facet{position}.values"), &facet.values)?;
        }
        Ok(())
    }

    /// Writes values; what they are goes to the catalog.
    ///
    /// # Errors
    ///
    /// As [`Writer::create`].
    pub(crate) fn values(&mut self, name: &str, values: &Values) -> Result<()> {
        let part = |part: &str| format!("{name}.{part}");
        match values {
            Values::SmallInt(numbers) => self.tag(0).array(name, numbers),
            Values::Int(numbers) => self.tag(1).array(name, numbers),
            Values::Float(numbers) => self.tag(2).array(name, numbers),
            Values::Bool(bools) => self.tag(3).array(name, bools),
            Values::DateTime { seconds, nanos, offsets } => {
                self.tag(4).array(&part("seconds"), seconds)?;
                self.file.array(&part("nanos"), nanos)?;
                self.file.array(&part("zones"), offsets)
            }
            Values::Text { value_type, texts } => {
                self.catalog.byte(5);
                self.tag(*value_type as u8).text(name, texts)
            }
            Values::Days(days) => self.tag(8).array(name, days),
            Values::SmallTime(seconds) => self.tag(9).array(name, seconds),
            Values::Coded { value_type, codes, texts } => {
                self.catalog.byte(10);
                self.tag(*value_type as u8).array(&part("codes"), codes)?;
                self.file.text(name, texts)
            }
            Values::Vector { offsets, numbers } => {
                self.tag(6).offsets(name, offsets)?;
                self.file.array(&part("numbers"), numbers)
            }
            Values::Mixed { offsets, bytes } => {
                self.tag(7).offsets(name, offsets)?;
                self.file.array(&part("bytes"), bytes)
            }
        }
    }

    fn tag(&mut self, tag: u8) -> &mut SnapshotWriter {
        self.catalog.byte(tag);
        &mut self.file
    }
}

/// Reads sections as the catalog says what they are.
pub(crate) struct Reader<'a> {
    file: &'a SnapshotFile,
    /// The rest of the catalog.
    pub catalog: CatalogReader<'a>,
    /// The thresholds of the version that is read.
    thresholds: Thresholds,
}

impl<'a> Reader<'a> {
    /// A reader of a file whose catalog is given.
    pub(crate) fn new(file: &'a SnapshotFile, catalog: &'a [u8]) -> Reader<'a> {
        let catalog = CatalogReader::new(catalog, file.path().display().to_string());
        Reader { file, catalog, thresholds: Thresholds::default() }
    }

    fn version(mut self) -> Result<Version> {
        let layout = self.catalog.byte()?;
        if !(FIRST_LAYOUT..=LAYOUT).contains(&layout) {
            return Err(self.catalog.corrupt(Unread::Later.reason()));
        }
        let mut version = Version { thresholds: self.thresholds, ..Version::empty() };
        version.commit = self.catalog.number()?;
        let mut uids = Uids::starting_at(self.catalog.number()?);
        if self.file.has(NAMED) {
            uids = uids.with_named(self.file.bitmap(NAMED)?);
        }
        version.uids = Arc::new(uids);
        let mut schema = Schema::new();
        match layout {
            FIRST_LAYOUT => {
                let text = parse_schema(self.catalog.text()?);
                let wrong = |fault| self.catalog.corrupt(&format!("the schema: {fault}"));
                schema.apply(&text.map_err(wrong)?);
            }
            _ => {
                let definitions = Definitions::decode(ByteReader::new(self.catalog.bytes()?));
                let wrong = |unread: Unread| self.catalog.corrupt(unread.reason());
                definitions.map_err(wrong)?.apply(&mut schema);
            }
        }
        schema.check_build()?;
        version.nodes = NodeIds::new(self.file.array("high")?)?;
        for position in 0..self.catalog.count()? {
            let name = self.catalog.text()?;
            let Some(def) = schema.predicates.get(name) else {
                return Err(self.catalog.corrupt(&format!("`{name}` is not in the schema")));
            };
            let predicate = self.predicate(position, def)?;
            version.predicates.insert(Arc::from(name), Arc::new(predicate));
        }
        if layout != FIRST_LAYOUT {
            self.skip_unknown_fields()?;
        }
        if !self.catalog.is_at_end() {
            return Err(self.catalog.corrupt("more follows than there should be"));
        }
        // Those that the file has no data of are predicates, too.
        version.schema = Arc::new(schema);
        version.add_unused();
        Ok(version)
    }

    /// Leaves out what a later release knows of columns, unless it has to be understood.
    fn skip_unknown_fields(&mut self) -> Result<()> {
        let mut fields = ByteReader::new(self.catalog.bytes()?);
        let mut skip = || -> std::result::Result<(), Unread> {
            while let Some((tag, _)) = fields.field()? {
                skip_unknown(tag)?;
            }
            Ok(())
        };
        skip().map_err(|unread| self.catalog.corrupt(unread.reason()))
    }

    fn predicate(&mut self, position: usize, def: &PredicateDef) -> Result<Predicate> {
        let kind = self.catalog.byte()?;
        let is_uid = def.value_type == ValueType::Uid;
        let data = match kind {
            0 if !is_uid => {
                let count = self.catalog.count()?;
                let langs = (0..count).map(|lang| self.lang(&format!("{position}.{lang}"), def));
                let langs: Vec<_> = langs.collect::<Result<_>>()?;
                // Languages are looked up by binary search.
                if !langs.is_sorted_by(|one, next| one.lang < next.lang) {
                    return Err(self.catalog.corrupt("languages are out of order"));
                }
                PredicateData::Values(langs)
            }
            1 | 2 if is_uid => {
                let forward = Direction::new(self.edges(&format!("{position}.edges"))?);
                let reverse = match kind {
                    2 => Some(Direction::new(self.edges(&format!("{position}.reverse"))?)),
                    _ => None,
                };
                PredicateData::Edges(EdgeStore { forward, reverse })
            }
            _ => return Err(self.catalog.corrupt("a predicate does not fit the schema")),
        };
        Ok(Predicate { def: Arc::new(def.clone()), data })
    }

    fn lang(&mut self, name: &str, def: &PredicateDef) -> Result<LangValues> {
        let lang = self.catalog.text()?;
        let subjects = self.file.bitmap(&format!("{name}.subjects"))?;
        let rows = match self.catalog.byte()? {
            0 => None,
            _ => Some(self.file.offsets(&format!("{name}.rows"))?),
        };
        let values = self.values(&format!("{name}.values"))?;
        let facets = self.facets(name)?;
        let (row_count, count) = match &rows {
            Some(rows) => (rows.rows(), rows.total()),
            None => (values.len(), subjects.len()),
        };
        // Lengths alone: what the arrays hold is checked as it is read.
        self.check(row_count == subjects.len() && count == values.len(), name)?;
        let column = Column::new(subjects, rows, values, facets);
        let (mut indexes, mut vectors) = (Vec::new(), None);
        for _ in 0..self.catalog.count()? {
            let tag = self.catalog.byte()?;
            if tag == VECTORS_TAG {
                vectors = Some({
                    let of = (def, &column);
                    read_vectors(self.file, &mut self.catalog, name, of, self.thresholds.vectors)?
                });
                continue;
            }
            let kind = self.index_kind(tag)?;
            let name = format!("{name}.index{}", kind as u8);
            let index = TokenIndex::new(
                self.values(&format!("{name}.keys"))?,
                self.file.offsets(&format!("{name}.offsets"))?,
                self.file.array(&format!("{name}.postings"))?,
            );
            let fits = index.offsets.rows() == index.keys.len();
            self.check(fits && index.offsets.total() == index.postings.len(), &name)?;
            indexes.push((kind, index));
        }
        Ok(LangValues::new(Arc::from(lang), ValueBase { column, indexes, vectors }))
    }

    fn index_kind(&self, tag: u8) -> Result<IndexKind> {
        let kind = IndexKind::of_number(tag);
        kind.ok_or_else(|| self.catalog.corrupt("an index of an unknown kind"))
    }

    fn edges(&mut self, name: &str) -> Result<Edges> {
        let edges = Edges {
            subjects: self.file.bitmap(&format!("{name}.subjects"))?,
            offsets: self.file.offsets(&format!("{name}.offsets"))?,
            targets: self.file.array(&format!("{name}.targets"))?,
            facets: self.facets(name)?,
        };
        let fits = edges.offsets.rows() == edges.subjects.len();
        self.check(fits && edges.offsets.total() == edges.targets.len(), name)?;
        Ok(edges)
    }

    fn facets(&mut self, name: &str) -> Result<Vec<FacetColumn>> {
        let mut facets = Vec::new();
        for position in 0..self.catalog.count()? {
            let facet = FacetColumn::new(
                self.catalog.text()?.to_owned(),
                self.file.bitmap(&format!("{name}.facet{position}.positions"))?,
                self.values(&format!("{name}.facet{position}.values"))?,
            );
            self.check(facet.positions.len() == facet.values.len(), name)?;
            facets.push(facet);
        }
        Ok(facets)
    }

    /// Reads values.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Corrupt`] when the catalog or the sections make no sense.
    pub(crate) fn values(&mut self, name: &str) -> Result<Values> {
        let part = |part: &str| format!("{name}.{part}");
        let file = self.file;
        Ok(match self.catalog.byte()? {
            0 => Values::SmallInt(file.array(name)?),
            1 => Values::Int(file.array(name)?),
            2 => Values::Float(file.array(name)?),
            3 => Values::Bool(file.array(name)?),
            4 => {
                let seconds = file.array(&part("seconds"))?;
                let (nanos, offsets) = (file.array(&part("nanos"))?, file.array(&part("zones"))?);
                let fits = |len| len == 0 || len == seconds.len();
                self.check(fits(nanos.len()) && fits(offsets.len()), name)?;
                Values::DateTime { seconds, nanos, offsets }
            }
            5 => Values::Text { value_type: self.value_type()?, texts: file.text(name)? },
            6 => {
                let (offsets, numbers) = (file.offsets(name)?, file.array(&part("numbers"))?);
                self.check(offsets.total() == numbers.len(), name)?;
                Values::Vector { offsets, numbers }
            }
            7 => {
                let (offsets, bytes) = (file.offsets(name)?, file.array(&part("bytes"))?);
                self.check(offsets.total() == bytes.len(), name)?;
                Values::Mixed { offsets, bytes }
            }
            8 => Values::Days(file.array(name)?),
            9 => Values::SmallTime(file.array(name)?),
            10 => {
                let value_type = self.value_type()?;
                let (codes, texts) = (file.array(&part("codes"))?, file.text(name)?);
                Values::Coded { value_type, codes, texts }
            }
            _ => return Err(self.catalog.corrupt("values of an unknown kind")),
        })
    }

    fn value_type(&mut self) -> Result<ValueType> {
        let value_type = ValueType::from_tag(self.catalog.byte()?);
        value_type.ok_or_else(|| self.catalog.corrupt("values of an unknown type"))
    }

    fn check(&self, fits: bool, name: &str) -> Result<()> {
        match fits {
            true => Ok(()),
            false => Err(self.catalog.corrupt(&format!("the sections of `{name}` do not fit"))),
        }
    }
}
