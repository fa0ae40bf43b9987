//! Returns the first nodes of a set that pass a filter, without a test of those after the page.
//!
//! A filter is prepared once and then applied to one set or to many: the root of a block, the edges
//! of each node of a level. Its parts become sets, if an index has them cheaply, and tests of
//! single nodes. The smallest of the sets is walked, from `after` on, in batches that double as
//! long as few pass; the other sets and the tests are applied to a batch at a time.

use super::filter::test_rank;
use super::semi_join::looks_beyond;
use crate::exec::access_path::FilterPath;
use crate::exec::choose::function::is_reported;
use crate::exec::choose::tester::Tester;
use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::exec::control::steps::Begun;
use crate::exec::cost::RandomChoice;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Comparison, Filter, Function, Page};
use hexgraph_base::types::Result;
use std::sync::OnceLock;

/// The least number of nodes in the first batch that is handed to a filter which follows edges to
/// other nodes.
const BATCH_BEYOND_MIN: usize = 64;

/// The greatest number of nodes in a batch. Each batch is twice as long as the one before until
/// then.
const BATCH_MAX: usize = 1 << 15;

/// The greatest number of postings that are read for a page which needs few of them.
const POSTINGS_MAX: usize = 1 << 16;

/// What a filter is prepared for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Purpose {
    /// The first few nodes that pass.
    Page,
    /// All nodes that pass.
    All,
}

/// A test of single nodes.
struct Test<'f> {
    tester: Tester<'f>,
    step: Begun,
    /// The nodes that have a value, without which none passes, where they are far fewer than the
    /// requested ones.
    subjects: Option<NodeSet>,
    /// Those of them that pass, once all have been tested.
    passing: OnceLock<NodeSet>,
}

impl<'f> Test<'f> {
    fn new(tester: Tester<'f>, step: Begun, subjects: Option<NodeSet>) -> Test<'f> {
        Test { tester, step, subjects, passing: OnceLock::new() }
    }
}

/// The greatest number of edges that are walked back, and of texts that are tested, for a set of
/// nodes, if `requested` nodes would be tested else. A page needs about `PAGE · requested /
/// passing` tests, so its set pays while fewer than that pass.
pub(crate) fn result_max(requested: usize, purpose: Purpose) -> usize {
    const PAGE: usize = 16;
    match purpose {
        Purpose::Page => requested.saturating_mul(PAGE).isqrt(),
        Purpose::All => requested,
    }
}

/// What is walked in place of the requested set.
#[derive(Clone, Copy, PartialEq)]
enum Driver {
    /// The set of an index, by its position.
    Set(usize),
    /// The nodes that have what a test requires, by its position.
    Subjects(usize),
}

/// A filter that is ready to be applied to sets of nodes. A node passes when all sets have it, and
/// all tests and filters let it through.
pub(crate) struct PreparedFilter<'f> {
    /// Sets of nodes from indexes, and their steps.
    sets: Vec<(NodeSet, Begun)>,
    /// Tests of single nodes.
    tests: Vec<Test<'f>>,
    /// Filters that follow edges to other nodes; each is applied to a batch of nodes.
    beyond: Vec<&'f Filter>,
    /// How many times smaller than the requested set one of the sets has to be to be walked.
    driver_ratio: usize,
    /// Selects the set that is walked at random, in tests.
    choice: RandomChoice,
}

/// The smallest of some sets, which come with their lengths, if it is so small that it is walked
/// instead of `requested` nodes.
fn smallest_set<D>(
    sets: impl Iterator<Item = (D, usize)>,
    requested: usize,
    ratio: usize,
) -> Option<D> {
    let (smallest, len) = sets.min_by_key(|(_, len)| *len)?;
    (len < requested / ratio).then_some(smallest)
}

