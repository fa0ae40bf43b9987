//! Divides large work of a request among the other threads of its database, in morsels.
//!
//! Work over many items, such as the nodes of a scan or the roots of an answer, is cut into ranges,
//! the morsels. Each thread takes the next one when it is done with the one before; the results are
//! consumed in the order of the items. So an answer does not depend on the number of threads, nor
//! on which of them was faster. Between two morsels the request checks whether it may go on.
//!
//! Work that is small stays on the calling thread, and no other thread is started for it. So does
//! work inside of a morsel.

use super::context::Context;
use super::stop::RequestContext;
use crate::exec::cost::Cost;
use hexgraph_base::types::Result;
use hexgraph_base::types::pool::{Job, Pool};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The most morsels of one chunk of work: what one costs in addition to its work must not count.
const MORSELS_MAX: usize = 4096;

/// Each thread gets at least this many morsels, so that none waits long for another that has a
/// harder one.
const MORSELS_PER_THREAD: usize = 4;

/// The morsels of each thread where each has a large result. In a branch no work has fewer: a
/// thread that is done with another branch can only begin with the next one.
pub(crate) const FEW_MORSELS: usize = 3;

/// The morsels of each thread where each costs something in addition to its items, such as a test
/// with memory of its own.
pub(crate) const SOME_MORSELS: usize = 8;

/// The results that wait to be taken, for each thread, at the most.
const AHEAD_PER_THREAD: usize = 6;

/// Work over items that is shared with other threads.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'c> {
    control: &'c RequestContext,
    pool: &'c Pool,
    items: usize,
    /// The number of items of a morsel; the last one may have fewer.
    len: usize,
}

impl RequestContext {
    /// The threads, if this thread may divide work among others now. A request of a server may not:
    /// long ones run at a lower priority there, than quick ones, and the threads of the pool have
    /// the usual one.
    pub(crate) fn sharing_pool(&self) -> Option<&Pool> {
        let pool = self.pool().filter(|_| !self.has_admission_hook());
        pool.map(AsRef::as_ref).filter(|pool: &&Pool| pool.is_parallel())
    }

    /// How work over items of about the cost `each` is divided among threads; `None` where it stays
    /// on this one: because there is too little work, there are no other threads, or this is a
    /// morsel of other work.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub(crate) fn spread(&self, items: usize, each: Cost) -> Result<Option<Spread<'_>>> {
        let costs = self.costs();
        if each.times(items).as_nanos() < costs.spread || items < 2 {
            return Ok(None);
        }
        let Some(pool) = self.sharing_pool() else { return Ok(None) };
        self.check()?;
        let most = items.div_ceil(MORSELS_PER_THREAD * pool.threads());
        if let Some(trace) = self.trace() {
            trace.note(|step| step.threads = pool.threads());
        }
        // As long as a morsel should take, but short enough that each thread gets several,
        // and never more than `MORSELS_MAX` of them, whatever that makes of their length.
        let len =
            Cost::nanos(costs.morsel).per(each).min(most).max(items.div_ceil(MORSELS_MAX)).max(1);
        Ok(Some(Spread { control: self, pool, items, len }))
    }

    /// The results of `work` for ranges that together are `0..items`, in their order: on this
    /// thread for all items at once, or in morsels. An item has about the cost `each`.
    ///
    /// # Errors
    ///
    /// The first one of `work`; those of [`RequestContext::check`].
    pub(crate) fn morsels<R: Send>(
        &self,
        items: usize,
        each: Cost,
        work: impl Fn(Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        match self.spread(items, each)? {
            Some(spread) => spread.collect(work),
            None => Ok(vec![work(0..items)?]),
        }
    }
}

impl RequestContext {
    /// The number of threads that large work of this request has.
    pub fn threads(&self) -> usize {
        self.sharing_pool().map_or(1, Pool::threads)
    }

