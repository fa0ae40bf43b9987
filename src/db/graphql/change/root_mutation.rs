//! Root fields of mutations: each is computed, checked and published as one commit, then its
//! payload is answered.

use super::rule_guard::Guard;
use super::stage::{Refusal, StagedMutation, stage};
use crate::db::change::upsert::Prepared;
use crate::db::graphql::root_query::{Begun, RootResolver};
use crate::db::graphql::run::{Outcome, Run, root_path};
use hexgraph_base::answer::write_json_text;
use hexgraph_base::plan::{Block, Query, VarId, Variable};
use hexgraph_base::types::{DateTime, Error, Uid, write_int};
use hexgraph_graphql::auth::TokenError;
use hexgraph_graphql::generate::{Root, RootKind};
use hexgraph_graphql::lower::{Caller, lower_filter, lower_nodes};
use hexgraph_graphql::model::Operation;
use hexgraph_graphql::mutate::{MATCHED, MutationFault, Reading};
use hexgraph_graphql::remote::{Change, event};
use hexgraph_graphql::request::{Cascade, Field, GraphqlError};
use hexgraph_store::graph::{Changes, Commit, ConflictKey, Version, encode_changes};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs one mutation in a commit of its own, then answers the selection of its payload.
pub(in crate::db::graphql) fn mutate(run: &Run<'_>, field: &Field) -> Outcome {
    if let Some(refusal) = run.refusal.clone().filter(|_| field.shape.root.is_some()) {
        return refused(run, field, Refusal::Engine(refusal.into()));
    }
    match &field.shape.root {
        Some(root) if matches!(root.kind, RootKind::Add | RootKind::Update | RootKind::Delete) => {
            let caller = match run.session.caller(&run.loaded) {
                Ok(caller) => caller,
                Err(why) => return not_let_in(root, field, &why),
            };
            match execute(run, caller, root, field) {
                Ok(done) => {
                    inform(run, root, field, &done);
                    payload(run, root, field, &done)
                }
                Err(refusal) => refused(run, field, refusal),
            }
        }
        Some(root) => match run.session.caller(&run.loaded) {
            Ok(_) => {
                let reader = RootResolver::new(run);
                let begun = vec![Begun::Remote("Mutation", field)];
                reader.finish(begun).pop().unwrap_or_default()
            }
            Err(why) => not_let_in(root, field, &why),
        },
        None => Outcome::default(),
    }
}

/// The result of a mutation.
struct Done {
    /// The version that the payload is read from: the one that the mutation made, or for a delete
    /// the one before it.
    version: Arc<Version>,
    /// The nodes that the mutation was about, ascending.
    roots: Vec<Uid>,
    /// The number of nodes that an add created, or that an update or a delete selected.
    count: usize,
    /// The number of the commit; `None` when there was nothing to change.
    commit: Option<u64>,
}

/// Informs the lambda server of a commit, where the type requests that by `@lambdaOnMutate`. It is
/// sent in the background; the answer to the mutation does not depend on it.
fn inform(run: &Run<'_>, root: &Root, field: &Field, done: &Done) {
    let Some(commit) = done.commit else { return };
    let change = match root.kind {
        RootKind::Add => Change::Add,
        RootKind::Update => Change::Update,
        _ => Change::Delete,
    };
    let options = run.database.graphql_options();
    let came = |name: &str| run.headers.get(name).map(str::to_owned);
    let sender = run.sender(&options, &came);
    let uids: Vec<String> = done.roots.iter().map(ToString::to_string).collect();
    let event = event(&sender, &root.type_name, change, &field.arguments, &uids, commit);
    if let Some(event) = event {
        run.database.graphql_schemas().hooks.send(run.database.graphql_client(), event);
    }
}

/// Makes the answer to a caller whose token is refused.
fn not_let_in(root: &Root, field: &Field, why: &TokenError) -> Outcome {
    let message = match root.kind {
        RootKind::Add => format!("mutation failed because authorization failed because {why}"),
        _ => format!("couldn't rewrite mutation {} because {why}", field.shape.name),
    };
    Outcome::fault(field, GraphqlError::on(root_path(field), message))
}

