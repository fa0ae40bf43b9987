//! Writes the parts of a load to temporary files when they exceed its memory limit.
//!
//! Gathered data go to files in a temporary folder whenever they fill half of the memory. Each such
//! run contains the parts of each predicate in order of arrival. At the end predicates are read
//! back and built one by one, and the results go to a file too, which is mapped like any snapshot.
//! So memory is bounded by the setting and by the cost of the largest predicate. Names of nodes go
//! to the same files, see [`super::names`].
//!
//! A file is unlinked as soon as it is mapped: a crash leaves at most the folder with the file that
//! was being written, and [`remove_left`] removes these.

use crate::graph::build::parts::{EdgePart, FacetPart, FacetRows, ValuePart};
use crate::graph::persist;
use crate::graph::thresholds::Thresholds;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::Predicate;
use crate::storage::{Array, Disk, FileAccess, Identity, ScratchArray, SnapshotFile, Values};
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Error, Result, ValueType};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The beginning of the names of temporary folders; a number follows.
const FOLDER: &str = "load-";

/// The bound of the memory of a load, and the folder for what does not fit.
#[derive(Debug, Clone)]
pub struct SpillOptions {
    /// The folder in which its temporary folder is created.
    pub folder: PathBuf,
    /// The memory limit, apart from the largest predicate.
    pub memory: u64,
}

/// The temporary files of a load. The folder goes when this is dropped.
pub(in crate::graph) struct Spill {
    folder: PathBuf,
    held_max: usize,
    held: usize,
    /// The bytes that are held elsewhere.
    outside: usize,
    files: usize,
}

/// A part that went to a file.
pub(in crate::graph) struct Spilled {
    file: Arc<SnapshotFile>,
    name: String,
    catalog: Vec<u8>,
    /// Its bytes in memory.
    byte_len: usize,
}

/// The description of a part of a run that is being written.
pub(in crate::graph) struct SpilledPart {
    name: String,
    catalog: Vec<u8>,
    byte_len: usize,
}

/// A run being written.
pub(in crate::graph) struct Run {
    writer: persist::Writer,
    parts: usize,
}

/// Removes the folders that loads left in `folder` when they ended without notice.
///
/// # Errors
///
/// [`Error::Io`] on an error of the operating system.
pub fn remove_left(folder: &Path) -> Result<()> {
    let failed = |error| Error::io(format!("clearing {}", folder.display()), error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix(FOLDER).and_then(|rest| rest.strip_suffix(".tmp"));
        if number.is_some_and(|rest| rest.parse::<u32>().is_ok()) {
            fs::remove_dir_all(&path).map_err(failed)?;
        }
    }
    Ok(())
}

