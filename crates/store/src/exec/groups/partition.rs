//! Deals nodes out to the groups of a `@groupby`.
//!
//! One key whose values are indexed is read off its index: the postings of a token are a group,
//! read in place if all subjects are grouped. Otherwise each node's keys are looked up in a table.

use crate::exec::choose::function::no_reverse;
use crate::exec::columns::read::first_value;
use crate::exec::control::context::Context;
use crate::exec::control::pending::Pending;
use crate::exec::control::tree::GroupValue;
use crate::exec::cost;
use crate::graph::{IndexView, Predicate, TokenNodes};
use crate::storage::{Array, NodeSet, SpanBits, is_dense};
use hexgraph_base::plan::{GroupBy, GroupKey};
use hexgraph_base::types::{Result, Value, ValueType};
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

/// The groups are read off the index where at least one in this many of the nodes that have a value
/// are grouped.
pub(super) const INDEX_RATIO: usize = cost::TEST.per(cost::ENTRY);

/// The nodes that have the same keys.
pub(crate) struct NodePartition {
    /// The value of each key, in the order of the text.
    pub(crate) keys: Vec<GroupValue>,
    /// The nodes; postings of an index, changed or not, are read in place.
    pub(crate) members: NodeSet,
}

/// Where the values of a key are read.
pub(super) enum Source<'a> {
    /// Values in the first language of a list.
    Values(&'a Predicate, &'a [String]),
    /// The targets of edges.
    Edges(&'a crate::graph::Direction),
}

