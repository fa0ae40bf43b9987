//! Options that say which column of a table means what.

use crate::db::LoadProgress;
use arrow_array::RecordBatchReader;
use hexgraph_base::types::{Error, Result, ValueType};
use hexgraph_store::graph::IdSpace;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table to load.
pub enum Table {
    /// Batches of Arrow columns.
    Batches(Box<dyn RecordBatchReader + Send>),
    /// A file: Parquet, Arrow, JSON or delimited text by the end of its name, the latter two
    /// perhaps after .gz or .zst. Folders of the path such as `year=2024` are columns, too.
    File(PathBuf),
}

/// What tables of nodes and of edges have in common.
#[derive(Clone, Default)]
pub struct TableOptions {
    /// Definitions that are added to the schema first.
    pub schema: Option<String>,
    /// The types of columns of a CSV file, where its first lines would mislead.
    pub types: BTreeMap<String, ValueType>,
    /// True to leave out values that can't be stored, and to report them.
    pub skip_errors: bool,
    /// The progress of the load, which other threads may read.
    pub progress: LoadProgress,
    /// The bytes of memory that the load may use in addition to its largest predicate; 0 for no
    /// bound.
    pub memory: u64,
    /// The character between the cells of a text file, or [`NO_SEPARATOR`]; `None` finds it in the
    /// first lines.
    pub separator: Option<u8>,
    /// The encoding of a text file; `None` finds it in its beginning.
    pub encoding: Option<Encoding>,
    /// How a text file is written otherwise.
    pub text: TextOptions,
    /// What happens to columns whose names no predicates can have.
    pub names: Names,
    /// The name of a column that has the path of the file of each row.
    pub file_column: Option<String>,
}

/// What happens to columns whose names no predicates can have, since there are blanks in them or
/// two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// They are refused by the schema, which says what is wrong with a name.
    Retain,
    /// Their predicates have names that are made of them; the report lists these.
    #[default]
    Clean,
    /// They are refused.
    Error,
}

impl Names {
    /// Returns what `"keep"`, `"clean"` or `"error"` means.
    ///
    /// ```
    /// use hexgraph::tables::Names;
    ///
    /// assert!(matches!(Names::from_name("clean")?, Names::Clean));
    /// assert!(Names::from_name("drop").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with these names.
    pub fn from_name(name: &str) -> Result<Names> {
        match name {
            "keep" => Ok(Names::Retain),
            "clean" => Ok(Names::Clean),
            "error" => Ok(Names::Error),
            _ => Err(Error::query(format!(
                "names is \"keep\", \"clean\" or \"error\", not {name:?}"
            ))),
        }
    }
}

/// How a delimited text file is written. What is `None` is detected from its beginning.
#[derive(Debug, Clone, Default)]
pub struct TextOptions {
    /// Whether the first record has the names of the columns.
    pub header: Option<bool>,
    /// The ASCII character around fields; `Some(None)` where quotes are literal.
    pub quote: Option<Option<u8>>,
    /// The ASCII character that makes the next one literal: any one within quotes, a separator,
    /// quote, line break or the character itself outside of them. Two quotes are always one literal
    /// quote.
    pub escape: Option<u8>,
    /// The ASCII character with which comments begin; `Some(None)` where there are none.
    pub comment: Option<Option<u8>>,
    /// The number of lines before the first record.
    pub skip: Option<u64>,
    /// Texts that are missing values in each column. Where there are none, `n/a` and its like are
    /// in columns of numbers, truth values and times.
    pub null_values: Vec<String>,
    /// Whether an empty field in quotes is a missing value; else it is an empty text.
    pub quoted_null: bool,
    /// What happens to records with more or fewer fields than there are columns.
    pub ragged: Ragged,
    /// The names of the columns of a file that has none.
    pub columns: Option<Vec<String>>,
}

impl TableOptions {
    /// The names of the options for text files that are set, and that say nothing about another
    /// table. JSON has some of them.
    pub(in crate::tables) fn unused_for_other(&self, is_json: bool) -> Vec<&'static str> {
        let TextOptions { header, quote, escape, comment, skip, null_values, .. } = &self.text;
        let of_json = [(header.is_some(), "header"), (!null_values.is_empty(), "null_values")];
        let of_text = [
            (self.separator.is_some(), "separator"),
            (self.encoding.is_some(), "encoding"),
            (quote.is_some(), "quote"),
            (escape.is_some(), "escape"),
            (comment.is_some(), "comment"),
            (skip.is_some(), "skip"),
            (self.text.quoted_null, "quoted_null"),
            (self.text.ragged != Ragged::Error, "ragged"),
        ];
        let of_json = of_json.into_iter().filter(|_| !is_json);
        let set = of_json.chain(of_text).filter(|(is_set, _)| *is_set);
        set.map(|(_, name)| name).collect()
    }
}

/// The value of an option of text files, as it was detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SniffedOption {
    /// A text, empty for none.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A number.
    Number(u64),
    /// Texts.
    Texts(Vec<String>),
    /// The types of columns.
    Types(Vec<(String, String)>),
}