impl Spill {
    /// Creates the folder.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub(in crate::graph) fn new(options: &SpillOptions) -> Result<Spill> {
        // Half of it, as held data are copied once when the parts of a predicate are merged for
        // writing.
        let held_max = (options.memory / 2) as usize;
        for number in 0_u32.. {
            let folder = options.folder.join(format!("{FOLDER}{number}.tmp"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Spill { folder, held_max, held: 0, outside: 0, files: 0 }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Error::io(format!("creating {}", folder.display()), error));
                }
            }
        }
        unreachable!("no folder has 2^32 entries of one kind")
    }

    /// Says how many bytes are held elsewhere that count as well.
    pub(in crate::graph) fn set_outside(&mut self, bytes: usize) {
        self.outside = bytes;
    }

    /// Counts what is held in memory; true when it is too much.
    pub(in crate::graph) fn hold(&mut self, bytes: usize) -> bool {
        self.held += bytes;
        // A half of it at least is for columns, however much there is outside.
        self.held_max <= self.held + self.outside.min(self.held_max / 2)
    }

    /// Begins a run, which takes all that is held.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system, as do all that write.
    pub(in crate::graph) fn begin(&mut self) -> Result<Run> {
        self.held = 0;
        Ok(Run { writer: persist::Writer::create(&Disk, &self.next_path())?, parts: 0 })
    }

    /// Ends a run. Its parts are those added, by name and catalog.
    ///
    /// # Errors
    ///
    /// As [`Spill::begin`].
    pub(in crate::graph) fn end(&mut self, run: Run) -> Result<Arc<SnapshotFile>> {
        run.writer.finish_temporary()?;
        Ok(Arc::new(mapped(&self.path(self.files))?))
    }

    /// A predicate as it is, in a file instead of memory.
    ///
    /// # Errors
    ///
    /// As [`Spill::begin`].
    pub(in crate::graph) fn settle(
        &mut self,
        predicate: Predicate,
        thresholds: Thresholds,
    ) -> Result<Predicate> {
        let path = self.next_path();
        let name: Arc<str> = Arc::from(predicate.def.name.as_str());
        let def = PredicateDef::clone(&predicate.def);
        // A version of this predicate alone is written and opened as any snapshot is.
        let mut version = Version::empty();
        let mut schema = Schema::new();
        schema.predicates.insert(def.name.clone(), def);
        version.schema = Arc::new(schema);
        version.predicates = imbl::HashMap::unit(Arc::clone(&name), Arc::new(predicate));
        persist::save_temporary(&version, &path)?;
        drop(version);
        let version = persist::open_of(&path, Identity::NONE, FileAccess::Map, thresholds)?;
        remove(&path)?;
        let predicate = version.predicate(&name).expect("it was just written");
        Ok(Predicate::clone(predicate))
    }

    /// A file that an array is written to.
    ///
    /// # Errors
    ///
    /// As [`Spill::begin`].
    pub(in crate::graph) fn scratch(&mut self) -> Result<ScratchArray> {
        ScratchArray::create(self.next_path())
    }

    /// The memory for building a predicate: as much as was gathered before it went to files.
    pub(in crate::graph) fn memory(&self) -> usize {
        self.held_max
    }

    fn next_path(&mut self) -> PathBuf {
        self.files += 1;
        self.path(self.files)
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number}.hxs"))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // What can't be removed now is removed when the next load begins.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn mapped(path: &Path) -> Result<SnapshotFile> {
    let file = SnapshotFile::open(path)?;
    remove(path)?;
    Ok(file)
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        // Where a mapped file can't be removed it goes with the folder.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
            Err(Error::io(format!("removing {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

impl Run {
    /// Adds values of a predicate. Returns the argument of [`Spilled::new`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub(in crate::graph) fn values(&mut self, parts: Vec<ValuePart>) -> Result<SpilledPart> {
        let name = self.next_name();
        let byte_len = parts.iter().map(ValuePart::byte_len).sum();
        let (mut nodes, mut facets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for mut part in parts {
            part.facets.iter_mut().for_each(|facet| facet.rows.shift(nodes.len() as u32));
            facets.append(&mut part.facets);
            nodes.extend_from_slice(&part.nodes);
            values.push(part.values);
        }
        let values = Values::concat(ValueType::Default, values);
        self.writer.numbers(&format!("{name}.nodes"), nodes)?;
        self.writer.values(&format!("{name}.values"), &values)?;
        self.facets(&name, facets)?;
        Ok(SpilledPart { name, catalog: self.writer.finish_catalog(), byte_len })
    }

    /// Adds edges of a predicate. Returns the argument of [`Spilled::new`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system.
    pub(in crate::graph) fn edges(&mut self, mut parts: Vec<EdgePart>) -> Result<SpilledPart> {
        let name = self.next_name();
        let byte_len = parts.iter().map(EdgePart::byte_len).sum();
        let (mut facets, mut first) = (Vec::new(), 0);
        for part in &mut parts {
            part.facets.iter_mut().for_each(|facet| facet.rows.shift(first));
            facets.append(&mut part.facets);
            first += part.nodes.len() as u32;
        }
        // One column after the other, and what was copied is freed: less is held twice.
        let nodes = concatenated(parts.iter_mut().map(|part| &mut part.nodes), first);
        self.writer.numbers(&format!("{name}.nodes"), nodes)?;
        let targets = concatenated(parts.iter_mut().map(|part| &mut part.targets), first);
        self.writer.numbers(&format!("{name}.targets"), targets)?;
        self.facets(&name, facets)?;
        Ok(SpilledPart { name, catalog: self.writer.finish_catalog(), byte_len })
    }

    fn facets(&mut self, name: &str, facets: Vec<FacetPart>) -> Result<()> {
        self.writer.catalog.count(facets.len());
        for (position, facet) in facets.into_iter().enumerate() {
            self.writer.catalog.text(&facet.key);
            let rows = facet.rows.iter().collect();
            self.writer.numbers(&format!("{name}.rows{position}"), rows)?;
            self.writer.values(&format!("{name}.facet{position}"), &facet.values)?;
        }
        Ok(())
    }

    fn next_name(&mut self) -> String {
        self.parts += 1;
        self.parts.to_string()
    }
}

impl Spilled {
    /// A part of a run that was ended.
    pub(in crate::graph) fn new(file: &Arc<SnapshotFile>, written: SpilledPart) -> Spilled {
        let SpilledPart { name, catalog, byte_len } = written;
        Spilled { file: Arc::clone(file), name, catalog, byte_len }
    }

    /// Its bytes in memory.
    pub(in crate::graph) fn byte_len(&self) -> usize {
        self.byte_len
    }

    /// Reads values back.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when the file changed meanwhile.
    pub(in crate::graph) fn values(&self) -> Result<ValuePart> {
        let nodes = self.numbers("nodes")?;
        let mut reader = persist::Reader::new(&self.file, &self.catalog);
        let values = reader.values(&format!("{}.values", self.name))?;
        Ok(ValuePart { nodes, values, facets: self.facets(reader)? })
    }

    /// The nodes of values, and these, as they lie in the file.
    ///
    /// # Errors
    ///
    /// As [`Spilled::values`].
    pub(in crate::graph) fn mapped_values(&self) -> Result<(Array<u32>, Values)> {
        let nodes = self.file.array::<u32>(&format!("{}.nodes", self.name))?;
        let mut reader = persist::Reader::new(&self.file, &self.catalog);
        Ok((nodes, reader.values(&format!("{}.values", self.name))?))
    }

    /// Reads edges back.
    ///
    /// # Errors
    ///
    /// As [`Spilled::values`].
    pub(in crate::graph) fn edges(&self) -> Result<EdgePart> {
        let (nodes, targets) = (self.numbers("nodes")?, self.numbers("targets")?);
        let facets = self.facets(persist::Reader::new(&self.file, &self.catalog))?;
        Ok(EdgePart { nodes, targets, facets })
    }

    /// The sources and targets of edges, as they lie in the file.
    ///
    /// # Errors
    ///
    /// As [`Spilled::values`].
    pub(in crate::graph) fn endpoints(&self) -> Result<[Array<u32>; 2]> {
        let array = |part: &str| self.file.array::<u32>(&format!("{}.{part}", self.name));
        Ok([array("nodes")?, array("targets")?])
    }

    fn facets(&self, mut reader: persist::Reader<'_>) -> Result<Vec<FacetPart>> {
        let mut facets = Vec::new();
        for position in 0..reader.catalog.count()? {
            let key = reader.catalog.text()?.to_owned();
            let rows = FacetRows::new(self.numbers(&format!("rows{position}"))?);
            let values = reader.values(&format!("{}.facet{position}", self.name))?;
            facets.push(FacetPart { key, rows, values });
        }
        Ok(facets)
    }

    fn numbers(&self, part: &str) -> Result<Vec<u32>> {
        let array = self.file.array::<u32>(&format!("{}.{part}", self.name))?;
        array.to_vec_checked()
    }
}

/// Columns in one, which has `len` numbers. Each is freed when it was copied.
fn concatenated<'p>(columns: impl Iterator<Item = &'p mut Vec<u32>>, len: u32) -> Vec<u32> {
    let mut all = Vec::with_capacity(len as usize);
    columns.for_each(|column| all.extend_from_slice(&std::mem::take(column)));
    all
}

impl ValuePart {
    /// The bytes that it takes.
    pub fn byte_len(&self) -> usize {
        4 * self.nodes.len() + self.values.byte_len() + facets_len(&self.facets)
    }
}

impl EdgePart {
    /// The bytes that it takes.
    pub fn byte_len(&self) -> usize {
        8 * self.nodes.len() + facets_len(&self.facets)
    }
}

fn facets_len(facets: &[FacetPart]) -> usize {
    let rows = |facet: &FacetPart| match &facet.rows {
        FacetRows::Range(_) => 0,
        FacetRows::List(rows) => 4 * rows.len(),
    };
    facets.iter().map(|facet| rows(facet) + facet.values.byte_len()).sum()
}

#[cfg(test)]
mod tests {
    use super::super::gather::REPEATED_EDGE_LEN;
    use super::*;
    use crate::graph::{LoadOptions, LoadReport, LoadSource, alter, export, load};
    use hexgraph_base::budget::Budget;
    use proptest::prelude::*;

    const SCHEMA: &str = "name: string @index(term) @lang .\nage: int @index(int) .\n\
                          knows: [uid] @reverse .\nboss: uid @reverse .\ntag: [string] .\n\
                          code: string @index(exact) @unique .";

    fn exported(version: &Version) -> String {
        let mut text = Vec::new();
        export(version, &mut text, &|| Ok(())).unwrap();
        String::from_utf8(text).unwrap() + &version.schema.to_text()
    }

    /// Loads texts, as many sources, one after the other into the previous result.
    fn loaded(texts: &[String], spill: Option<&SpillOptions>, ids: Option<&str>) -> Result<String> {
        let (mut version, mut nodes) = (alter(&Version::empty(), SCHEMA)?, String::new());
        for half in texts.chunks(texts.len().div_ceil(2).max(1)) {
            let source = |text: &String| {
                let reader = Box::new(io::Cursor::new(text.clone().into_bytes()));
                LoadSource { name: "test".to_owned(), reader }
            };
            let sources = half.iter().map(source).collect();
            let options = LoadOptions { spill: spill.cloned(), ids, ..LoadOptions::default() };
            let (next, report) = load(&version, sources, &options)?;
            let LoadReport { nodes: all, new_nodes, triples, notes, warnings, .. } = report;
            nodes += &format!("{all} {new_nodes} {triples} {notes:?} {warnings:?}\n");
            version = next;
        }
        Ok(nodes + &exported(&version))
    }

    fn line() -> impl Strategy<Value = String> {
        let node = prop_oneof![
            (1_u64..30).prop_map(|uid| format!("<{uid:#x}>")),
            (0_u64..9).prop_map(|uid| format!("<{:#x}>", (1_u64 << 40) + uid * 7)),
            (0..9).prop_map(|label| format!("_:b{label}")),
            (0..40).prop_map(|name| format!("<n{name}>")),
            (0..9).prop_map(|name| format!("<http://x.y/é{name}?q=1#b>")),
        ];
        let facets = prop_oneof![Just(String::new()), (0..5).prop_map(|n| format!("(w={n})"))];
        (node.clone(), node, 0..9, 0..40, facets).prop_map(|(from, to, kind, number, facets)| {
            match kind {
                0 => format!("{from} <name> \"n{number}\" {facets} ."),
                1 => format!("{from} <name> \"n{number}\"@en {facets} ."),
                2 => format!("{from} <age> \"{number}\" ."),
                3 | 4 => format!("{from} <knows> {to} {facets} ."),
                5 => format!("{from} <boss> {to} {facets} ."),
                6 => format!("{from} <tag> \"t{number}\" {facets} ."),
                7 => format!("{from} <unknown> \"u{number}\" ."),
                _ => format!("{from} <edge> {to} ."),
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_bounded_load_makes_the_same_graph(
            texts in prop::collection::vec(prop::collection::vec(line(), 0..40), 1..7)
        ) {
            let texts: Vec<String> = texts.iter().map(|lines| lines.join("\n")).collect();
            let folder = tempfile::tempdir().unwrap();
            for ids in [None, Some("id")] {
                let free = loaded(&texts, None, ids).unwrap();
                for memory in [0, 1500] {
                    let spill = SpillOptions { folder: folder.path().to_owned(), memory };
                    prop_assert_eq!(&loaded(&texts, Some(&spill), ids).unwrap(), &free);
                }
            }
            // Nothing is left of the temporary folder.
            prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    /// Data read back are reserved in the budget, and released before the next predicate.
    #[test]
    fn what_is_read_back_is_reserved() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillOptions { folder: folder.path().to_owned(), memory: 1500 };
        let line = |predicate: usize, node: u64| {
            format!("<{node:#x}> <p{predicate}> \"{}\" .\n", "x".repeat(200))
        };
        let mut text = String::new();
        for predicate in 0..8 {
            (1..=1000).for_each(|node| text += &line(predicate, node));
        }
        let outcome = |bytes: u64| {
            let mut version = Version::empty();
            version.budget = Budget::new(bytes);
            let reader = Box::new(io::Cursor::new(text.clone().into_bytes()));
            let sources = vec![LoadSource { name: "test".to_owned(), reader }];
            let options = LoadOptions { spill: Some(spill.clone()), ..LoadOptions::default() };
            let loaded = load(&version, sources, &options);
            assert_eq!(version.budget.reserved(), 0);
            loaded.map(|(_, report)| report.triples)
        };
        let refused = outcome(150 << 10);
        assert!(matches!(refused, Err(Error::Limit { .. })), "one predicate takes 200 KB");
        assert_eq!(outcome(1 << 20).unwrap(), 8000);
    }

    /// Edges that come again are listed where some edge has a facet, and the list is reserved.
    #[test]
    fn edges_that_come_again_are_reserved() {
        const EDGES: usize = 100_000;
        let peak = |facet: &str, bound: u64| {
            let mut version = Version::empty();
            version.budget = Budget::new(bound);
            let text =
                format!("<1> <knows> <2> {facet} .\n") + &"<3> <knows> <2> .\n".repeat(EDGES);
            let reader = Box::new(io::Cursor::new(text.into_bytes()));
            let sources = vec![LoadSource { name: "test".to_owned(), reader }];
            version.budget.forget_peak();
            let repeated = load(&version, sources, &LoadOptions::default())?.1.repeated;
            assert_eq!(repeated, EDGES as u64 - 1);
            Ok::<u64, Error>(version.budget.peak())
        };
        let (plain, listed) = (peak("", 1 << 30).unwrap(), peak("(w=1)", 1 << 30).unwrap());
        let list = (EDGES * REPEATED_EDGE_LEN) as u64;
        assert!(plain + list < listed, "{plain} + {list}, {listed}");
        assert!(matches!(peak("(w=1)", listed / 2), Err(Error::Limit { .. })));
    }

    /// Names are reserved with what is gathered, and go to files with it.
    #[test]
    fn names_of_nodes_are_reserved() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillOptions { folder: folder.path().to_owned(), memory: 64 << 10 };
        let name = |number: usize| format!("{}{number}", "x".repeat(150));
        let line =
            |number: usize| format!("<{}> <edge> _:{} .\n", name(number), name(number % 3000));
        let text: String = (0..6000).map(line).collect();
        let outcome = |spill: Option<&SpillOptions>| {
            let mut version = Version::empty();
            version.budget = Budget::new(1 << 20);
            let reader = Box::new(io::Cursor::new(text.clone().into_bytes()));
            let sources = vec![LoadSource { name: "test".to_owned(), reader }];
            let options = LoadOptions { spill: spill.cloned(), ..LoadOptions::default() };
            let loaded = load(&version, sources, &options);
            assert_eq!(version.budget.reserved(), 0);
            loaded.map(|(_, report)| (report.triples, report.new_nodes))
        };
        // Edges need 48 KB, and their nodes 2.2 MB.
        assert!(matches!(outcome(None), Err(Error::Limit { .. })));
        assert_eq!(outcome(Some(&spill)).unwrap(), (6000, 9000));
    }

    #[test]
    fn shared_values_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillOptions { folder: folder.path().to_owned(), memory: 0 };
        let texts = [
            "<1> <code> \"a\" .\n_:b <code> \"c\" .".to_owned(),
            String::new(),
            "_:x <code> \"b\" .\n_:y <code> \"a\" .".to_owned(),
        ];
        let names = ["<1> <name> \"a\" .\n<a#b> <code> \"c\" .\n_:b <code> \"c\" .".to_owned()];
        for spill in [None, Some(&spill)] {
            let fault = loaded(&names, spill, None).unwrap_err().to_string();
            let both = ["<a#b> and _:b", "_:b and <a#b>"];
            assert!(both.iter().any(|both| fault.contains(both)), "{fault}");
            let fault = loaded(&texts, spill, None).unwrap_err().to_string();
            let want = "`code` is `@unique`, but <0x1> and _:y both have \"a\"";
            assert!(fault.starts_with(want), "{fault}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_crash_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["load-7.tmp", "load-x.tmp", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("load-7.tmp/1.hxs"), "half").unwrap();
        remove_left(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