impl Context<'_> {
    /// The members by their keys; a member with several values of a key is in several groups.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for incoming edges that the schema does not store.
    pub(crate) fn partition(
        &self,
        group_by: &GroupBy,
        members: &[u32],
    ) -> Result<Vec<NodePartition>> {
        if let [key] = group_by.keys.as_slice()
            && let Some(parts) = self.parts_of_index(key, members)?
        {
            return Ok(parts);
        }
        self.parts_of_table(group_by, members)
    }

    /// The groups by a look at the keys of each member.
    fn parts_of_table(&self, group_by: &GroupBy, members: &[u32]) -> Result<Vec<NodePartition>> {
        let mut sources = Vec::with_capacity(group_by.keys.len());
        for key in &group_by.keys {
            match self.source(key)? {
                Some(source) => sources.push(source),
                None => return Ok(Vec::new()),
            }
        }
        let mut table = Table::new(Pending::new(self.control));
        let mut choices = vec![Vec::new(); sources.len()];
        let (mut while_choosing, mut most) = (self.control.charge_while(0)?, CHOICES_MIN);
        for (count, &member) in members.iter().enumerate() {
            if count % 8192 == 8191 {
                self.check()?;
            }
            for (choices, source) in choices.iter_mut().zip(&sources) {
                choices.clear();
                let count = source.count(member);
                if most < count {
                    // The lists retain their capacity for the members that follow.
                    while_choosing
                        .grow(size_of::<GroupValue>() * (count - most) * sources.len())?;
                    most = count;
                }
                source.collect(member, choices);
            }
            // A member that lacks one of the keys is in no group.
            if choices.iter().all(|choices| !choices.is_empty()) {
                table.add_all(&choices, member)?;
            }
        }
        table.finish()
    }

    /// Where the values of a key are read; `None` while nobody has any.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for incoming edges that the schema does not store.
    pub(super) fn source<'s>(&'s self, key: &'s GroupKey) -> Result<Option<Source<'s>>> {
        let (name, reverse) = match key.predicate.strip_prefix('~') {
            Some(name) => (name, true),
            None => (key.predicate.as_str(), false),
        };
        let Some(predicate) = self.predicate(name) else { return Ok(None) };
        if predicate.def.value_type == ValueType::Password {
            return Ok(None);
        }
        if !predicate.is_edges() {
            return Ok(Some(Source::Values(predicate, &key.langs)));
        }
        let edges = predicate.direction(reverse).ok_or_else(|| no_reverse(name))?;
        Ok(Some(Source::Edges(edges)))
    }

    /// True when all nodes that have a value of the key are grouped, none else, and an index has
    /// them by value: then the groups are counted without a look at the members.
    pub(crate) fn is_counted_by_index(&self, key: &GroupKey, members: &[u32]) -> bool {
        let predicate = self.predicate(&key.predicate);
        let part = predicate.filter(|it| !it.def.list).and_then(|it| it.only_untagged());
        let part = part.filter(|part| key.langs.is_empty() && part.complete_index().is_some());
        part.is_some_and(|part| part.subjects().is_exactly(members))
    }

    /// The groups by an index that has a value of every subject; `None` when there is none.
    fn parts_of_index(
        &self,
        key: &GroupKey,
        members: &[u32],
    ) -> Result<Option<Vec<NodePartition>>> {
        let predicate = self.predicate(&key.predicate).filter(|predicate| !predicate.def.list);
        let predicate = predicate.filter(|_| key.langs.is_empty());
        let Some((predicate, part, view)) = predicate.and_then(|predicate| {
            let part = predicate.only_untagged()?;
            Some((predicate, part, part.complete_index()?))
        }) else {
            return Ok(None);
        };
        let subjects = part.subjects();
        if members.len().saturating_mul(INDEX_RATIO) < subjects.len() {
            return Ok(None);
        }
        // The members in the requested order, and partitioned.
        self.control.charge(2 * size_of_val(members))?;
        let requested = RequestedQuery::new(members);
        // If other nodes are requested in addition to all that have a value, they are in no group.
        let all = subjects.is_exactly(members) || requested.has_all(&subjects);
        self.parts_of_postings(predicate, view, (!all).then_some(&requested)).map(Some)
    }

    /// The groups of all nodes that have a value of a key, by its index, with their numbers of
    /// nodes; `None` when it has none, and when the set is not seen to have all of them. O(tokens),
    /// whatever changed in them.
    pub(crate) fn counts_of_all(
        &self,
        key: &GroupKey,
        members: &NodeSet,
    ) -> Result<Option<Vec<(usize, GroupValue)>>> {
        let Some((predicate, view)) = self.index_of_all(key, members) else { return Ok(None) };
        self.counts_of_postings(predicate, view).map(Some)
    }

    /// Whether the index of a key has exactly the groups of a set, as far as that is seen without a
    /// look at the nodes.
    pub(super) fn has_all_of_index(&self, key: &GroupKey, members: &NodeSet) -> bool {
        self.index_of_all(key, members).is_some()
    }

    /// The complete index of a key, where all nodes that have a value of it are among the members.
    pub(super) fn index_of_all(
        &self,
        key: &GroupKey,
        members: &NodeSet,
    ) -> Option<(&Predicate, IndexView<'_>)> {
        let predicate: &Predicate =
            self.predicate(&key.predicate).filter(|predicate| !predicate.def.list)?;
        let part = predicate.only_untagged().filter(|_| key.langs.is_empty())?;
        let view = part.complete_index()?;
        // Others that are grouped have no value of the key, and are in no group.
        members.is_sure_superset(&part.subjects()).then_some((predicate, view))
    }

    /// Whether a key is an edge, in one of its directions.
    pub(super) fn leads_to_nodes(&self, key: &GroupKey) -> bool {
        let name = key.predicate.strip_prefix('~').unwrap_or(&key.predicate);
        self.predicate(name).is_some_and(|predicate| predicate.is_edges())
    }
}