impl<'f> PreparedFilter<'f> {
    /// The smallest set, if it is so small that it is walked in place of `requested`.
    fn driver(&self, requested: usize) -> Option<Driver> {
        let sets = self.sets.iter().map(|(set, _)| Some(set));
        let sets = sets.enumerate().map(|(position, set)| (Driver::Set(position), set));
        let subjects = self.tests.iter().map(|test| test.subjects.as_ref());
        let subjects =
            subjects.enumerate().map(|(position, set)| (Driver::Subjects(position), set));
        let drivers = sets.chain(subjects).filter_map(|(driver, set)| Some((driver, set?)));
        if self.choice.is_random() {
            // The last number is that of the requested set.
            return drivers
                .clone()
                .nth(self.choice.choose(requested, drivers.count() + 1))
                .map(|it| it.0);
        }
        let drivers = drivers.map(|(driver, set)| (driver, set.len()));
        smallest_set(drivers, requested, self.driver_ratio)
    }

    /// What is walked for a driver.
    fn walked<'s>(&'s self, driver: Option<Driver>, requested: &'s NodeSet) -> &'s NodeSet {
        match driver {
            Some(Driver::Set(position)) => &self.sets[position].0,
            Some(Driver::Subjects(position)) => {
                self.tests[position].subjects.as_ref().unwrap_or(requested)
            }
            None => requested,
        }
    }

    /// Adds a test, which is evaluated before the others, and its step.
    pub(super) fn add_test(&mut self, tester: Tester<'f>, step: Begun) {
        self.tests.insert(0, Test::new(tester, step, None));
    }

    /// Whether one of its sets is walked in place of a set of `requested` nodes.
    pub(crate) fn drives(&self, requested: usize) -> bool {
        self.driver(requested).is_some()
    }

    /// True when a node is tested by itself at no more cost than among others: no part of the
    /// filter follows edges.
    pub(crate) fn tests_one(&self) -> bool {
        self.beyond.is_empty()
    }

    /// Adds to the rows of the steps of its tests, which were applied to one node at a time: `rows`
    /// nodes passed all of them.
    pub(crate) fn note_passed(&self, context: &Context<'_>, rows: usize) {
        self.tests.iter().for_each(|test| context.add_rows(&test.step, rows));
    }

    /// Whether a node passes, for a filter that [tests one](PreparedFilter::tests_one) at a time.
    pub(crate) fn passes(&self, node: u32) -> bool {
        self.sets.iter().all(|(set, _)| set.contains(node))
            && self.tests.iter().all(|test| test.tester.test(node))
    }
}

