//! What a GraphQL mutation does to a version, computed and not yet executed.
//!
//! One query looks up the nodes that the inputs name and the filter selects. With its results the
//! mutation becomes statements like those of any other mutation, and a list of nodes for which
//! authorization rules are checked: the new nodes on the version with the changes, all others on
//! the version before.

use super::links::{LinkChanges, led_to, link_changes};
use super::touched::Touched;
use hexgraph_base::formats::Subject;
use hexgraph_base::plan::{Query, Reads};
use hexgraph_base::schema::Actor;
use hexgraph_base::types::{Error, Uid};
use hexgraph_graphql::model::TypeDef;
use hexgraph_graphql::mutate::{LookupResult, MATCHED, MutationFault, Outcome, Reading};
use hexgraph_store::exec::{RequestContext, execute_upsert};
use hexgraph_store::graph;
use hexgraph_store::graph::{Binding, Bindings, Changes, STATEMENTS_MAX, Stager, Version};
use std::sync::Arc;

/// The result of staging a mutation: its changes, and the nodes that authorization has to look at.
#[derive(Debug, Default)]
pub(in crate::db::graphql) struct StagedMutation<'a> {
    /// All changes; `None` when there is nothing to be done.
    pub changes: Option<Changes>,
    /// The nodes that the mutation is about, ascending. For an add these are the nodes of its
    /// objects, for an update or a delete those that match its filter.
    pub roots: Vec<Uid>,
    /// The new nodes. The `add` rules of their types have to hold on the next version.
    pub new: Vec<Touched<'a>>,
    /// The nodes that lose a link because another node replaces them. The `update` rules of their
    /// types have to hold.
    pub displaced: Vec<Touched<'a>>,
    /// The predicates whose data decided the fields above, except for those that the permission
    /// checks read.
    pub reads: Reads,
}

/// Why a mutation can't be executed.
#[derive(Debug)]
pub(in crate::db::graphql) enum Refusal {
    /// The inputs of the mutation are wrong.
    Inputs(Vec<MutationFault>),
    /// The inputs do not fit the nodes that exist.
    Nodes(MutationFault),
    /// Authorization rules forbid the mutation to the caller.
    Denied,
    /// The engine reported an error.
    Engine(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Engine(error)
    }
}

/// Returns true for a predicate that the user of the request may change.
pub(in crate::db::graphql) type MayWrite = Box<dyn Fn(&str) -> bool>;

/// Decides what a mutation may do to existing nodes, before any change is computed. The nodes that
/// an update or a delete selects are not checked: its query contains their rules already. All
/// results are in ascending order.
pub(in crate::db::graphql) trait Permits {
    /// Returns what of a version the queries of the mutation see.
    ///
    /// # Errors
    ///
    /// When the user of the request does not exist any more.
    fn seen(&self, version: &Arc<Version>) -> Result<Arc<Version>, Error>;

    /// Checks that the user of the request may change the predicates of a mutation. Returns which
    /// the user may change, for the deletion of all that a node has.
    ///
    /// # Errors
    ///
    /// The predicates that it may not change.
    fn check_writes(&self, mutation: &graph::Mutation<'_>) -> Result<MayWrite, Error>;

    /// Returns those of the nodes that an upsert may change.
    ///
    /// # Errors
    ///
    /// When the asking is stopped.
    fn may_upsert(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<Vec<Uid>, Error>;

    /// Returns those endpoints of old and new links that the caller may see.
    ///
    /// # Errors
    ///
    /// When the asking is stopped.
    fn may_link(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<Vec<Uid>, Error>;
}

/// Computes what a mutation does to a version. `query` is the one of the reading, with the block
/// that selects the nodes of an update or a delete as the variable [`MATCHED`]. `now` is the text
/// for `$now`.
///
/// # Errors
///
/// Why it can't be executed.
pub(in crate::db::graphql) fn stage<'a>(
    version: &Arc<Version>,
    reading: Reading<'a>,
    query: &Arc<Query>,
    now: &'a str,
    permits: &dyn Permits,
    context: &RequestContext,
) -> Result<StagedMutation<'a>, Refusal> {
    let mut names: Vec<String> = query.variables.iter().map(|it| it.name.clone()).collect();
    names.sort_unstable();
    let selects = names.iter().any(|name| name == MATCHED);
    let mut bindings = match query.blocks.is_empty() {
        true => Bindings::default(),
        false => {
            let seen = permits.seen(version)?;
            execute_upsert(seen, Arc::clone(query), &[], &names, context)?.bindings
        }
    };
    let matched = match bindings.get_uids(MATCHED) {
        Some(uids) => uids.to_vec(),
        None => Vec::new(),
    };
    let mut result = result(&mut bindings, &names);
    let upserted = touched(reading.upserts(&result));
    if !upserted.is_empty() {
        let permitted = permits.may_upsert(version, &upserted)?;
        result.permit_upserts(permitted.into_iter().map(|uid| uid.0));
    }
    // Nodes that the caller may not see count as missing, so that it can't find out which values
    // exist.
    let named = touched(reading.named(&result));
    result.hide(hidden(version, permits, &named)?.into_iter().map(|uid| uid.0));
    if let [only] = matched[..] {
        result.update(only.0);
    }
    let outcome = reading.outcome(result, now).map_err(Refusal::Inputs)?;
    // One value of an `@id` field can't belong to several nodes.
    if outcome.sets_key && 1 < matched.len() {
        return Err(Refusal::Nodes(outcome.several_named()));
    }
    if selects && matched.is_empty() {
        return Ok(StagedMutation::default());
    }
    // Links to nodes that the caller may not see are retained. A node that is removed loses all its
    // links.
    let retained = match outcome.removes_node {
        true => Vec::new(),
        false => hidden(version, permits, &led_to(version, &matched, &outcome.unlinks))?,
    };
    let mut staged =
        stage_outcome(version, outcome, (&matched, &retained), &bindings, permits, context)?;
    staged.reads.add_query(query);
    Ok(staged)
}

/// Returns nodes with their types in the form of the checks.
fn touched<'a>(nodes: Vec<(u64, &'a TypeDef)>) -> Vec<Touched<'a>> {
    let touched = |(uid, def): (u64, &'a TypeDef)| Touched { uid: Uid(uid), type_name: &def.name };
    nodes.into_iter().map(touched).collect()
}

