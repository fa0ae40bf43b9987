//! The geo functions: candidates from the index of cells, then a test of each.

use super::column_test::Condition;
use super::needed_index::expect_index;
use super::tester::Tester;
use crate::exec::access_path::FilterPath;
use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::graph::{IndexView, LangValues, Predicate};
use crate::index::{IndexKind, TokenKey};
use crate::storage::NodeSet;
use hexgraph_base::geo::{GeoArgumentError, GeoQuery};
use hexgraph_base::plan::{Call, Function, GeoRelation, PredicateRef, PredicateUse};
use hexgraph_base::types::{Error, Result, ValueType};
use std::ops::Bound;
use std::sync::Arc;

/// A geo function as the plan has it.
#[derive(Clone, Copy)]
pub(crate) struct GeoCall<'f> {
    /// How the stored geometry must lie to the given one.
    pub(crate) relation: GeoRelation,
    /// The predicate.
    pub(crate) name: &'f PredicateRef,
    /// The arguments as text.
    pub(crate) arguments: &'f [String],
}

impl<'a> Context<'a> {
    /// The nodes of a geo function, all of them or those among `candidates`.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for wrong arguments, and for a predicate without an index.
    pub(crate) fn geo_nodes(
        &self,
        call: GeoCall<'_>,
        candidates: Option<&NodeSet>,
    ) -> Result<NodeSet> {
        let Some((predicate, query)) = self.geo_query(call)? else { return Ok(NodeSet::default()) };
        let lang = call.name.lang.as_deref();
        let result = match candidates {
            Some(candidates) => {
                let path = self.cells_path(predicate, lang, &query, candidates.len());
                self.record_path(path);
                if path == FilterPath::Test {
                    candidates.clone()
                } else {
                    candidates.and(&nodes_in_cells(predicate, lang, &query))
                }
            }
            None => nodes_in_cells(predicate, lang, &query),
        };
        let tester = Tester::of_values(predicate, lang, Condition::Relates(Arc::new(query)));
        Ok(NodeSet::from(self.retain_passing(Members::Set(&result), &tester)?))
    }

    fn cells_path(
        &self,
        predicate: &Predicate,
        lang: Option<&str>,
        query: &GeoQuery,
        candidates: usize,
    ) -> FilterPath {
        // The cells may give more to be tested than there are.
        let is_few = candidates <= estimate(predicate, lang, query);
        let cheapest = if is_few { FilterPath::Test } else { FilterPath::Cells };
        self.pick(cheapest, candidates, || vec![FilterPath::Test, FilterPath::Cells])
    }

    /// How so many candidates are reduced to those that pass a geo function; `None` while nothing
    /// has the predicate. Reads no data.
    ///
    /// # Errors
    ///
    /// As [`Context::geo_nodes`].
    pub(crate) fn geo_path(
        &self,
        call: GeoCall<'_>,
        candidates: usize,
    ) -> Result<Option<FilterPath>> {
        let lang = call.name.lang.as_deref();
        let result = self.geo_query(call)?;
        Ok(result.map(|(predicate, query)| self.cells_path(predicate, lang, &query, candidates)))
    }

    /// The number of nodes that the index of cells leaves for a geo function; `None` without one.
    ///
    /// # Errors
    ///
    /// As [`Context::geo_nodes`].
    pub(crate) fn geo_estimate(&self, call: GeoCall<'_>) -> Result<Option<usize>> {
        let lang = call.name.lang.as_deref();
        let result = self.geo_query(call)?;
        Ok(result.and_then(|(predicate, query)| cells_estimate(predicate, lang, &query)))
    }

    /// All nodes of a geo function, where the index of cells leaves at most `most` nodes to be
    /// tested; `None` where it leaves more, there is none, and for any other function.
    ///
    /// # Errors
    ///
    /// As [`Context::geo_nodes`].
    pub(in crate::exec) fn geo_set(
        &self,
        function: &Function,
        most: usize,
    ) -> Result<Option<NodeSet>> {
        let Call::Geo { relation, predicate: name, arguments } = &function.call else {
            return Ok(None);
        };
        let call = GeoCall { relation: *relation, name, arguments };
        let result = self.geo_estimate(call).map_err(|error| error.or_at(function.at))?;
        let Some(result) = result else { return Ok(None) };
        match self.pick(result <= most, most, || vec![true, false]) {
            true => self.geo_nodes(call, None).map(Some),
            false => Ok(None),
        }
    }