impl<'a> Context<'a> {
    /// Prepares a filter to be applied to sets of at most `largest` nodes. Reads from an index what
    /// costs less than the tests that it saves.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for wrong arguments or a missing index.
    pub(crate) fn prepare<'f>(
        &self,
        filter: &'f Filter,
        largest: usize,
        purpose: Purpose,
    ) -> Result<PreparedFilter<'f>>
    where
        'a: 'f,
    {
        let mut parts: Vec<&Filter> = match filter {
            Filter::And(parts) => parts.iter().collect(),
            other => vec![other],
        };
        // The cheapest test first: the others do not test what it leaves out.
        parts.sort_by_key(|part| test_rank(part));
        let mut prepared = self.prepared_for_all();
        let mut smallest = largest;
        for part in parts {
            if let Some(len) = self.prepare_part(part, smallest, purpose, &mut prepared)? {
                // The next parts test no more nodes than this set
                // has, so a set pays for them only if it is as small.
                smallest = smallest.min(len);
            }
        }
        Ok(prepared)
    }

    /// A filter that lets all nodes through.
    pub(super) fn prepared_for_all<'f>(&self) -> PreparedFilter<'f> {
        let costs = self.control.costs();
        PreparedFilter {
            sets: Vec::new(),
            tests: Vec::new(),
            beyond: Vec::new(),
            driver_ratio: costs.driver_ratio,
            choice: costs.choice,
        }
    }

    /// Prepares a part of a filter. Returns the number of nodes that pass it, where it has become a
    /// set.
    fn prepare_part<'f>(
        &self,
        part: &'f Filter,
        requested: usize,
        purpose: Purpose,
        prepared: &mut PreparedFilter<'f>,
    ) -> Result<Option<usize>>
    where
        'a: 'f,
    {
        let name = if let Filter::SemiJoin(reach) = part { &*reach.predicate } else { "" };
        let function = if let Filter::Function(function) = part { Some(function) } else { None };
        let reported = function.filter(|_| self.control.trace().is_some());
        let estimate = reported.filter(|it| is_reported(it)).and_then(|it| self.estimate(it));
        let step = self.begin("filter", name, function.map(|function| function.at), estimate);
        let set = match part {
            Filter::Function(function) => {
                if self.part_path(function, requested, purpose) == FilterPath::Set {
                    self.indexed(function)?
                } else {
                    self.result_set(function, requested, result_max(requested, purpose))?
                }
            }
            Filter::SemiJoin(reach) => self.semi_join(reach, requested)?,
            Filter::And(_) | Filter::Or(_) | Filter::Not(_) => None,
        };
        let Some(set) = set else {
            match looks_beyond(part) {
                true => {
                    self.record_path(FilterPath::Batches);
                    self.end(&step, 0);
                    prepared.beyond.push(part);
                }
                false => {
                    self.record_path(FilterPath::Test);
                    let tester = self.filter_tester(part)?;
                    self.end(&step, 0);
                    let subjects = self.few_subjects(&tester, requested);
                    prepared.tests.push(Test::new(tester, step, subjects));
                }
            }
            return Ok(None);
        };
        let len = set.len();
        self.record_path(FilterPath::Set);
        self.end(&step, len);
        prepared.sets.push((set, step));
        Ok(Some(len))
    }

    /// The nodes of a function that is tested mostly, where at most `most` edges or nodes have to
    /// be looked at for them.
    fn result_set<'f>(
        &self,
        function: &'f Function,
        requested: usize,
        most: usize,
    ) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        match &function.call {
            Call::UidIn { .. } => self.uid_in_set(function, requested, most),
            Call::Text { .. } => self.matching_set(function, most),
            Call::Geo { .. } => self.geo_set(function, most),
            Call::Compare { .. }
            | Call::Between { .. }
            | Call::Terms { .. }
            | Call::CustomTerms { .. }
            | Call::Has(_)
            | Call::Type(_)
            | Call::Uid { .. }
            | Call::SimilarTo { .. } => Ok(None),
        }
    }

    /// Whether a function becomes a set, which its index has cheaply, or a test.
    fn part_path(&self, function: &Function, requested: usize, purpose: Purpose) -> FilterPath {
        self.part_path_of(function, || self.estimate(function), requested, purpose)
    }

    /// As [`Context::part_path`], by an estimate of the nodes that pass.
    pub(crate) fn part_path_of(
        &self,
        function: &Function,
        estimate: impl Fn() -> Option<usize>,
        requested: usize,
        purpose: Purpose,
    ) -> FilterPath {
        let in_place = match &function.call {
            Call::Has(_) | Call::Type(_) | Call::Uid { .. } | Call::Terms { .. } => true,
            Call::Compare { op, arguments, .. } => {
                matches!(op, Comparison::Eq) && arguments.len() == 1
            }
            Call::Between { .. }
            | Call::CustomTerms { .. }
            | Call::Text { .. }
            | Call::UidIn { .. }
            | Call::Geo { .. }
            | Call::SimilarTo { .. } => false,
        };
        let most = match purpose {
            Purpose::Page => (requested / 16).min(POSTINGS_MAX),
            // A step in a posting list costs less than a test.
            Purpose::All => requested.saturating_mul(self.control.costs().test),
        };
        let is_small = || estimate().is_some_and(|count| count <= most);
        let cheapest = if in_place || is_small() { FilterPath::Set } else { FilterPath::Test };
        self.pick(cheapest, requested, || match in_place || estimate().is_some() {
            true => vec![FilterPath::Set, FilterPath::Test],
            false => vec![FilterPath::Test],
        })
    }

    /// The page of those nodes of a set that pass a filter, for a page with a positive `first`.
    /// Costs as many steps and tests as it takes to fill the page, and at most about as many again.
    ///
    /// # Errors
    ///
    /// Those of the filter, and the end of the request's time.
    pub(crate) fn first_passing(
        &self,
        requested: &NodeSet,
        filter: &PreparedFilter<'_>,
        page: Page,
    ) -> Result<Vec<u32>> {
        let result = self.first_passing_within(requested, filter, page, usize::MAX)?;
        Ok(result.unwrap_or_default())
    }

    /// As [`Context::first_passing`]; `None` when the page is not full after `most` nodes that were
    /// walked over, and more would be.
    ///
    /// # Errors
    ///
    /// As [`Context::first_passing`].
    pub(super) fn first_passing_within(
        &self,
        requested: &NodeSet,
        filter: &PreparedFilter<'_>,
        page: Page,
        most: usize,
    ) -> Result<Option<Vec<u32>>> {
        let driver = filter.driver(requested.len());
        match driver {
            Some(Driver::Set(position)) => {
                self.record_path_of(&filter.sets[position].1, FilterPath::DrivingSide)
            }
            Some(Driver::Subjects(position)) => {
                self.record_path_of(&filter.tests[position].step, FilterPath::Subjects);
            }
            None => {}
        }
        let Some(least) = self.least_of(page) else { return Ok(Some(Vec::new())) };
        let (mut skip, first) = (page.skip(), page.first as usize);
        let batch_min = match filter.beyond.is_empty() {
            true => self.control.costs().page_batch,
            false => BATCH_BEYOND_MIN,
        };
        let mut batch_len = skip.saturating_add(first).clamp(batch_min, BATCH_MAX);
        let nodes = filter.walked(driver, requested);
        let (mut result, mut walked, mut next) = (Vec::new(), 0_usize, Some(least));
        while let Some(least) = next {
            self.check()?;
            let mut batch;
            (batch, next) = nodes.batch(least, batch_len);
            walked += batch.len();
            // What lies close together in a column is tested faster than looked up in a set.
            if let Some(Driver::Subjects(position)) = driver {
                batch = self.passing_test(Members::List(&batch), &filter.tests[position])?;
            }
            // Else the walk is over `requested` itself.
            if driver.is_some() {
                requested.retain(&mut batch, true);
            }
            let passed = self.passing_of(batch, filter, driver)?;
            let passed = passed.as_list();
            let skipped = skip.min(passed.len());
            skip -= skipped;
            // Not below 0: the walk stops when as many pass as were requested.
            let capacity = first - result.len();
            result.extend(passed[skipped..].iter().take(capacity));
            if result.len() == first {
                break;
            }
            if most <= walked && next.is_some() {
                return Ok(None);
            }
            // At most about as many nodes are tested in vain as had to be tested.
            batch_len = (2 * batch_len).min(BATCH_MAX);
        }
        Ok(Some(result))
    }

    /// All nodes of a set that pass a filter.
    ///
    /// # Errors
    ///
    /// As [`Context::first_passing`].
    pub(crate) fn all_passing(
        &self,
        requested: &NodeSet,
        filter: &PreparedFilter<'_>,
    ) -> Result<NodeSet> {
        let existing = filter.sets.iter().map(|(set, _)| set);
        let mut sets: Vec<&NodeSet> = existing.chain([requested]).collect();
        let driver = filter.driver(requested.len());
        if let Some(Driver::Subjects(position)) = driver {
            sets.push(self.passing_subjects(&filter.tests[position])?);
        }
        // The smallest first, since what all have is never more.
        sets.sort_by_key(|set| set.len());
        let (first, others) = sets.split_first().expect("one set is asked for");
        let nodes = others.iter().fold(NodeSet::clone(first), |nodes, set| nodes.and(set));
        let tested = usize::from(matches!(driver, Some(Driver::Subjects(_))));
        if filter.tests.len() == tested && filter.beyond.is_empty() {
            return Ok(nodes);
        }
        let _while_testing = self.control.charge_while(size_of::<u32>() * nodes.len())?;
        self.tested(nodes.to_vec(), filter, driver)
    }

    /// All nodes that pass a test of what few nodes have. They are computed once, for all requested
    /// sets.
    fn passing_subjects<'t>(&self, test: &'t Test<'_>) -> Result<&'t NodeSet> {
        if let Some(existing) = test.passing.get() {
            return Ok(existing);
        }
        let subjects = test.subjects.clone().unwrap_or_default();
        self.record_path_of(&test.step, FilterPath::Subjects);
        let passing = self.passing_test(Members::Set(&subjects), test)?;
        Ok(test.passing.get_or_init(|| passing.into()))
    }

    /// Those of some nodes that pass a test, which notes how many.
    fn passing_test(&self, nodes: Members<'_>, test: &Test<'_>) -> Result<Vec<u32>> {
        let passing = self.retain_passing(nodes, &test.tester)?;
        self.add_rows(&test.step, passing.len());
        Ok(passing)
    }

    /// The nodes that have a value, where they are so few that each of them is tested in place of
    /// the `requested` ones.
    pub(super) fn few_subjects(&self, tester: &Tester<'_>, requested: usize) -> Option<NodeSet> {
        let subjects = tester.subjects()?;
        let are_few = self.are_few_subjects(subjects.len(), requested);
        self.pick(are_few, requested, || vec![true, false]).then_some(subjects)
    }

    /// As [`smallest_set`].
    pub(crate) fn smallest_walked<D>(
        &self,
        sets: impl Iterator<Item = (D, usize)>,
        requested: usize,
    ) -> Option<D> {
        smallest_set(sets, requested, self.control.costs().driver_ratio)
    }

    /// Whether so few nodes have a value that each of them is tested in place of the `requested`
    /// ones.
    pub(crate) fn are_few_subjects(&self, subjects: usize, requested: usize) -> bool {
        subjects < requested / self.control.costs().driver_ratio
    }

    /// A filter that [tests one](PreparedFilter::tests_one) node at a time, for one thread: it
    /// retains those of some nodes that pass. The steps of the filter do not record how many that
    /// are.
    pub(super) fn prefilter<'s>(
        &'s self,
        filter: &'s PreparedFilter<'_>,
    ) -> Box<dyn Fn(Vec<u32>) -> Result<Vec<u32>> + 's> {
        debug_assert!(filter.tests_one(), "it would be asked of all");
        let testers: Vec<Tester<'s>> =
            filter.tests.iter().map(|test| test.tester.for_thread()).collect();
        Box::new(move |mut nodes: Vec<u32>| {
            filter.sets.iter().for_each(|(set, _)| set.retain(&mut nodes, true));
            for tester in &testers {
                nodes = self.retain_passing(Members::List(&nodes), tester)?;
            }
            Ok(nodes)
        })
    }

    /// Those of some nodes that pass all of a filter; all of them are members of the set that
    /// drives, and pass the test whose nodes do.
    fn passing_of(
        &self,
        mut nodes: Vec<u32>,
        filter: &PreparedFilter<'_>,
        driver: Option<Driver>,
    ) -> Result<NodeSet> {
        for (position, (set, _)) in filter.sets.iter().enumerate() {
            if Some(Driver::Set(position)) != driver {
                set.retain(&mut nodes, true);
            }
        }
        self.tested(nodes, filter, driver)
    }

    /// Those of some nodes that pass the tests of a filter, but for the one whose nodes drive, and
    /// the parts that follow edges.
    fn tested(
        &self,
        mut nodes: Vec<u32>,
        filter: &PreparedFilter<'_>,
        driver: Option<Driver>,
    ) -> Result<NodeSet> {
        for (position, test) in filter.tests.iter().enumerate() {
            if Some(Driver::Subjects(position)) != driver {
                nodes = self.passing_test(Members::List(&nodes), test)?;
            }
        }
        filter.beyond.iter().try_fold(nodes.into(), |nodes, part| self.filter(part, nodes))
    }
}