/// Returns those of some nodes that the caller may not see, in ascending order.
fn hidden(
    version: &Arc<Version>,
    permits: &dyn Permits,
    nodes: &[Touched<'_>],
) -> Result<Vec<Uid>, Error> {
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let seen = permits.may_link(version, nodes)?;
    let mut hidden: Vec<Uid> = nodes.iter().map(|node| node.uid).collect();
    hidden.retain(|uid| seen.binary_search(uid).is_err());
    hidden.sort_unstable();
    hidden.dedup();
    Ok(hidden)
}

/// Moves the results of the look-ups out of the bindings; what the filter selected stays there.
fn result(bindings: &mut Bindings, names: &[String]) -> LookupResult {
    let mut result = LookupResult::default();
    for name in names.iter().filter(|name| *name != MATCHED) {
        match bindings.remove(name) {
            Some(Binding::Uids(uids)) => result.add_uids(name, uids),
            Some(Binding::Values(values)) => result.add_values(name, values),
            Some(Binding::Constant(_)) | None => {}
        }
    }
    result
}

/// Makes statements of an outcome and stages them. `matched` are the nodes that the filter
/// selected, `retained` those at the other end of links that stay; both ascend.
fn stage_outcome<'a>(
    version: &Version,
    outcome: Outcome<'a>,
    (matched, retained): (&[Uid], &[Uid]),
    bindings: &Bindings,
    permits: &dyn Permits,
    context: &RequestContext,
) -> Result<StagedMutation<'a>, Refusal> {
    let Outcome { mut sets, mut deletes, links, unlinks, new, roots, .. } = outcome;
    // Statements about a variable are repeated for each selected node. Their number is checked
    // before any is made.
    let is_each = |subject: Subject<'_>| matches!(subject, Subject::Var(_));
    let values = sets.iter().chain(&deletes).filter(|quad| is_each(quad.subject)).count();
    let removed = unlinks.iter().filter(|unlink| is_each(unlink.source)).count();
    let per_node = values + removed + links.iter().filter(|link| is_each(link.source)).count();
    if STATEMENTS_MAX < per_node.saturating_mul(matched.len()) {
        let count = matched.len();
        let message = format!(
            "the mutation has {per_node} statements for each of {count} nodes, at most {STATEMENTS_MAX} are executed at once: narrow its filter"
        );
        return Err(Refusal::Engine(Error::Limit { message }));
    }
    let mut reads = Reads::default();
    for link in &links {
        reads.add(link.predicate);
        link.back.iter().for_each(|back| reads.add(back.predicate));
    }
    for unlink in &unlinks {
        reads.add(unlink.predicate);
        unlink.back.iter().for_each(|back| reads.add(back.predicate));
    }
    let LinkChanges { sets: linked, deletes: unlinked, displaced } =
        link_changes(version, matched, retained, &links, &unlinks);
    sets.extend(linked);
    deletes.extend(unlinked);
    let mutation = graph::Mutation { sets, deletes };
    let may_write = permits.check_writes(&mutation)?;
    let charge = |bytes| context.charge(bytes);
    let stager = Stager { actor: Actor::User(&may_write), passwords: context, charge: &charge };
    let (changes, report) = graph::stage(version, vec![mutation], bindings, stager)?;
    report.reads.iter().for_each(|name| reads.add(name));
    // The new nodes come first among the statements, in their order.
    let uids: Vec<Uid> = report.uids.into_iter().map(|(_, uid)| uid).collect();
    let new = new.iter().zip(&uids);
    let new = new.map(|(node, uid)| Touched { uid: *uid, type_name: &node.def.name }).collect();
    let mut nodes = Vec::with_capacity(roots.len());
    for root in roots {
        match root {
            Subject::Uid(uid) => nodes.push(Uid(uid)),
            Subject::New(number) => nodes.extend(uids.get(number as usize)),
            Subject::Var(_) => nodes.extend_from_slice(matched),
            Subject::Blank(_) | Subject::Name(_) | Subject::Star => {}
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    let changes = if changes.is_empty() { None } else { Some(changes) };
    Ok(StagedMutation { changes, roots: nodes, new, displaced, reads })
}
