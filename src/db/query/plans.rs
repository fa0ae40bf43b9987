//! The plans of the requests that came lately, by their text. Those in DQL and those in Cypher are
//! in one cache: no text is a query in both.
//!
//! The capacity is in entries and in bytes, and the bytes are reserved in the common memory budget.

use hexgraph_base::budget::{Budget, Held, Reservation};
use hexgraph_base::plan::Query;
use hexgraph_base::types::{Arrivals, GenerationCache, Result};
use hexgraph_cypher::Parsed;
use hexgraph_dql::{Document, ParameterValue};
use hexgraph_store::exec::RequestContext;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The largest number of requests in the cache.
const ENTRIES_MAX: usize = 1_000;

/// The longest text that is cached, in bytes. The time for planning a longer one is small compared
/// with running it.
const TEXT_MAX: usize = 16 * 1024;

/// The largest memory of all cached plans, in bytes, as estimated from the lengths of their texts.
const BYTES_MAX: u64 = 64 << 20;

/// The cache takes at most this fraction (one in 64) of the memory of all requests, where that is
/// less than [`BYTES_MAX`].
const BUDGET_PART: u64 = 64;

/// An upper estimate of the memory of a plan for each byte of its text: the shortest field has two
/// bytes of text, and takes some 450 bytes of tree and plan.
const BYTES_PER_BYTE: u64 = 256;

/// The values of a request's variables, by name with its `$`.
pub type Variables = BTreeMap<String, ParameterValue>;

/// A query with the values of its variables.
#[derive(Debug, Clone, Default)]
pub struct QueryRequest {
    /// The text in DQL.
    pub text: String,
    /// The values of its variables, by name with its `$`.
    pub variables: Variables,
    /// True to add the uid to every object of the answer, as `debug=true` does over HTTP.
    pub debug: bool,
}

impl From<&str> for QueryRequest {
    fn from(text: &str) -> QueryRequest {
        QueryRequest { text: text.to_owned(), ..QueryRequest::default() }
    }
}

impl From<String> for QueryRequest {
    fn from(text: String) -> QueryRequest {
        QueryRequest { text, ..QueryRequest::default() }
    }
}

/// A bounded cache of plans.
pub(in crate::db) struct Plans {
    entries: GenerationCache<Entry>,
    arrivals: Arrivals,
    reservation: Arc<Reservation>,
    bytes_max: u64,
}

#[derive(Clone)]
struct Entry {
    retained: Cached,
    /// The memory of the entry, returned to the budget when no generation holds it any more.
    _held: Arc<Held>,
}

#[derive(Clone)]
enum Cached {
    /// A parsed text with variables: it is planned again for the values of each request.
    Parsed(Arc<Document>),
    /// The finished plan of a text that came without variables.
    Planned(Arc<Query>),
    /// A parsed and analysed text in Cypher. What follows depends on the version and the caller.
    Cypher(Arc<Parsed>),
}

impl Plans {
    /// Creates an empty cache, whose memory is reserved in `budget`.
    pub(in crate::db) fn new(budget: &Budget) -> Plans {
        let bytes_max = BYTES_MAX.min(budget.bound() / BUDGET_PART);
        let entries = GenerationCache::new(ENTRIES_MAX, bytes_max);
        Plans {
            entries,
            arrivals: Arrivals::default(),
            reservation: Arc::new(budget.reservation()),
            bytes_max,
        }
    }

    /// Returns the plan of a text. A text that comes for the third time is not parsed again, and
    /// without variables not planned again either. The memory for parsing and planning is reserved
    /// for `context`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text or the variables; `Limit` when there is no memory for it.
    pub(in crate::db) fn plan(
        &self,
        text: &str,
        variables: &Variables,
        context: &RequestContext,
    ) -> Result<Arc<Query>> {
        match self.entries.get(text).map(|entry| entry.retained) {
            Some(Cached::Planned(plan)) if variables.is_empty() => Ok(plan),
            Some(Cached::Parsed(document)) if !variables.is_empty() => {
                Ok(Arc::new(document.plan(variables)?))
            }
            // It is new, or was retained for requests with variables and comes without, or vice
            // versa: the later replaces it.
            _ => self.plan_anew(text, variables, context),
        }
    }

    fn plan_anew(
        &self,
        text: &str,
        variables: &Variables,
        context: &RequestContext,
    ) -> Result<Arc<Query>> {
        reserve_plan(text.len(), context)?;
        let document = hexgraph_dql::parse(text)?;
        let plan = Arc::new(document.plan(variables)?);
        self.retain(text, || match variables.is_empty() {
            true => Cached::Planned(Arc::clone(&plan)),
            false => Cached::Parsed(Arc::new(document)),
        });
        Ok(plan)
    }

    /// Returns the tree of a text in Cypher that was analysed. A text that comes for the third time
    /// is not parsed again. The memory for parsing is reserved for `context`.
    ///
    /// # Errors
    ///
    /// What is wrong with the text; `Limit` when there is no memory for it.
    pub(in crate::db) fn cypher(
        &self,
        text: &str,
        context: &RequestContext,
    ) -> Result<Arc<Parsed>> {
        if let Some(Cached::Cypher(parsed)) = self.entries.get(text).map(|entry| entry.retained) {
            return Ok(parsed);
        }
        reserve_plan(text.len(), context)?;
        let parsed = hexgraph_cypher::parse(text)?;
        hexgraph_cypher::analyse(&parsed)?;
        let parsed = Arc::new(parsed);
        self.retain(text, || Cached::Cypher(Arc::clone(&parsed)));
        Ok(parsed)
    }