impl Context<'_> {
    /// The groups of the requested nodes, token by token; `None` requests all that have a token.
    fn parts_of_postings(
        &self,
        predicate: &Predicate,
        view: IndexView<'_>,
        requested: Option<&RequestedQuery>,
    ) -> Result<Vec<NodePartition>> {
        let (mut parts, mut pending) = (Vec::new(), Pending::new(self.control));
        for token in view.tokens(false) {
            let members = match (token, requested) {
                (TokenNodes::Stored(postings, range), None) => {
                    NodeSet::Slice(Array::clone(postings), range)
                }
                (TokenNodes::Stored(postings, range), Some(requested)) => {
                    let nodes = postings.slice(range).iter().copied();
                    NodeSet::from(nodes.filter(|&node| requested.has(node)).collect::<Vec<u32>>())
                }
                (TokenNodes::Changed(nodes), None) => nodes.to_set(),
                (TokenNodes::Changed(nodes), Some(requested)) => {
                    let set = nodes.to_set();
                    let nodes = set.iter().filter(|&node| requested.has(node));
                    NodeSet::from(nodes.collect::<Vec<u32>>())
                }
            };
            // A token represents all spellings of a time; the first member's is shown.
            let key = members.first().and_then(|first| first_value(predicate, &[], first));
            let Some(key) = key else { continue };
            pending.add(GROUP_BYTES + KEY_BYTES + key.heap_size())?;
            parts.push(NodePartition { keys: vec![GroupValue::Value(key)], members });
        }
        pending.charge()?;
        // Truths have no order: as everywhere, the one that comes first among the nodes is first.
        if predicate.def.value_type == ValueType::Bool {
            parts.sort_by_key(|part| part.members.iter().next());
        }
        Ok(parts)
    }

    /// The groups of all nodes that have a token, with their numbers of nodes.
    fn counts_of_postings(
        &self,
        predicate: &Predicate,
        view: IndexView<'_>,
    ) -> Result<Vec<(usize, GroupValue)>> {
        // The token of a text or an int is the value. Any other may represent several spellings of
        // one.
        if !matches!(predicate.def.value_type, ValueType::String | ValueType::Int) {
            let count = |mut part: NodePartition| Some((part.members.len(), part.keys.pop()?));
            let parts = self.parts_of_postings(predicate, view, None)?;
            return Ok(parts.into_iter().filter_map(count).collect());
        }
        let mut pending = Pending::new(self.control);
        let mut counts = Vec::new();
        let mut tokens = view.tokens(false);
        loop {
            let key = tokens.next_key();
            let Some(token) = tokens.next() else { break };
            if token.is_empty() {
                continue;
            }
            let value = match key {
                Some(key) if key.value_type() == predicate.def.value_type => Some(key.to_value()),
                _ => token.to_set().first().and_then(|node| first_value(predicate, &[], node)),
            };
            let Some(value) = value else { continue };
            pending.add(GROUP_BYTES + KEY_BYTES + value.heap_size())?;
            counts.push((token.len(), GroupValue::Value(value)));
        }
        pending.charge()?;
        Ok(counts)
    }
}

/// The nodes to be grouped, for many questions whether one is among them.
enum RequestedQuery {
    /// Nodes that lie close together.
    Bits(SpanBits),
    /// Any other.
    Bitmap(RoaringBitmap),
}

impl RequestedQuery {
    fn new(nodes: &[u32]) -> RequestedQuery {
        let (Some(&first), Some(&last)) = (nodes.iter().min(), nodes.iter().max()) else {
            return RequestedQuery::Bitmap(RoaringBitmap::new());
        };
        if !is_dense(first, last, nodes.len()) {
            return RequestedQuery::Bitmap(nodes.iter().copied().collect());
        }
        RequestedQuery::Bits(SpanBits::of(first, last, nodes.iter().copied()))
    }

    fn has(&self, node: u32) -> bool {
        match self {
            RequestedQuery::Bits(nodes) => nodes.contains(node),
            RequestedQuery::Bitmap(nodes) => nodes.contains(node),
        }
    }

    fn has_all(&self, subjects: &NodeSet) -> bool {
        // An internal iteration to the end, which walks a stored bitmap container by container; an
        // early end would check each member.
        subjects.iter().fold(true, |all, node| all & self.has(node))
    }
}

