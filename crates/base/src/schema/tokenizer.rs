//! Tokenizers: the kinds of index that a predicate can have.

use crate::types::{ValueType, did_you_mean};
use std::mem::discriminant;

/// A function from a value to the keys (tokens) under which an index lists it.
///
/// The variants name what a schema promises, in the terms of Dgraph. The store builds one index of
/// entire values for all of them but the text indexes from `Term` to `NGram`, `Geo` and `Hnsw`. So
/// values with a common token, such as 1.2 and 1.7 by `Float`, are still distinguished and sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Tokenizer {
    /// The integer itself.
    Int,
    /// The float, truncated to an integer.
    Float,
    /// The big float, truncated to an integer.
    BigFloat,
    /// The truth value.
    Bool,
    /// The UTC year.
    Year,
    /// The UTC year and month.
    Month,
    /// The UTC day.
    Day,
    /// The UTC day and hour.
    Hour,
    /// The S2 cells that cover the geometry.
    Geo,
    /// The text itself, or its collation key where it has a language.
    Exact,
    /// A hash of the text.
    Hash,
    /// The words of the text.
    Term,
    /// The words of the text without stop words, stemmed by language.
    FullText,
    /// Every sequence of three bytes of the text.
    Trigram,
    /// Runs of one to four stemmed words.
    NGram,
    /// A prefix of a text that is itself a hash. Only the engine uses it, for
    /// `dgraph.graphql.p_query`, which holds GraphQL queries that clients name by their SHA-256.
    Sha256,
    /// A graph that links near vectors (HNSW: hierarchical navigable small worlds, Malkov and
    /// Yashunin 2016).
    Hnsw(HnswOptions),
}

/// What the schema language has to know of a tokenizer.
struct Row {
    /// The tokenizer; that of vectors with the default options.
    tokenizer: Tokenizer,
    /// The name in schema text.
    name: &'static str,
    /// The type of the values that can have the index.
    value_type: ValueType,
    /// Whether the order of the tokens is the order of the values.
    is_sortable: bool,
}

const fn row(
    tokenizer: Tokenizer,
    name: &'static str,
    value_type: ValueType,
    is_sortable: bool,
) -> Row {
    Row { tokenizer, name, value_type, is_sortable }
}

/// All tokenizers, in the order in which messages list them. The schema language, its parser and
/// its printer read this table.
static ROWS: [Row; 17] = [
    row(Tokenizer::Hash, "hash", ValueType::String, false),
    row(Tokenizer::Exact, "exact", ValueType::String, true),
    row(Tokenizer::Term, "term", ValueType::String, false),
    row(Tokenizer::FullText, "fulltext", ValueType::String, false),
    row(Tokenizer::Trigram, "trigram", ValueType::String, false),
    row(Tokenizer::NGram, "ngram", ValueType::String, false),
    row(Tokenizer::Int, "int", ValueType::Int, true),
    row(Tokenizer::Float, "float", ValueType::Float, true),
    row(Tokenizer::BigFloat, "bigfloat", ValueType::BigFloat, true),
    row(Tokenizer::Bool, "bool", ValueType::Bool, false),
    row(Tokenizer::Year, "year", ValueType::DateTime, true),
    row(Tokenizer::Month, "month", ValueType::DateTime, true),
    row(Tokenizer::Day, "day", ValueType::DateTime, true),
    row(Tokenizer::Hour, "hour", ValueType::DateTime, true),
    row(Tokenizer::Geo, "geo", ValueType::Geo, false),
    row(Tokenizer::Sha256, "sha256", ValueType::String, false),
    row(Tokenizer::Hnsw(HnswOptions::DEFAULT), "hnsw", ValueType::Vector, false),
];

impl Tokenizer {
    /// Returns the names of all tokenizers, in the order in which messages list them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.name)
    }

    fn row(&self) -> &'static Row {
        let kind = discriminant(self);
        let mut rows = ROWS.iter();
        rows.find(|row| discriminant(&row.tokenizer) == kind).expect("each tokenizer has a row")
    }

    /// Returns the name in schema text, in lower case.
    pub fn name(&self) -> &'static str {
        self.row().name
    }

    /// Returns the tokenizer of a name ignoring case; that of `hnsw` has the default
    /// options.
    pub fn from_name(name: &str) -> Option<Tokenizer> {
        let result = ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name))?;
        Some(result.tokenizer.clone())
    }

    /// Returns true when the order of the tokens is the order of the values. Then the index can
    /// answer comparisons and sort results.
    pub fn is_sortable(&self) -> bool {
        self.row().is_sortable
    }

    /// Returns the first tokenizer in the order of messages that values of the type can have.
    pub fn of_values(value_type: ValueType) -> Option<&'static Tokenizer> {
        ROWS.iter().map(|row| &row.tokenizer).find(|tokenizer| tokenizer.accepts(value_type))
    }

    /// Returns true when values of the type can have this index.
    pub fn accepts(&self, value_type: ValueType) -> bool {
        self.row().value_type == value_type
    }
}

/// How the distance of two vectors is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The Euclidean length of their difference.
    Euclidean,
    /// The angle between them.
    Cosine,
    /// Their inner product.
    DotProduct,
}

impl Metric {
    /// Returns the name in schema text.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "euclidean",
            Metric::Cosine => "cosine",
            Metric::DotProduct => "dotproduct",
        }
    }

    /// Returns the metric of a name, or `None` for an unknown one.
    pub fn from_name(name: &str) -> Option<Metric> {
        Some(match name {
            "euclidean" => Metric::Euclidean,
            "cosine" => Metric::Cosine,
            "dotproduct" => Metric::DotProduct,
            _ => return None,
        })
    }
}

