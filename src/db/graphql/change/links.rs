//! Makes the statements of links: what else changes when an edge is set or removed.
//!
//! A link is an edge and, with `@hasInverse`, the edge back. A single-valued field loses its
//! previous target, and the inverse edge from there is removed too. If a mutation sets several
//! targets of such a field, the last one stays. Costs O(links + edges of single-valued fields).

use super::touched::Touched;
use hexgraph_base::formats::{NQuad, Object, Predicate, Subject};
use hexgraph_base::types::{Position, Uid};
use hexgraph_graphql::mutate::{Link, Unlink};
use hexgraph_store::graph::Version;
use std::collections::HashMap;

/// The statements that result from setting and removing links.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct LinkChanges<'a> {
    /// The edges that are set.
    pub sets: Vec<NQuad<'a>>,
    /// The edges that are removed first.
    pub deletes: Vec<NQuad<'a>>,
    /// The nodes that lose an edge because another node replaces them.
    pub displaced: Vec<Touched<'a>>,
}

/// Returns the nodes that lose a link when all links of a field are removed, for fields that have
/// an edge back.
pub(super) fn led_to<'a>(
    version: &Version,
    matched: &[Uid],
    unlinks: &[Unlink<'a>],
) -> Vec<Touched<'a>> {
    let mut led = Vec::new();
    for unlink in unlinks.iter().filter(|unlink| unlink.target.is_none()) {
        let Some(back) = unlink.back else { continue };
        for source in nodes(unlink.source, matched) {
            let targets = targets(version, unlink.predicate, unlink.is_reverse, source);
            led.extend(targets.into_iter().filter_map(|it| Touched::of(it, back.type_name)));
        }
    }
    led
}

/// The statements of links that are set and removed. `matched` are the nodes that match the filter
/// of an update or a delete. Where all links of a field are removed, those to the nodes `retained`,
/// which ascend, stay.
pub(in crate::db::graphql) fn link_changes<'a>(
    version: &Version,
    matched: &[Uid],
    retained: &[Uid],
    links: &[Link<'a>],
    unlinks: &[Unlink<'a>],
) -> LinkChanges<'a> {
    let mut changes = LinkChanges::default();
    for unlink in unlinks {
        for source in nodes(unlink.source, matched) {
            changes.remove(version, unlink, source, retained);
        }
    }
    for pair in lasting_pairs(matched, links) {
        changes.set(version, &pair);
    }
    changes
}

/// A link between two nodes.
struct Pair<'a, 'l> {
    source: Subject<'a>,
    target: Subject<'a>,
    link: &'l Link<'a>,
}

/// The links between two nodes that are not undone by a later one.
fn lasting_pairs<'a, 'l>(matched: &[Uid], links: &'l [Link<'a>]) -> Vec<Pair<'a, 'l>> {
    let mut pairs: Vec<Option<Pair<'a, 'l>>> = Vec::with_capacity(links.len());
    // The number of the last pair of each end that has only one partner.
    let mut last: HashMap<(&str, Subject<'_>), usize> = HashMap::new();
    for link in links {
        let targets = nodes(link.target, matched);
        let sources = nodes(link.source, matched).into_iter();
        let each = sources.flat_map(|source| targets.iter().map(move |target| (source, *target)));
        // A variable represents many nodes, so a link may be many pairs.
        for (source, target) in each {
            let number = pairs.len();
            let there = link.is_single.then_some((link.predicate, source));
            let back = link.back.filter(|back| back.is_single);
            let back = back.map(|back| (back.predicate, target));
            for end in there.into_iter().chain(back) {
                // A pair that comes again counts once: else undoing it would leave its twin. Both
                // endpoints of a self-loop may be the same.
                if let Some(before) = last.insert(end, number).filter(|one| *one != number) {
                    pairs[before] = None;
                }
            }
            pairs.push(Some(Pair { source, target, link }));
        }
    }
    pairs.into_iter().flatten().collect()
}

impl<'a> LinkChanges<'a> {
    /// Sets both edges of a link, and removes those that they displace.
    fn set(&mut self, version: &Version, pair: &Pair<'a, '_>) {
        let Pair { source, target, link } = *pair;
        self.sets.push(edge(source, link.predicate, target));
        let Some(back) = link.back else { return };
        self.sets.push(edge(target, back.predicate, source));
        // The source points to one node only: its former target loses the edge back.
        if link.is_single {
            for old in others(version, link.predicate, source, target) {
                self.deletes.push(edge(old, back.predicate, source));
                self.displaced.extend(Touched::of(old, back.type_name));
            }
        }
        // Likewise the target: whoever led to it before loses its edge.
        if back.is_single {
            for old in others(version, back.predicate, target, source) {
                self.deletes.push(edge(old, link.predicate, target));
                self.displaced.extend(Touched::of(old, link.source_type));
            }
        }
    }

    /// Removes the links of a node to another, or to all.
    fn remove(
        &mut self,
        version: &Version,
        unlink: &Unlink<'a>,
        source: Subject<'a>,
        retained: &[Uid],
    ) {
        let is_retained = |target: &Subject<'_>| match target {
            Subject::Uid(uid) if unlink.back.is_some() => {
                retained.binary_search(&Uid(*uid)).is_ok()
            }
            _ => false,
        };
        let targets = match unlink.target {
            Some(target) => vec![target],
            None => {
                let all = targets(version, unlink.predicate, unlink.is_reverse, source);
                all.into_iter().filter(|target| !is_retained(target)).collect()
            }
        };
        for target in targets {
            if !unlink.is_reverse {
                self.deletes.push(edge(source, unlink.predicate, target));
            }
            if let Some(back) = unlink.back {
                self.deletes.push(edge(target, back.predicate, source));
            }
        }
    }
}

/// Returns the nodes that a subject represents: the matched ones for a variable.
fn nodes<'a>(subject: Subject<'a>, matched: &[Uid]) -> Vec<Subject<'a>> {
    match subject {
        Subject::Var(_) => matched.iter().map(|uid| Subject::Uid(uid.0)).collect(),
        other => vec![other],
    }
}

/// Returns the targets of a predicate of a node on the present version, without one of them.
fn others<'a>(
    version: &Version,
    predicate: &str,
    node: Subject<'_>,
    but: Subject<'_>,
) -> Vec<Subject<'a>> {
    let mut targets = targets(version, predicate, false, node);
    targets.retain(|target| *target != but);
    targets
}

fn targets<'a>(
    version: &Version,
    predicate: &str,
    is_reverse: bool,
    node: Subject<'_>,
) -> Vec<Subject<'a>> {
    // A new node has no edges yet.
    let Subject::Uid(uid) = node else { return Vec::new() };
    let edges = version.predicate(predicate).and_then(|edges| edges.direction(is_reverse));
    let (Some(edges), Some(node)) = (edges, version.nodes.node(Uid(uid))) else {
        return Vec::new();
    };
    let uid = |target: &u32| Subject::Uid(version.nodes.uid(*target).0);
    edges.targets(node).iter().map(uid).collect()
}

fn edge<'a>(source: Subject<'a>, predicate: &'a str, target: Subject<'a>) -> NQuad<'a> {
    NQuad {
        subject: source,
        predicate: Predicate::Name(predicate),
        lang: "",
        object: Object::from(target),
        facets: Vec::new(),
        in_list: None,
        at: Position::default(),
    }
}