impl Source<'_> {
    /// The number of values of a node, or of its edges.
    fn count(&self, node: u32) -> usize {
        match self {
            Source::Values(..) => 1,
            Source::Edges(edges) => edges.targets(node).len(),
        }
    }

    fn collect(&self, node: u32, out: &mut Vec<GroupValue>) {
        match self {
            Source::Values(predicate, langs) => {
                out.extend(first_value(predicate, langs, node).map(GroupValue::Value));
            }
            Source::Edges(edges) => {
                out.extend(edges.targets(node).iter().map(|&target| GroupValue::Node(target)));
            }
        }
    }
}

/// The bytes that are charged for a group, apart from its keys and its members: its positions in
/// the table and in the answer.
pub(super) const GROUP_BYTES: usize = 200;

/// The bytes that are charged for each key of a group, apart from its text.
pub(super) const KEY_BYTES: usize = 2 * size_of::<GroupValue>();

/// The bytes of the results of a group, apart from their texts.
pub(super) fn result_bytes(results: usize) -> usize {
    size_of::<Option<Value>>() * results
}

/// Nobody is charged for the choices of a member of so few values.
const CHOICES_MIN: usize = 256;

/// Groups by the bytes of their keys.
struct Table<'a> {
    pending: Pending<'a>,
    positions: FxHashMap<Box<[u8]>, usize>,
    groups: Vec<(Vec<GroupValue>, Vec<u32>)>,
    bytes: Vec<u8>,
    choice: Vec<usize>,
}

impl<'a> Table<'a> {
    fn new(pending: Pending<'a>) -> Table<'a> {
        let (positions, groups) = (FxHashMap::default(), Vec::new());
        Table { pending, positions, groups, bytes: Vec::new(), choice: Vec::new() }
    }

    /// Adds a member to the group of each choice of one value of each key; none lacks values.
    fn add_all(&mut self, values: &[Vec<GroupValue>], member: u32) -> Result<()> {
        self.choice.clear();
        self.choice.resize(values.len(), 0);
        loop {
            let used = self.add(values, member);
            self.pending.add(used)?;
            // The choices count up like an odometer, the last key fastest.
            let Some(key) =
                (0..values.len()).rfind(|&key| self.choice[key] + 1 < values[key].len())
            else {
                return Ok(());
            };
            self.choice[key] += 1;
            self.choice[key + 1..].fill(0);
        }
    }

    /// Adds a member to a group. Returns the bytes that it takes.
    fn add(&mut self, values: &[Vec<GroupValue>], member: u32) -> usize {
        // A list doubles.
        let mut used = 2 * size_of::<u32>();
        self.bytes.clear();
        for (choices, &choice) in values.iter().zip(&self.choice) {
            choices[choice].write_key(&mut self.bytes);
        }
        let position = match self.positions.get(self.bytes.as_slice()) {
            Some(position) => *position,
            None => {
                let chosen = values.iter().zip(&self.choice);
                let keys = chosen.map(|(choices, &choice)| choices[choice].clone()).collect();
                self.positions.insert(self.bytes.as_slice().into(), self.groups.len());
                self.groups.push((keys, Vec::new()));
                // The bytes of the keys, and their texts, are about as long.
                used += GROUP_BYTES + KEY_BYTES * values.len() + 3 * self.bytes.len();
                self.groups.len() - 1
            }
        };
        self.groups[position].1.push(member);
        used
    }

    fn finish(mut self) -> Result<Vec<NodePartition>> {
        self.pending.charge()?;
        let part =
            |(keys, nodes): (_, Vec<u32>)| NodePartition { keys, members: NodeSet::from(nodes) };
        Ok(self.groups.into_iter().map(part).collect())
    }
}

impl GroupValue {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        match self {
            GroupValue::Node(node) => {
                // No length begins with this byte, so a node is never taken for a value.
                bytes.push(255);
                bytes.extend(node.to_be_bytes());
            }
            GroupValue::Value(value) => {
                let start = bytes.len();
                bytes.extend([0; 4]);
                value.as_ref().group_key(bytes);
                // The length stands before the value, so that the values of several keys can't
                // run into one another.
                let length = (bytes.len() - start - 4) as u32;
                bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
    }
}
