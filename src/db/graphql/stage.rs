//! What a GraphQL mutation does to a version, computed and not yet carried out.
//!
//! One query finds out which nodes the inputs name and which ones a filter selects; then all is
//! known, and the statements are those of any other mutation. What authorization has to look at
//! stands beside them: the new nodes on the version that comes out, all others on the one before.

use crate::db::graphql::links::Ends;
use crate::db::graphql::links::ends;
use crate::exec::Control;
use crate::exec::execute_upsert;
use crate::formats::Subject;
use crate::graph;
use crate::graph::Binding;
use crate::graph::Bindings;
use crate::graph::Changes;
use crate::graph::STATEMENTS_MAX;
use crate::graph::Version;
use crate::graphql::mutate::Found;
use crate::graphql::mutate::MATCHED;
use crate::graphql::mutate::MutationFault;
use crate::graphql::mutate::Outcome;
use crate::graphql::mutate::Reading;
use crate::plan::Query;
use crate::types::Error;
use crate::types::Uid;
use std::sync::Arc;

/// A node that a mutation touches, with the type by which it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touched<'a> {
    /// The node.
    pub uid: Uid,
    /// The name of the type or interface.
    pub type_name: &'a str,
}

impl<'a> Touched<'a> {
    /// An existing node.
    pub fn of(node: Subject<'_>, type_name: &'a str) -> Option<Touched<'a>> {
        match node {
            Subject::Uid(uid) => Some(Touched { uid: Uid(uid), type_name }),
            _ => None,
        }
    }
}

/// What a mutation does.
#[derive(Debug, Default)]
pub(super) struct Staged<'a> {
    /// All changes; `None` when there is nothing to be done.
    pub changes: Option<Changes>,
    /// The nodes that the mutation is about, ascending: of the objects of an add, or those that the
    /// filter of an update or a delete has found.
    pub roots: Vec<Uid>,
    /// The new nodes: `add` rules have to hold on the next version.
    pub new: Vec<Touched<'a>>,
    /// Nodes that lose a link because another node takes their place: `update` rules have to hold.
    pub displaced: Vec<Touched<'a>>,
}

/// Why a mutation can't be carried out.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Its inputs are wrong.
    Inputs(Vec<MutationFault>),
    /// It makes no sense for the nodes that are there.
    Nodes(MutationFault),
    /// The caller may not do it.
    Denied,
    /// The engine refuses it.
    Engine(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Engine(error)
    }
}

/// What decides about nodes that exist, before anything is computed: which of those that an upsert
/// would change may be changed. Nodes that an update or a delete selects are up to its query.
pub(super) type Permits<'p> = &'p dyn Fn(&Version, &[Touched<'_>]) -> Result<Vec<Uid>, Error>;

/// Computes what a mutation does to a version. `query` is the one of the reading, with the blocks
/// that select the nodes of an update or a delete as the variable [`MATCHED`].
///
/// # Errors
///
/// Why it can't be carried out.
pub(super) fn stage<'a>(
    version: &Arc<Version>,
    reading: Reading<'a>,
    query: Query,
    now: &'a str,
    permitted: Permits<'_>,
    control: &Control,
) -> Result<Staged<'a>, Refusal> {
    let mut names: Vec<String> = query.variables.iter().map(|it| it.name.clone()).collect();
    names.sort_unstable();
    let selects = names.iter().any(|name| name == MATCHED);
    let mut bindings = match query.blocks.is_empty() {
        true => Bindings::default(),
        false => {
            execute_upsert(Arc::clone(version), Arc::new(query), &[], &names, control)?.bindings
        }
    };
    let matched = match bindings.get_uids(MATCHED) {
        Some(uids) => uids.to_vec(),
        None => Vec::new(),
    };
    let mut found = found(&mut bindings, &names);
    let upserted: Vec<Touched<'_>> = reading
        .upserts(&found)
        .into_iter()
        .map(|(uid, def)| Touched { uid: Uid(uid), type_name: &def.name })
        .collect();
    if !upserted.is_empty() {
        let permitted = permitted(version, &upserted)?;
        found.permit_upserts(permitted.into_iter().map(|uid| uid.0));
    }
    let outcome = reading.outcome(found, now).map_err(Refusal::Inputs)?;
    if outcome.sets_key && 1 < matched.len() {
        return Err(Refusal::Nodes(outcome.several_named()));
    }
    if selects && matched.is_empty() {
        return Ok(Staged::default());
    }
    stage_outcome(version, outcome, &matched, &bindings)
}

fn found(bindings: &mut Bindings, names: &[String]) -> Found {
    let mut found = Found::default();
    for name in names.iter().filter(|name| *name != MATCHED) {
        match bindings.take(name) {
            Some(Binding::Uids(uids)) => found.add_uids(name, uids),
            Some(Binding::Values(values)) => found.add_values(name, values),
            Some(Binding::Constant(_)) | None => {}
        }
    }
    found
}

fn stage_outcome<'a>(
    version: &Version,
    outcome: Outcome<'a>,
    matched: &[Uid],
    bindings: &Bindings,
) -> Result<Staged<'a>, Refusal> {
    let Outcome { mut sets, mut deletes, links, unlinks, new, roots, .. } = outcome;
    // Before any of them is made for each node.
    let is_each = |subject: Subject<'_>| matches!(subject, Subject::Var(_));
    let values = sets.iter().chain(&deletes).filter(|quad| is_each(quad.subject)).count();
    let removed = unlinks.iter().filter(|unlink| is_each(unlink.source)).count();
    let per_node = values + removed + links.iter().filter(|link| is_each(link.source)).count();
    if STATEMENTS_MAX < per_node.saturating_mul(matched.len()) {
        let count = matched.len();
        let message = format!(
            "the mutation has {per_node} statements for each of {count} nodes, at most {STATEMENTS_MAX} are carried out at once: narrow its filter"
        );
        return Err(Refusal::Engine(Error::Limit { message }));
    }
    let Ends { sets: linked, deletes: unlinked, displaced } =
        ends(version, matched, &links, &unlinks);
    sets.extend(linked);
    deletes.extend(unlinked);
    let mutation = graph::Mutation { sets, deletes };
    let (changes, report) = graph::stage(version, vec![mutation], bindings)?;
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
            Subject::Blank(_) | Subject::Star => {}
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    let changes = if changes.is_empty() { None } else { Some(changes) };
    Ok(Staged { changes, roots: nodes, new, displaced })
}