    /// Calls `work` with ranges that together are `0..items`, on this thread for all items at once,
    /// or in morsels. An item takes about `nanos` nanoseconds.
    ///
    /// # Errors
    ///
    /// The first one of `work`; those of [`RequestContext::check`].
    pub fn each_morsel(
        &self,
        items: usize,
        nanos: usize,
        work: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()> {
        self.morsels(items, Cost::nanos(nanos), work).map(drop)
    }

    /// The results of `work` for each of some branches, in their order. Threads that are free do
    /// some of them concurrently, and each may divide its own work into morsels.
    ///
    /// # Errors
    ///
    /// Only those of the branches, each at its position.
    pub(crate) fn branches<R: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<R> + Sync,
    ) -> Result<Vec<Result<R>>> {
        let work = |branch: usize| Ok(self.check().and_then(|()| work(branch)));
        let Some(pool) = self.sharing_pool() else { return (0..count).map(work).collect() };
        // No branch waits until the results of others were taken.
        let job = Job { count, prefetch: count, nests: true, work: &work };
        let mut results = Vec::with_capacity(count);
        pool.run_on_all(&job, &|| drop(self.check()), |result| {
            results.push(result);
            Ok(())
        })?;
        Ok(results)
    }
}

impl Spread<'_> {
    /// The number of items of a morsel.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The same with morsels of a multiple of `unit` items, where they have more than that.
    pub(crate) fn in_units_of(self, unit: usize) -> Self {
        let len = if unit < self.len { self.len.next_multiple_of(unit) } else { self.len };
        Spread { len, ..self }
    }

    /// The same with at most `count` morsels for each thread, for work whose results are large;
    /// with a few more in a branch.
    pub(crate) fn with_few(self, count: usize) -> Self {
        let count = if self.pool.is_in_branch() { count.max(FEW_MORSELS) } else { count };
        let least = self.items.div_ceil(count * self.pool.threads());
        Spread { len: self.len.max(least), ..self }
    }

    /// The same with at least `items` items in a morsel.
    pub(crate) fn of_at_least(self, items: usize) -> Self {
        Spread { len: self.len.max(items), ..self }
    }

    /// Whether a thread would help right now. If that is not certain, strategies with more total
    /// work do not pay.
    pub(crate) fn is_helped(&self) -> bool {
        self.pool.has_free()
    }

    /// The number of threads, including the caller.
    pub(crate) fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// The number of morsels.
    pub(crate) fn count(&self) -> usize {
        self.items.div_ceil(self.len)
    }

    /// The results of all morsels, in order.
    ///
    /// # Errors
    ///
    /// As [`Spread::each`].
    pub(crate) fn collect<R: Send>(
        self,
        work: impl Fn(Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let count = self.count();
        let mut results = Vec::with_capacity(count);
        self.run(count, work, |result| {
            results.push(result);
            Ok(())
        })?;
        Ok(results)
    }

    /// Hands the results of all morsels to `take` on this thread, in order. A few results for each
    /// thread wait to be taken, and no more.
    ///
    /// # Errors
    ///
    /// The first one of `work` and `take`; those of [`RequestContext::check`].
    pub(crate) fn each<R: Send>(
        self,
        work: impl Fn(Range<usize>) -> Result<R> + Sync,
        take: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        let ahead = AHEAD_PER_THREAD * self.pool.threads();
        self.run(ahead, work, take)
    }

    fn run<R: Send>(
        self,
        ahead: usize,
        work: impl Fn(Range<usize>) -> Result<R> + Sync,
        mut take: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        let Spread { control, pool, items, len } = self;
        let work = |number: usize| {
            control.check()?;
            work(number * len..items.min((number + 1) * len))
        };
        let job = Job { count: items.div_ceil(len), prefetch: ahead, nests: false, work: &work };
        // Where the other threads are fast enough, this one only consumes their results, and nobody
        // else may call its poll.
        let take = |result| {
            control.check()?;
            take(result)
        };
        // The morsels detect it themselves: a poll that says stop also sets the flag.
        pool.run_on_all(&job, &|| drop(control.check()), take)
    }
}