/// Computes the mutation on the newest version and commits it. When other commits change what it
/// depends on meanwhile, it is computed again: `Database::change_prepared` calls `prepare` once for
/// each attempt.
fn execute(
    run: &Run<'_>,
    caller: Caller<'_>,
    root: &Root,
    field: &Field,
) -> std::result::Result<Done, Refusal> {
    let reading = Reading::new(&run.loaded.model, root, &field.arguments);
    let reading = reading.map_err(Refusal::Inputs)?;
    if reading.is_empty() {
        return Ok(Done {
            version: run.database.version()?,
            roots: Vec::new(),
            count: 0,
            commit: None,
        });
    }
    // The query depends on the inputs alone, so it serves all attempts. The reading is used up by
    // each.
    let mut query = reading.query();
    if root.kind != RootKind::Add {
        select(caller, root, field, &mut query)?;
    }
    let job = Job { run, caller, root, field, query: Arc::new(query), now: now() };
    let mut ended = None;
    let prepare = |version: &Arc<Version>| match job.prepare(version) {
        Ok(Ok(prepared)) => Ok(prepared),
        Ok(Err(done)) => {
            ended = Some(Ok(done));
            Err(nothing())
        }
        // An error of the engine says whether another attempt is of use, so it is passed on; all
        // other outcomes are final.
        Err(Refusal::Engine(error)) => Err(error),
        Err(refusal) => {
            ended = Some(Err(refusal));
            Err(nothing())
        }
    };
    let fits = |next: &Next, version: &Version| next.changes.fit(&version.schema);
    let finish =
        |next: Next, version: &Arc<Version>, commit: &mut Commit| job.finish(next, version, commit);
    let published = run.database.change_prepared(run.context, prepare, fits, finish);
    match (ended, published) {
        (Some(ended), _) => ended,
        (None, Ok((commit, done))) => Ok(Done { commit: Some(commit), ..done }),
        (None, Err(error)) => Err(Refusal::Engine(error)),
    }
}

/// Makes the error that stops an attempt without a commit. It is never shown to a client.
fn nothing() -> Error {
    Error::query("there is nothing to be published")
}

/// A mutation with all it needs, except for the version that it changes.
struct Job<'a> {
    run: &'a Run<'a>,
    caller: Caller<'a>,
    root: &'a Root,
    field: &'a Field,
    query: Arc<Query>,
    now: String,
}

/// The next version as a mutation makes it, after all rules have been checked.
struct Next {
    before: Arc<Version>,
    changes: Changes,
    /// The version with the changes.
    after: Version,
    /// What the changes write, by which transactions that are open find out that they conflict.
    keys: Vec<ConflictKey>,
    /// See [`Done::roots`].
    roots: Vec<Uid>,
    /// See [`Done::count`].
    count: usize,
}

impl Job<'_> {
    /// Computes the next version together with the predicates that it depends on. When there is
    /// nothing to change, the inner result is the [`Done`] that the payload is made of.
    fn prepare(
        &self,
        version: &Arc<Version>,
    ) -> std::result::Result<std::result::Result<Prepared<Next>, Done>, Refusal> {
        let Job { run, root, .. } = *self;
        let reading = Reading::new(&run.loaded.model, root, &self.field.arguments);
        let reading = reading.map_err(Refusal::Inputs)?;
        let (context, reads) = (run.context, Mutex::default());
        let links_hidden = run.database.graphql_options().links_hidden;
        let (caller, database) = (self.caller, run.database);
        let guard = Guard { database, caller, context, links_hidden, reads };
        let staged = run.database.compute(context, || {
            Ok(stage(version, reading, &self.query, &self.now, &guard, context))
        })??;
        let StagedMutation { changes, roots, new, displaced, mut reads } = staged;
        let count = if root.kind == RootKind::Add { new.len() } else { roots.len() };
        let before = Arc::clone(version);
        let Some(changes) = changes else {
            let version = run.database.seen(before)?;
            return Ok(Err(Done { version, roots, count, commit: None }));
        };
        if !guard.may_displace(version, &displaced)? {
            return Err(Refusal::Denied);
        }
        let (mut keys, copy) = (Vec::new(), changes.clone());
        let check = || context.check();
        let (after, _) =
            run.database.compute(context, || copy.apply_keyed(version, &mut keys, &check))?;
        // `add` rules read the new nodes, so they are evaluated on the version that has them,
        // before it is published.
        if !guard.may_add(&Arc::new(after.clone()), &new)? {
            return Err(Refusal::Denied);
        }
        reads.add_all(guard.reads.into_inner().unwrap_or_else(PoisonError::into_inner));
        let staged = Next { before, changes, after, keys, roots, count };
        Ok(Ok(Prepared { staged, reads }))
    }

    /// Returns the version to be published. This is the prepared one when no other commit came in
    /// between; otherwise the changes are applied to the newest version.
    fn finish(
        &self,
        next: Next,
        version: &Arc<Version>,
        commit: &mut Commit,
    ) -> hexgraph_base::types::Result<(Version, Done)> {
        let Next { before, changes, after, keys, roots, count } = next;
        if let Some(record) = &mut commit.record {
            encode_changes(std::slice::from_ref(&changes), record);
        }
        let after = if Arc::ptr_eq(&before, version) {
            commit.keys.extend(keys);
            after
        } else {
            let (context, keys) = (self.run.context, &mut commit.keys);
            let check = || context.check();
            self.run.database.compute(context, || changes.apply_keyed(version, keys, &check))?.0
        };
        // The payload of a delete shows the nodes as they were.
        let reported = match self.root.kind {
            RootKind::Delete => Arc::clone(version),
            _ => Arc::new(after.clone()),
        };
        let reported = self.run.database.seen(reported)?;
        // The commit has no number before it is published; the caller adds it.
        Ok((after, Done { version: reported, roots, count, commit: None }))
    }
}