    /// A geo function as a test of single nodes. Requires an index too, as Dgraph does.
    pub(crate) fn geo_tester<'f>(&self, call: GeoCall<'f>) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        Ok(match self.geo_query(call)? {
            Some((predicate, query)) => {
                let lang = call.name.lang.as_deref();
                Tester::of_values(predicate, lang, Condition::Relates(Arc::new(query)))
            }
            None => Tester::Constant(false),
        })
    }

    fn geo_query(&self, call: GeoCall<'_>) -> Result<Option<(&'a Predicate, GeoQuery)>> {
        let Some(predicate) = self.resolve(call.name)? else { return Ok(None) };
        // In other languages `contains` looks for a chunk of a text. Dgraph accepts any index,
        // though no other than geo has matches.
        if call.relation == GeoRelation::Contains && is_chunk_of_text(predicate, call.arguments) {
            return Err(not_of_texts(&predicate.def.name, &call.arguments[0]));
        }
        expect_index(predicate, PredicateUse::Geo)?;
        let query = match (call.relation, call.arguments) {
            (GeoRelation::Near, [center, distance]) => GeoQuery::near(center, distance),
            (GeoRelation::Within, [area]) => GeoQuery::within(area),
            (GeoRelation::Contains, [inner]) => GeoQuery::contains(inner),
            (GeoRelation::Intersects, [area]) => GeoQuery::intersects(area),
            (relation, _) => {
                let name = relation.name();
                return Err(Error::query(format!("`{name}` has a wrong number of arguments")));
            }
        };
        let query = query.map_err(|error| match error {
            GeoArgumentError::NoGeometry { function: "near", .. } => {
                let hint = "a point is `[longitude, latitude]`: `near(place, [13.4, 52.5], 1000)`";
                Error::query(error).with_hint(hint)
            }
            error => Error::query(error),
        })?;
        Ok((predicate.def.value_type == ValueType::Geo).then_some((predicate, query)))
    }
}

/// True for a test of texts with something that is no geometry: neither a list of coordinates nor
/// GeoJSON.
fn is_chunk_of_text(predicate: &Predicate, arguments: &[String]) -> bool {
    let is_text = predicate.def.value_type.is_text();
    is_text && arguments.len() == 1 && !arguments[0].trim_start().starts_with(['[', '{'])
}

/// The error for a chunk of text in the argument of `contains`.
fn not_of_texts(name: &str, chunk: &str) -> Error {
    let message = format!("`contains` is for areas of the type geo, and `{name}` is a text");
    let chunk: String = chunk.chars().take(20).collect();
    let hint = format!(
        "write `anyoftext({name}, {chunk:?})` for words, `regexp({name}, /.../i)` for parts of words, or `match({name}, {chunk:?}, 3)` for similar spellings"
    );
    Error::query(message).with_hint(hint)
}

/// The nodes that have a cell where the query has one.
fn nodes_in_cells(predicate: &Predicate, lang: Option<&str>, query: &GeoQuery) -> NodeSet {
    let mut nodes = Vec::new();
    for part in predicate.parts(lang) {
        let Some(view) = part.index(IndexKind::Geo) else {
            // A file of an older version has no geo index: all are candidates.
            part.subjects().append_to(&mut nodes);
            continue;
        };
        append_cells(view, query, &mut nodes);
    }
    crate::graph::union_of(nodes)
}

/// Appends the nodes of an index that have a cell where the query has one: unordered, and with
/// repeats.
pub(super) fn append_cells(view: IndexView<'_>, query: &GeoQuery, nodes: &mut Vec<u32>) {
    for (low, high) in query.spans() {
        let (low, high) = (TokenKey::Int(low), TokenKey::Int(high));
        view.append_range(Bound::Included(&low), Bound::Included(&high), nodes);
    }
    for cell in query.cells_around() {
        view.nodes(&TokenKey::Int(cell)).append_to(nodes);
    }
}

/// As [`estimate`]; `None` where a language has no index of cells.
fn cells_estimate(predicate: &Predicate, lang: Option<&str>, query: &GeoQuery) -> Option<usize> {
    let has_cells = predicate.parts(lang).iter().all(|it| it.index(IndexKind::Geo).is_some());
    has_cells.then(|| estimate(predicate, lang, query))
}

/// The number of candidates, about; reads no postings.
fn estimate(predicate: &Predicate, lang: Option<&str>, query: &GeoQuery) -> usize {
    let in_part = |part: &LangValues| {
        part.index(IndexKind::Geo).map_or(usize::MAX, |view| cells_len(view, query))
    };
    predicate.parts(lang).iter().map(in_part).max().unwrap_or(0)
}

/// About how many nodes an index has in the cells of a query; reads no postings.
pub(super) fn cells_len(view: IndexView<'_>, query: &GeoQuery) -> usize {
    let spans = query.spans().map(|(low, high)| {
        let (low, high) = (TokenKey::Int(low), TokenKey::Int(high));
        view.estimate(Bound::Included(&low), Bound::Included(&high))
    });
    spans.sum()
}