impl Context<'_> {
    /// As [`RequestContext::morsels`].
    ///
    /// # Errors
    ///
    /// As [`RequestContext::morsels`].
    pub(crate) fn morsels<R: Send>(
        &self,
        items: usize,
        each: Cost,
        work: impl Fn(Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        self.control.morsels(items, each, work)
    }

    /// As [`Context::morsels`], where each result is a list: all lists, one after the other.
    ///
    /// # Errors
    ///
    /// As [`RequestContext::morsels`].
    pub(crate) fn lists<T: Send>(
        &self,
        items: usize,
        each: Cost,
        work: impl Fn(Range<usize>) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        self.control.morsels(items, each, work).map(joined)
    }

    /// Sorts; items that compare as equal stay in their order. To compare two has about the cost
    /// `each`.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub(crate) fn sorted_by<T: Send>(
        &self,
        mut items: Vec<T>,
        each: Cost,
        compare: impl Fn(&T, &T) -> Ordering + Sync,
    ) -> Result<Vec<T>> {
        let steps = items.len().max(1).ilog2() as usize + 1;
        let Some(spread) = self.control.spread(items.len(), each.times(steps))? else {
            items.sort_by(compare);
            return Ok(items);
        };
        let spread = spread.with_few(1);
        let mut parts = Vec::with_capacity(spread.count());
        while spread.len() < items.len() {
            let rest = items.split_off(spread.len());
            // Each part is taken out once, by the thread that sorts
            // it; a shared closure can only do that through a lock.
            parts.push(Mutex::new(std::mem::replace(&mut items, rest)));
        }
        parts.push(Mutex::new(items));
        let spread = Spread { items: parts.len(), len: 1, ..spread };
        let sorted = spread.collect(|range| {
            let part = &mut *parts[range.start].lock().unwrap_or_else(PoisonError::into_inner);
            let mut part = std::mem::take(part);
            part.sort_by(&compare);
            Ok(part)
        })?;
        let mut all = joined(sorted);
        // Splits the list into ascending runs, and merges them.
        all.sort_by(compare);
        Ok(all)
    }
}

