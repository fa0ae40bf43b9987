//! `mutate`: changes data in one transaction, which is discarded unless the caller says otherwise.

use super::answer::{Cuts, Outcome, ToolAnswer, ToolFault};
use super::call::{ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use crate::cli::requests::statements;
use hexgraph::db::{Mutation, MutationAnswer, MutationRequest, Txn, TxnOptions};
use hexgraph_base::types::Error;
use serde_json::{Map, Value, json};

/// The uids of new nodes that are shown.
const UIDS_SHOWN: usize = 100;

pub(super) const MUTATE: ToolDef = ToolDef {
    name: "mutate",
    title: "Change data",
    what: "Changes data: N-Quads (`_:a <name> \"Ada\" .`), JSON, or a request in DQL (`{ set { … } delete { … } }`, `upsert { … }`). By default it is a dry \
        run: it reports what would change, and changes nothing. Only `dry_run: false` commits.",
    params: &[
        required("text", ParamKind::Text, "the statements"),
        param(
            "delete",
            ParamKind::Flag(false),
            "delete the N-Quads or the JSON instead of setting them",
        ),
        param(
            "query",
            ParamKind::Text,
            "of N-Quads and JSON: a query in DQL whose variables they use as uid(v)",
        ),
        param("dry_run", ParamKind::Flag(true), "report what would change, and roll back"),
        SECONDS,
    ],
    writes: true,
    run: mutate,
};

fn mutate(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let text = call.arguments.required("text");
    let is_dry = call.arguments.flag("dry_run");
    let model = call.model()?;
    let txn = call.database.begin(TxnOptions::default())?;
    let done = run(call, &txn, text);
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            txn.discard();
            return Err(ToolFault::Engine(error, text.to_owned()));
        }
    };
    let committed = match is_dry || done.predicates.is_empty() {
        true => {
            txn.discard();
            None
        }
        false => Some(txn.commit()?),
    };
    let mut cuts = Cuts::default();
    let mut data = report(&done, &mut cuts);
    let is_new =
        |name: &&String| !model.catalog.predicates.contains_key(*name) && *name != "dgraph.type";
    let new: Vec<&String> = done.predicates.iter().filter(is_new).collect();
    data.insert("new_predicates".to_owned(), json!(new));
    data.insert("dry_run".to_owned(), is_dry.into());
    data.insert("committed".to_owned(), committed.is_some().into());
    if is_dry {
        let what =
            "nothing was changed: `dry_run: false` commits this; uids of new nodes will be others";
        data.insert("note".to_owned(), what.into());
    }
    let warnings = done.losses.warning().into_iter().collect();
    let commit = committed.unwrap_or(model.commit);
    Ok(ToolAnswer { data, cuts, warnings, commit, ..ToolAnswer::default() })
}

fn run(call: &ToolCall<'_>, txn: &Txn, text: &str) -> hexgraph_base::types::Result<MutationAnswer> {
    let (query, deletes) = (call.arguments.text("query"), call.arguments.flag("delete"));
    match (statements(text, query.is_some()), deletes) {
        (None, true) => Err(Error::query(
            "`delete` is for N-Quads and JSON: a request in DQL says `delete { ... }`",
        )),
        (None, false) => txn.mutate_text_with(text, call.control),
        (Some(statements), deletes) => {
            let mut mutation = Mutation::default();
            let list = if deletes { &mut mutation.delete } else { &mut mutation.set };
            list.push(statements);
            let query = query.unwrap_or_default().into();
            let request =
                MutationRequest { query, mutations: vec![mutation], ..MutationRequest::default() };
            txn.mutate_with(&request, call.control)
        }
    }
}

fn report(done: &MutationAnswer, cuts: &mut Cuts) -> Map<String, Value> {
    let effect = &done.effect;
    let counts = [
        ("values_set", effect.values_set),
        ("edges_set", effect.edges_set),
        ("values_deleted", effect.values_deleted),
        ("edges_deleted", effect.edges_deleted),
        ("statements", done.statements),
    ];
    let mut data: Map<String, Value> =
        counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    data.insert("predicates".to_owned(), json!(done.predicates));
    let shown = done.uids.iter().zip(0..UIDS_SHOWN);
    let uids: Map<String, Value> =
        shown.map(|((name, uid), _)| (name.clone(), uid.as_str().into())).collect();
    if uids.len() < done.uids.len() {
        cuts.note(format!("uids: {} of {} new nodes are shown", uids.len(), done.uids.len()));
    }
    data.insert("uids".to_owned(), Value::Object(uids));
    data
}