/// What happens to a record with more or fewer fields than there are columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ragged {
    /// It fails the load.
    #[default]
    Error,
    /// It is left out, and the report lists it.
    Skip,
    /// Fields that are not there are missing values. A record with more fields fails the load.
    Fill,
}

impl Ragged {
    /// Its name.
    pub(in crate::tables) fn name(self) -> &'static str {
        match self {
            Ragged::Error => "error",
            Ragged::Skip => "skip",
            Ragged::Fill => "fill",
        }
    }

    /// Returns what `"error"`, `"skip"` or `"fill"` means.
    ///
    /// ```
    /// use hexgraph::tables::Ragged;
    ///
    /// assert!(matches!(Ragged::from_name("skip")?, Ragged::Skip));
    /// assert!(Ragged::from_name("drop").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with these names.
    pub fn from_name(name: &str) -> Result<Ragged> {
        match name {
            "error" => Ok(Ragged::Error),
            "skip" => Ok(Ragged::Skip),
            "fill" => Ok(Ragged::Fill),
            _ => Err(Error::query(format!(
                "ragged is \"error\", \"skip\" or \"fill\", not {name:?}"
            ))),
        }
    }
}

/// The encodings of text files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with a byte order mark or without.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Windows-1252, a superset of Latin-1.
    Windows1252,
}

impl Encoding {
    /// The encodings by their names in messages and options.
    const NAMES: [(&'static str, Encoding); 7] = [
        ("utf-8", Encoding::Utf8),
        ("utf-16le", Encoding::Utf16Le),
        ("utf-16be", Encoding::Utf16Be),
        ("windows-1252", Encoding::Windows1252),
        ("latin-1", Encoding::Windows1252),
        ("iso-8859-1", Encoding::Windows1252),
        ("cp1252", Encoding::Windows1252),
    ];

    /// Its name in reports.
    pub(in crate::tables) fn name(self) -> &'static str {
        let existing = Encoding::NAMES.iter().find(|(_, encoding)| *encoding == self);
        existing.map_or("", |(name, _)| name)
    }

    /// Returns the encoding of a name, ignoring case, with `_` or nothing for `-`.
    ///
    /// ```
    /// use hexgraph::tables::Encoding;
    ///
    /// assert!(matches!(Encoding::from_name("UTF_16LE")?, Encoding::Utf16Le));
    /// assert!(Encoding::from_name("ebcdic").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the names that there are.
    pub fn from_name(name: &str) -> Result<Encoding> {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_'], "");
        let result = Encoding::NAMES.iter().find(|(existing, _)| plain(existing) == plain(name));
        result.map(|(_, encoding)| *encoding).ok_or_else(|| {
            let names = Encoding::NAMES.map(|(name, _)| name).join(", ");
            Error::query(format!("encoding is one of {names}, not {name:?}"))
        })
    }
}

/// What happens to an edge whose end is an id that no node has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// A new node gets the id.
    #[default]
    Make,
    /// The edge is left out, and the report counts the id.
    Skip,
    /// The load fails.
    Raise,
}

impl Missing {
    /// Returns what `"make"`, `"skip"` or `"raise"` means.
    ///
    /// ```
    /// use hexgraph::tables::Missing;
    ///
    /// assert!(matches!(Missing::from_name("raise")?, Missing::Raise));
    /// assert!(Missing::from_name("drop").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with these names.
    pub fn from_name(name: &str) -> Result<Missing> {
        match name {
            "make" => Ok(Missing::Make),
            "skip" => Ok(Missing::Skip),
            "raise" => Ok(Missing::Raise),
            _ => Err(Error::query(format!(
                "missing is \"make\", \"skip\" or \"raise\", not {name:?}"
            ))),
        }
    }
}

/// Two columns that make one value: a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointColumns {
    /// The predicate of the points, of type geo.
    pub predicate: String,
    /// The column of latitudes, in degrees from -90 to 90.
    pub latitude: String,
    /// The column of longitudes, in degrees from -180 to 180.
    pub longitude: String,
}

impl From<Table> for Vec<Table> {
    fn from(table: Table) -> Vec<Table> {
        vec![table]
    }
}

/// A column whose cells name the nodes to which edges lead from the nodes of the rows: one each, or
/// some where cells are lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The column.
    pub column: String,
    /// The predicate of the edges. With `None` it is called as the column is, or as the type where
    /// the column has the name of a predicate of values.
    pub predicate: Option<String>,
    /// The type of the nodes to which the edges lead, which those get that the load makes.
    pub node_type: Option<String>,
    /// What names these nodes: a predicate, a type that has one for that, both as `Airport.faa`, or
    /// `uid`.
    pub target: String,
    /// The predicate of the target's ids; a load detects it by itself.
    pub ids: Option<IdSpace>,
}