/// Returns the present time, to the second, as text for the variable `$now`.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut text = Vec::new();
    DateTime::from_unix(since.as_secs() as i64, 0).write(&mut text);
    String::from_utf8(text).expect("a moment is written in ASCII")
}

/// Makes the answer to a mutation that can't be executed. Faults that would reveal hidden nodes are
/// left out, except where the server is set to debug its rules.
fn refused(run: &Run<'_>, field: &Field, refusal: Refusal) -> Outcome {
    let name = &field.shape.name;
    let path = || root_path(field);
    let debugs = run.database.graphql_options().debug;
    let is_reported = |fault: &MutationFault| debugs || !fault.is_hidden;
    let errors = match refusal {
        Refusal::Inputs(faults) => faults
            .into_iter()
            .filter(is_reported)
            .map(|fault| {
                GraphqlError::on(path(), format!("couldn't rewrite mutation {name} because failed to rewrite mutation payload because {fault}"))
            })
            .collect(),
        Refusal::Nodes(fault) if is_reported(&fault) => {
            vec![GraphqlError::on(path(), format!("mutation {name} failed because {fault}"))]
        }
        Refusal::Denied if debugs => {
            vec![GraphqlError::on(path(), "mutation failed because authorization failed")]
        }
        Refusal::Nodes(_) | Refusal::Denied => Vec::new(),
        Refusal::Engine(error) => {
            let reason = reason(&error);
            let message = format!("mutation {name} failed because Dgraph execution failed because {reason}");
            vec![GraphqlError { path: path(), ..GraphqlError::at(field.shape.location, message) }]
        }
    };
    Outcome { value: b"null".to_vec(), errors, failed: true, ..Outcome::default() }
}

/// Returns the message of an error without its position, which is in generated statements that the
/// client has never seen.
fn reason(error: &Error) -> String {
    match error {
        Error::Query { message, .. } | Error::Schema { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

/// Adds the block that selects the nodes of an update or a delete.
fn select(
    caller: Caller<'_>,
    root: &Root,
    field: &Field,
    query: &mut Query,
) -> std::result::Result<(), Refusal> {
    let arguments = &field.arguments;
    let (operation, filter) = match root.kind {
        RootKind::Update => {
            let input = arguments.given("input");
            (Operation::Update, input.and_then(|input| input.get("filter")))
        }
        _ => (Operation::Delete, arguments.given("filter")),
    };
    let block = lower_filter(caller, &root.type_name, operation, field, filter);
    let block = block.map_err(|fault| {
        // The fault is worded for queries; `refused` words it for mutations.
        let start = "Dgraph query failed because Dgraph execution failed because ";
        Error::query(fault.message.strip_prefix(start).unwrap_or(&fault.message))
    })?;
    let var = VarId(query.variables.len() as u32);
    query.variables.push(Variable { name: MATCHED.to_owned() });
    query.blocks.push(Block { var: Some(var), defines: vec![var], ..block });
    Ok(())
}

/// Answers the selection of the payload of a mutation.
fn payload(run: &Run<'_>, root: &Root, field: &Field, done: &Done) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.value.push(b'{');
    for requested in field.selection.only().unwrap_or_default() {
        if outcome.value.len() > 1 {
            outcome.value.push(b',');
        }
        write_json_text(&requested.shape.key, &mut outcome.value);
        outcome.value.push(b':');
        let value = &mut outcome.value;
        match requested.shape.name.as_str() {
            "numUids" => write_int(done.count as i64, value),
            // Only the payload of a delete has `msg`.
            "msg" if done.count == 0 => write_json_text("No nodes were deleted", value),
            "msg" => write_json_text("Deleted", value),
            "__typename" => write_json_text(field.shape.ty.inner_named_type(), value),
            _ => add_nodes(run, root, field, requested, done, &mut outcome),
        }
    }
    outcome.value.push(b'}');
    outcome
}

/// Adds the list of nodes that `requested` is, read from the version of the mutation.
fn add_nodes(
    run: &Run<'_>,
    root: &Root,
    field: &Field,
    requested: &Field,
    done: &Done,
    outcome: &mut Outcome,
) {
    let mut requested = requested.clone();
    if field.cascade.is_some() && requested.cascade.is_none() {
        // Fields that it names are those of the payload.
        requested.cascade = Some(Cascade { fields: Arc::from([]) });
    }
    let reader = RootResolver::at(run, Arc::clone(&done.version));
    let uids = done.roots.iter().map(|uid| uid.0).collect();
    let lowered = run
        .caller(&requested)
        .and_then(|caller| lower_nodes(caller, &root.type_name, &requested, uids));
    let nodes = match lowered {
        Ok(lowered) => reader.answer(&requested, lowered),
        Err(fault) => Outcome::fault(&requested, fault),
    };
    outcome.value.extend_from_slice(&nodes.value);
    outcome.touched += nodes.touched;
    for mut fault in nodes.errors {
        if fault.path.is_empty() {
            fault.path = root_path(&requested);
        }
        fault.path.splice(..0, root_path(field));
        outcome.errors.push(fault);
    }
}