    /// Caches the plan of a text that came before.
    fn retain(&self, text: &str, retained: impl FnOnce() -> Cached) {
        if TEXT_MAX < text.len() || !self.arrivals.came_before(text) {
            return;
        }
        let bytes = bytes_of_plan(text.len());
        // A larger one would replace an entire generation. Without memory for it a plan is not
        // cached.
        if bytes <= self.bytes_max / 2
            && let Ok(held) = Held::reserve(&self.reservation, bytes)
        {
            let entry = Entry { retained: retained(), _held: Arc::new(held) };
            self.entries.insert(Arc::from(text), &entry, bytes);
        }
    }
}

/// Reserves the estimated memory for parsing and planning a text of so many bytes.
///
/// # Errors
///
/// `Limit` when there is no memory for it.
pub(in crate::db) fn reserve_plan(len: usize, context: &RequestContext) -> Result<()> {
    context.reserve(bytes_of_plan(len))
}

fn bytes_of_plan(len: usize) -> u64 {
    BYTES_PER_BYTE * len as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans() -> Plans {
        Plans::new(&Budget::new(1 << 30))
    }

    fn plan(plans: &Plans, text: &str) -> Arc<Query> {
        plans.plan(text, &Variables::new(), &RequestContext::new()).unwrap()
    }

    #[test]
    fn the_bytes_of_cached_plans_are_reserved_and_bounded() {
        let budget = Budget::new(1 << 30);
        let plans = Plans::new(&budget);
        for number in 0..100 {
            let names: Vec<String> = (0..1_000).map(|name| format!("p{name}")).collect();
            let text = format!("{{ q{number}(func: has(name)) {{ {} }} }}", names.join(" "));
            plan(&plans, &text);
            plan(&plans, &text);
            assert!(budget.reserved() <= plans.bytes_max + (2 << 20), "{}", budget.reserved());
        }
        assert!(plans.bytes_max / 4 < budget.reserved());
        let context = RequestContext::new();
        context.set_budget(&budget);
        let large = format!("{{ q(func: has(name)) {{ {} }} }}", "x ".repeat(4 << 20));
        let error = plans.plan(&large, &Variables::new(), &context).unwrap_err();
        assert!(
            matches!(&error, hexgraph_base::types::Error::Limit { message }
            if message.contains("`memory`")),
            "{error}"
        );
        drop(plans);
        assert_eq!(budget.reserved(), 0);
    }

    #[test]
    fn a_text_in_cypher_is_parsed_twice_and_then_cached() {
        let plans = plans();
        let parsed = |text| plans.cypher(text, &RequestContext::new());
        let text = "MATCH (n:T {p: $x}) RETURN n.q";
        let first = parsed(text).unwrap();
        let second = parsed(text).unwrap();
        assert!(!Arc::ptr_eq(&first, &second), "what comes once is not cached");
        for _ in 0..3 {
            assert!(Arc::ptr_eq(&second, &parsed(text).unwrap()));
        }
        // A text that is wrong is refused each time, and in DQL the cached text is no query.
        for _ in 0..3 {
            let error = parsed("MATCH (n) RETURN m").map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("`m`"), "{error}");
            let none = Variables::new();
            assert!(plans.plan(text, &none, &RequestContext::new()).is_err());
        }
        assert!(Arc::ptr_eq(&second, &parsed(text).unwrap()));
        assert_eq!(plans.entries.entry_count(), 1);
    }

    const TEXT: &str = "{ q(func: has(name)) { name } }";

    #[test]
    fn a_repeated_text_has_the_same_plan() {
        let plans = plans();
        let first = plan(&plans, TEXT);
        let second = plan(&plans, TEXT);
        assert!(!Arc::ptr_eq(&first, &second), "what comes once is not cached");
        assert!(Arc::ptr_eq(&second, &plan(&plans, TEXT)));
    }

    #[test]
    fn the_number_of_entries_is_bounded_and_used_ones_stay() {
        let plans = plans();
        plan(&plans, TEXT);
        let first = plan(&plans, TEXT);
        for number in 0..2 * ENTRIES_MAX {
            let text = format!("{{ q{number}(func: has(name)) {{ name }} }}");
            plan(&plans, &text);
            plan(&plans, &text);
            if number % 100 == 0 {
                assert!(Arc::ptr_eq(&first, &plan(&plans, TEXT)));
            }
        }
        assert!(plans.entries.entry_count() <= ENTRIES_MAX);
    }

    #[test]
    fn other_values_of_variables_make_other_plans() {
        let plans = plans();
        let text = "query q($n: int) { q(func: has(name), first: $n) { name } }";
        let plan = |n: &str| {
            let variables = Variables::from([("$n".to_owned(), ParameterValue::from(n))]);
            plans.plan(text, &variables, &RequestContext::new()).unwrap()
        };
        assert_eq!(plan("3").blocks[0].page.first, 3);
        assert_eq!(plan("4").blocks[0].page.first, 4);
        let error = plans
            .plan("{ nonsense", &Variables::new(), &RequestContext::new())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("line 1 column 1: `{` is never closed"), "{error}");
    }
}