/// Lists, one after the other. A single one is not copied.
pub(crate) fn joined<T>(mut lists: Vec<Vec<T>>) -> Vec<T> {
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    lists.into_iter().for_each(|list| all.extend(list));
    all
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::exec::cost::CostModel;
    use crate::exec::cost::RandomChoice;
    use crate::graph::Version;
    use hexgraph_base::plan::Query;
    use hexgraph_base::types::Error;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    /// A control with so many threads that divides whatever it can, in morsels of so many
    /// nanoseconds.
    pub(crate) fn sharing(threads: usize, morsel: usize) -> RequestContext {
        sharing_by(threads, morsel, RandomChoice::default())
    }

    /// The same, with random access paths.
    pub(crate) fn sharing_by(
        threads: usize,
        morsel: usize,
        choice: RandomChoice,
    ) -> RequestContext {
        let costs = CostModel { spread: 1, morsel, choice, ..CostModel::default() };
        let control = RequestContext::new().with_costs(costs);
        control.set_pool(&Arc::new(Pool::new(threads)));
        control
    }

    #[test]
    fn ranges_cover_all_items_in_order() {
        for (threads, morsel) in [(1, 1), (2, 1), (3, 40), (4, usize::MAX)] {
            for items in [0, 1, 2, 7, 1000, 10_000] {
                let control = sharing(threads, morsel);
                let ranges = control.morsels(items, Cost::nanos(10), Ok).unwrap();
                let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
                assert_eq!(all, (0..items).collect::<Vec<_>>());
                assert!(ranges.len() <= MORSELS_MAX, "{ranges:?}");
                assert_eq!(1 < ranges.len(), 1 < threads && 1 < items, "{items}: {ranges:?}");
                let spread = control.spread(items, Cost::nanos(10)).unwrap();
                let Some(spread) = spread.map(|spread| spread.in_units_of(2)) else { continue };
                let mut next = 0;
                let take = |range: Range<usize>| {
                    assert_eq!(range.start, next);
                    next = range.end;
                    Ok(())
                };
                spread.each(Ok, take).unwrap();
                assert_eq!(next, items);
            }
        }
    }

    /// Who is done with another branch has a morsel to begin with.
    #[test]
    fn branches_have_more_morsels() {
        let control = sharing(2, usize::MAX);
        let count = || -> Result<usize> {
            Ok(control
                .spread(1000, Cost::nanos(10))?
                .map_or(1, |spread| spread.with_few(1).count()))
        };
        assert_eq!(count().unwrap(), 2);
        let counts = control.branches(2, |_| count()).unwrap();
        let counts: Vec<usize> = counts.into_iter().map(|count| count.unwrap()).collect();
        assert_eq!(counts, [2 * FEW_MORSELS; 2]);
    }

    #[test]
    fn who_only_takes_asks_the_poll() {
        let control = sharing(2, 1).with_poll(|| true);
        let mut taken = 0;
        // The other thread is a little faster, so this one has a result whenever it looks, and
        // begins no morsel, where it would poll.
        let work = |range| {
            thread::sleep(Duration::from_millis(15));
            Ok(range)
        };
        let take = |_| {
            taken += 1;
            thread::sleep(Duration::from_millis(20));
            Ok(())
        };
        let spread = control.spread(1000, Cost::nanos(10)).unwrap().unwrap();
        let error = spread.each(work, take).unwrap_err();
        assert_eq!(error.to_string(), "the request was interrupted");
        assert!(taken < 20, "{taken} morsels were taken after 50 ms");
    }

    #[test]
    fn small_work_and_work_in_a_morsel_stay_on_their_thread() {
        let control = RequestContext::new();
        control.set_pool(&Arc::new(Pool::new(2)));
        let here = || Ok(thread::current().id());
        assert_eq!(
            control.morsels(1000, Cost::nanos(10), |_| here()).unwrap(),
            [thread::current().id()]
        );
        let pool = control.pool().unwrap();
        assert!(!pool.is_started());
        let inner = |_| {
            assert!(control.spread(usize::MAX, Cost::nanos(10))?.is_none());
            thread::sleep(Duration::from_millis(1));
            here()
        };
        let seen: BTreeSet<String> = control
            .morsels(1_000, Cost::nanos(1_000), inner)
            .unwrap()
            .iter()
            .map(|id| format!("{id:?}"))
            .collect();
        assert_eq!((seen.len(), pool.is_started()), (2, true));
    }

    #[test]
    fn sorted_parts_are_the_sorted_whole() {
        let (version, query) = (Version::empty(), Query::default());
        for threads in [1, 2, 5] {
            let control = sharing(threads, 1);
            let context =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for count in [0, 1, 2, 10, 1000] {
                let items: Vec<(usize, usize)> =
                    (0..count).map(|position| (position * 7919 % 31, position)).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|item| item.0);
                let sorted =
                    context.sorted_by(items, Cost::nanos(10), |one, other| one.0.cmp(&other.0));
                assert_eq!(sorted.unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_request_is_stopped_between_morsels() {
        let control = sharing(2, 1);
        let work = |range: Range<usize>| {
            if range.start == 50 {
                control.canceller().cancel();
            }
            Ok(())
        };
        let error = control.morsels(1000, Cost::nanos(1), work).unwrap_err();
        assert_eq!(error.to_string(), "the request was cancelled");
    }

    #[test]
    fn the_error_is_the_first_one() {
        let control = sharing(3, 1);
        let work = |range: Range<usize>| match range.start {
            30.. => Err(Error::query(format!("at {}", range.start))),
            _ => Ok(()),
        };
        for _ in 0..20 {
            assert_eq!(
                control.morsels(100, Cost::nanos(1), work).unwrap_err().to_string(),
                "at 30"
            );
        }
    }

    /// The caller polls also while only others work.
    #[test]
    fn the_poll_is_heard_while_others_work() {
        let pool = Arc::new(Pool::new(2));
        let control = RequestContext::new()
            .with_costs(CostModel { spread: 1, morsel: 1, ..CostModel::default() })
            .with_poll(|| true);
        control.set_pool(&pool);
        let caller = thread::current().id();
        let both = std::sync::Barrier::new(2);
        let work = |_| {
            both.wait();
            while thread::current().id() != caller && control.check().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        };
        // Two morsels, one on each thread; that of the other thread ends when the poll has said so.
        control.morsels(2, Cost::nanos(1), work).unwrap_err();
        assert!(control.is_cancelled());
    }
}