impl ForeignKey {
    /// A column that points to what `target` says.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use hexgraph::tables::{ForeignKey, NodeOptions, Table};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let file = |name: &str, text: &str| {
    ///     std::fs::write(folder.path().join(name), text).unwrap();
    ///     Table::File(folder.path().join(name))
    /// };
    /// let db = Database::in_memory();
    /// let cities = NodeOptions { id: Some("city".to_owned()), ..NodeOptions::default() };
    /// db.load_nodes(file("cities.csv", "city,country\nParis,FR\n"), cities)?;
    /// let edges = vec![ForeignKey::new("lives_in", "city")];
    /// let people = NodeOptions { edges, ..NodeOptions::default() };
    /// db.load_nodes(file("people.csv", "id,lives_in\nada,Paris\n"), people)?;
    /// let answer = db.query("{ q(func: has(lives_in)) { lives_in { country } } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"lives_in":{"country":"FR"}}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn new(column: &str, target: &str) -> Self {
        let (column, target) = (column.to_owned(), target.to_owned());
        Self { column, target, predicate: None, node_type: None, ids: None }
    }
}

/// How a table of nodes is loaded: a row is a node, its columns are predicates.
#[derive(Clone)]
pub struct NodeOptions {
    /// The column that names the node of a row; without one each row is a new node.
    pub id: Option<String>,
    /// What that column holds. With `None` its values are retained in the predicate of its name,
    /// which gets an index and is `@unique`; or in [`ID_PREDICATE`], where the database has that
    /// one and none of the column's name.
    pub ids: Option<IdSpace>,
    /// The types of all the nodes.
    pub node_types: Vec<String>,
    /// The predicates of columns that are not called as they are; `None` leaves a column out.
    pub columns: BTreeMap<String, Option<String>>,
    /// The points that pairs of columns make, in addition to the columns themselves.
    pub points: Vec<PointColumns>,
    /// The columns that are edges.
    pub edges: Vec<ForeignKey>,
    /// What happens to such edges to ids that no node has.
    pub missing: Missing,
    /// Whether predicates are called by the first type and the column, as `Airport.city`, where the
    /// options do not name them.
    pub prefix: bool,
    /// The options that nodes and edges have in common.
    pub table: TableOptions,
}

/// How a table of edges is loaded: a row is an edge.
#[derive(Clone)]
pub struct EdgeOptions {
    /// The predicate of the edges.
    pub predicate: String,
    /// The column that names the node where an edge starts.
    pub source: String,
    /// The column of the target of an edge.
    pub target: String,
    /// What the column of sources holds. With `None` that is the predicate of its name if it is
    /// `@unique`, else [`ID_PREDICATE`] if there is one, else the only one that is `@unique`.
    pub source_ids: Option<IdSpace>,
    /// What the column of targets holds; as `source_ids`.
    pub target_ids: Option<IdSpace>,
    /// What happens to edges to ids that no node has.
    pub missing: Missing,
    /// The columns that are facets of the edges, and the keys of these.
    pub facets: Vec<(String, String)>,
    /// Whether the types of the nodes where edges start get the predicate as a field, and nodes
    /// that the load makes the type of the other nodes at the same end.
    pub owned: bool,
    /// The options that nodes and edges have in common.
    pub table: TableOptions,
}

/// The separator of a text file of one column, each of whose lines is a text: a byte that UTF-8 has
/// not.
pub const NO_SEPARATOR: u8 = 0xff;

/// The predicate of external ids where no column and no option names another one.
pub const ID_PREDICATE: &str = "xid";

impl Default for NodeOptions {
    fn default() -> NodeOptions {
        NodeOptions {
            id: Some("id".to_owned()),
            ids: None,
            node_types: Vec::new(),
            edges: Vec::new(),
            missing: Missing::default(),
            prefix: false,
            columns: BTreeMap::new(),
            points: Vec::new(),
            table: TableOptions::default(),
        }
    }
}

impl NodeOptions {
    /// The predicate of a name that the options do not give: with the type in front of it, where
    /// they say so.
    pub(in crate::tables) fn prefixed<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.node_types.first().filter(|_| self.prefix) {
            Some(of) => Cow::Owned(format!("{of}.{name}")),
            None => Cow::Borrowed(name),
        }
    }
}

impl EdgeOptions {
    /// Edges of a predicate from the nodes in column `source` to those in column `target`.
    ///
    /// ```
    /// use hexgraph::tables::EdgeOptions;
    ///
    /// let options = EdgeOptions::new("knows", "from", "to");
    /// assert_eq!((options.source.as_str(), options.target.as_str()), ("from", "to"));
    /// ```
    pub fn new(predicate: &str, source: &str, target: &str) -> EdgeOptions {
        EdgeOptions {
            predicate: predicate.to_owned(),
            source: source.to_owned(),
            target: target.to_owned(),
            source_ids: None,
            target_ids: None,
            missing: Missing::default(),
            facets: Vec::new(),
            owned: true,
            table: TableOptions::default(),
        }
    }
}