/// The options of a vector index: as they were written, and resolved with defaults.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HnswOptions {
    // The schema is printed with what its author wrote. What that means is retained beside it, so
    // that an index retains its numbers when a later version of the engine has other defaults.
    written: Vec<(String, String)>,
    metric: Metric,
    max_levels: u32,
    ef_construction: u32,
    ef_search: u32,
}

impl Default for HnswOptions {
    fn default() -> HnswOptions {
        HnswOptions::DEFAULT
    }
}

impl HnswOptions {
    // The numbers are those that `exponent: "3"` represents.
    const DEFAULT: HnswOptions = HnswOptions {
        written: Vec::new(),
        metric: Metric::Euclidean,
        max_levels: 3,
        ef_construction: 150,
        ef_search: 90,
    };

    /// Reads options given as pairs of name and value. Of two pairs with the same name the later
    /// one counts.
    ///
    /// # Errors
    ///
    /// A message and a hint, when a name or a metric is unknown, or a number is not an entire one
    /// above 0. Names are compared with their case, unlike those of tokenizers.
    pub fn new(
        written: Vec<(String, String)>,
    ) -> std::result::Result<HnswOptions, (String, String)> {
        let mut options = HnswOptions::default();
        // `exponent` sets the other options by a rule. An option that is given explicitly overrides
        // it, wherever the two stand.
        for (_, value) in written.iter().filter(|(name, _)| name == "exponent") {
            let exponent = count("exponent", value)?;
            options.max_levels = exponent;
            options.ef_construction = exponent.saturating_mul(50);
            options.ef_search = exponent.saturating_mul(30);
        }
        for (name, value) in &written {
            match name.as_str() {
                "metric" => options.metric = metric(value)?,
                "maxLevels" => options.max_levels = count(name, value)?,
                "efConstruction" => options.ef_construction = count(name, value)?,
                "efSearch" => options.ef_search = count(name, value)?,
                "exponent" => {}
                _ => return Err(unknown("is no option of hnsw", name, &OPTIONS)),
            }
        }
        options.written = written;
        Ok(options)
    }

    /// Restores options that were stored: as they were written, and what they were resolved to then
    /// (metric, layers, and the numbers of candidates of an insertion and of a search).
    pub(super) fn resolved(
        written: Vec<(String, String)>,
        metric: Metric,
        [max_levels, ef_construction, ef_search]: [u32; 3],
    ) -> HnswOptions {
        HnswOptions { written, metric, max_levels, ef_construction, ef_search }
    }

    /// Returns the options as they were written, in the order of the text.
    pub fn written(&self) -> &[(String, String)] {
        &self.written
    }

    /// Returns the metric of the distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Returns the greatest number of layers of the graph.
    pub fn max_levels(&self) -> u32 {
        self.max_levels
    }

    /// Returns the number of candidates of an insertion (`efConstruction`).
    pub fn ef_construction(&self) -> u32 {
        self.ef_construction
    }

    /// Returns the number of candidates of a search (`efSearch`).
    pub fn ef_search(&self) -> u32 {
        self.ef_search
    }
}

const OPTIONS: [&str; 5] = ["metric", "maxLevels", "efConstruction", "efSearch", "exponent"];

const METRICS: [&str; 3] = ["euclidean", "cosine", "dotproduct"];

/// Returns an error message for an unknown name, and a hint with the most similar existing one.
fn unknown(fault: &str, name: &str, existing: &[&str]) -> (String, String) {
    let hint = match did_you_mean(name, existing.iter().copied()) {
        near if near.is_empty() => format!("valid are {}", existing.join(", ")),
        near => near,
    };
    (format!("`{name}` {fault}"), hint)
}

fn metric(name: &str) -> std::result::Result<Metric, (String, String)> {
    Metric::from_name(name).ok_or_else(|| unknown("is no metric", name, &METRICS))
}

fn count(option: &str, value: &str) -> std::result::Result<u32, (String, String)> {
    match value.parse::<u32>() {
        Ok(number) if 0 < number => Ok(number),
        _ => {
            let message = format!("option `{option}` of hnsw is a number above 0, found `{value}`");
            Err((message, format!("write `{option}: \"4\"`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> std::result::Result<HnswOptions, (String, String)> {
        HnswOptions::new(pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect())
    }

    #[test]
    fn names_read_back() {
        for name in Tokenizer::names() {
            assert_eq!(Tokenizer::from_name(&name.to_uppercase()).unwrap().name(), name);
        }
        assert_eq!(Tokenizer::from_name("foo"), None);
    }

    #[test]
    fn exponent_fills_what_is_not_said() {
        let made = options(&[("efSearch", "7"), ("exponent", "4"), ("metric", "cosine")]).unwrap();
        assert_eq!(
            (made.max_levels(), made.ef_construction(), made.ef_search(), made.metric()),
            (4, 200, 7, Metric::Cosine)
        );
    }

    #[test]
    fn wrong_options_are_named() {
        for (name, value, part) in [
            ("foo", "1", "`foo` is no option"),
            ("metric", "foo", "`foo` is no metric"),
            ("maxLevels", "x", "`maxLevels` of hnsw is a number above 0, found `x`"),
            ("exponent", "-1", "found `-1`"),
            ("efSearch", "0", "found `0`"),
        ] {
            let (fault, _) = options(&[(name, value)]).unwrap_err();
            assert!(fault.contains(part), "{fault}");
        }
    }
}
