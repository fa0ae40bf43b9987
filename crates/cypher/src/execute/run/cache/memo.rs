//! Results of subqueries and of calls of algorithms, by the values that they depend on: 96,000 rows
//! of flights have 700 pairs of airports.

use crate::execute::graph::Graph;
use crate::execute::plan::{QueryPlan, SlotIndex};
use crate::execute::run::rows::{Reservation, Row, cut};
use crate::execute::slots::outer_slots;
use crate::procedures::AlgorithmRows;
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The most results of a subquery.
const RESULTS_MAX: usize = 1 << 16;

/// The number of look-ups after which results are dropped that are seldom used again, and how many
/// of the look-ups are to have a result: a look-up and an entry cost less than a tenth of the least
/// subquery.
const TRIED: u32 = 1024;
const HITS_MIN: u32 = TRIED / 8;

/// The results of all subqueries of a run, by the slots that name them.
#[derive(Default)]
pub(in crate::execute::run) struct Memos<'a>(RefCell<FxHashMap<SlotIndex, Memo<'a>>>);

/// The results of one.
struct Memo<'a> {
    /// What the result depends on; `None` where it is computed each time.
    slots: Option<Vec<SlotIndex>>,
    results: FxHashMap<Vec<Value>, Value>,
    lookups: u32,
    hits: u32,
    reserved: Reservation<'a>,
}

/// Whether a value equals no other than itself: 1.0 equals 1, but has another text.
pub(in crate::execute::run) fn is_exact(value: &Value) -> bool {
    matches!(
        value,
        Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::String(_)
            | Value::Node(_)
            | Value::Relationship(_)
    )
}

impl<'a> Memos<'a> {
    /// What the result of a subquery is remembered by; `None` where it is computed each time.
    pub(in crate::execute::run) fn key(
        &self,
        own: SlotIndex,
        row: &Row,
        plan: &QueryPlan,
        graph: &'a dyn Graph,
    ) -> Option<Vec<Value>> {
        let mut memos = self.0.borrow_mut();
        let memo = || {
            let (slots, results) = (outer_slots(plan), FxHashMap::default());
            Memo { slots, results, lookups: 0, hits: 0, reserved: Reservation::new(graph) }
        };
        let slots = memos.entry(own).or_insert_with(memo).slots.as_ref()?;
        let key = cut(row, slots);
        key.iter().all(is_exact).then_some(key)
    }

    /// An earlier result.
    pub(in crate::execute::run) fn get(&self, own: SlotIndex, key: &[Value]) -> Option<Value> {
        let mut memos = self.0.borrow_mut();
        let memo = memos.get_mut(&own)?;
        memo.lookups = memo.lookups.saturating_add(1);
        let result = memo.results.get(key).cloned();
        memo.hits = memo.hits.saturating_add(u32::from(result.is_some()));
        if memo.lookups == TRIED && memo.hits < HITS_MIN {
            memo.slots = None;
            memo.results = FxHashMap::default();
            memo.reserved.shrink(usize::MAX);
        }
        result
    }

    /// Adds a result.
    pub(in crate::execute::run) fn insert(
        &self,
        own: SlotIndex,
        key: Vec<Value>,
        result: &Value,
    ) -> Result<()> {
        let mut memos = self.0.borrow_mut();
        let Some(memo) = memos.get_mut(&own) else { return Ok(()) };
        if memo.slots.is_some() && memo.results.len() < RESULTS_MAX {
            memo.reserved.grow_by_row(&key)?;
            memo.results.insert(key, result.clone());
        }
        Ok(())
    }
}

/// The most results of a call that are cached, and their most bytes together.
const CALLS_MAX: usize = 1 << 10;
const CALLS_BYTES_MAX: usize = 64 << 20;

/// The results of the calls of a run, by the slots that name these.
#[derive(Default)]
pub(in crate::execute::run) struct CallCache<'a>(RefCell<FxHashMap<SlotIndex, CachedCalls<'a>>>);

/// The results of one call by its arguments, which are empty for those that no row changes.
#[derive(Default)]
struct CachedCalls<'a> {
    results: FxHashMap<Vec<Value>, Rc<ReservedRows<'a>>>,
    bytes: usize,
}

/// A result with its memory.
pub(in crate::execute::run) struct ReservedRows<'a> {
    rows: AlgorithmRows,
    _reserved: Reservation<'a>,
}

impl<'a> ReservedRows<'a> {
    pub(in crate::execute::run) fn new(
        rows: AlgorithmRows,
        reserved: Reservation<'a>,
    ) -> ReservedRows<'a> {
        ReservedRows { rows, _reserved: reserved }
    }

    pub(in crate::execute::run) fn rows(&self) -> &AlgorithmRows {
        &self.rows
    }
}

impl<'a> CallCache<'a> {
    /// An earlier result.
    pub(in crate::execute::run) fn get(
        &self,
        own: SlotIndex,
        key: &[Value],
    ) -> Option<Rc<ReservedRows<'a>>> {
        self.0.borrow().get(&own)?.results.get(key).cloned()
    }

    /// Adds a result. Where there are too many, all before it are dropped.
    pub(in crate::execute::run) fn insert(
        &self,
        own: SlotIndex,
        key: Vec<Value>,
        result: &Rc<ReservedRows<'a>>,
    ) {
        let mut calls = self.0.borrow_mut();
        let calls = calls.entry(own).or_default();
        let bytes = result.rows.byte_len();
        if CALLS_MAX <= calls.results.len() || CALLS_BYTES_MAX < calls.bytes.saturating_add(bytes) {
            *calls = CachedCalls::default();
        }
        calls.bytes += bytes;
        calls.results.insert(key, Rc::clone(result));
    }
}
