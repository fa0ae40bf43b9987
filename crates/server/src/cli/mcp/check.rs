//! `validate` and `explain`: what is wrong with a request, and how a query runs.

use super::answer::{Outcome, ToolAnswer, ToolFault, error_json};
use super::call::{ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use crate::cli::requests::statements;
use crate::http::{alternatives_json, warning_json};
use hexgraph::db::{
    Database, Mutation, MutationRequest, QueryRequest, RequestContext, TxnOptions, Warning,
    WarningKind, is_mutation,
};
use hexgraph_base::types::Result;
use serde_json::{Map, Value, json};

pub(super) const VALIDATE: ToolDef = ToolDef {
    name: "validate",
    title: "Check a request",
    what: "Checks a query or a mutation in DQL, or N-Quads, against the schema, without running it on the data: errors and warnings with line, column \
        and remedy.",
    params: &[required("text", ParamKind::Text, "the query, the mutation, or N-Quads"), SECONDS],
    writes: false,
    run: validate,
};

/// Runs the text in an empty database of the same schema: what is wrong there is wrong with any
/// data.
fn validate(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let text = call.arguments.required("text");
    let model = call.model()?;
    let database = model.empty_database()?;
    let is_change = is_mutation(text) || statements(text, false).is_some();
    let checked = match is_change {
        true => check_change(database, text, call.control).map(|()| Vec::new()),
        false => check_query(database, text, call.control),
    };
    let mut data = Map::new();
    data.insert("kind".to_owned(), if is_change { "mutation" } else { "query" }.into());
    data.insert("valid".to_owned(), checked.is_ok().into());
    match checked {
        Ok(warnings) => drop(data.insert("warnings".to_owned(), json!(warnings))),
        Err(error) => drop(data.insert("errors".to_owned(), json!([error_json(&error, text)]))),
    }
    Ok(ToolAnswer { data, commit: model.commit, ..ToolAnswer::default() })
}

fn check_query(database: &Database, text: &str, control: &RequestContext) -> Result<Vec<Value>> {
    let answer = database.query_with(&QueryRequest::from(text), control)?;
    // Others are about values, and an empty database has none.
    let is_of_text = |warning: &Warning| {
        let of_text = [
            WarningKind::UnknownPredicate,
            WarningKind::UnknownType,
            WarningKind::NoLanguages,
            WarningKind::NoSelection,
            WarningKind::GroupedPage,
            WarningKind::Ignored,
        ];
        of_text.contains(&warning.kind)
    };
    let warnings = answer.warnings().into_iter().filter(is_of_text);
    Ok(warnings.map(|warning| warning_json(&warning)).collect())
}

fn check_change(database: &Database, text: &str, control: &RequestContext) -> Result<()> {
    let txn = database.begin(TxnOptions::default())?;
    let done = match statements(text, false) {
        None => txn.mutate_text_with(text, control),
        Some(statements) => {
            let mutation = Mutation { set: vec![statements], ..Mutation::default() };
            let request =
                MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
            txn.mutate_with(&request, control)
        }
    };
    txn.discard();
    done.map(drop)
}

pub(super) const EXPLAIN: ToolDef = ToolDef {
    name: "explain",
    title: "Explain a query",
    what: "Shows the plan of a query: its operators with expected rows, and what may be chosen instead. The query does not run. With `analyze` it does, and \
        operators have their actual rows and times. For a query that is slow.",
    params: &[
        required("query", ParamKind::Text, "the query in DQL"),
        param("analyze", ParamKind::Flag(false), "run the query, for actual rows and times"),
        SECONDS,
    ],
    writes: false,
    run: explain,
};

/// The steps of a plan that are shown.
const STEPS_SHOWN: usize = 200;

fn explain(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let text = call.arguments.required("query");
    let request = QueryRequest::from(text);
    let explained = match call.arguments.flag("analyze") {
        true => call.database.profile_with(&request, call.control),
        false => call.database.explain_with(&request, call.control),
    };
    let explanation = explained.map_err(ToolFault::about(text))?;
    let mut answer = ToolAnswer { commit: call.database.commit()?, ..ToolAnswer::default() };
    let shown = &explanation.steps[..explanation.steps.len().min(STEPS_SHOWN)];
    if shown.len() < explanation.steps.len() {
        let all = explanation.steps.len();
        answer.cuts.note(format!("steps: the first {STEPS_SHOWN} of {all} are shown"));
    }
    let steps = shown.iter().map(|step| {
        let mut json = json!({
            "depth": step.depth, "operator": step.operator, "detail": step.detail,
        });
        if let Some(actual) = step.actual {
            json["rows"] = actual.rows.into();
            json["milliseconds"] = json!(actual.time.as_secs_f64() * 1e3);
        }
        if step.is_estimated {
            json["estimated"] = true.into();
        }
        if step.is_fallback {
            json["fallback"] = true.into();
        }
        if !step.alternatives.is_empty() {
            json["alternatives"] = alternatives_json(step);
        }
        if !step.strategy.is_empty() {
            json["strategy"] = step.strategy.into();
        }
        if let Some(estimate) = step.estimate {
            json["estimate"] = estimate.into();
        }
        json
    });
    answer.data.insert("steps".to_owned(), steps.collect());
    if let Some(latency) = explanation.latency {
        let milliseconds = latency.total().as_secs_f64() * 1e3;
        answer.data.insert("milliseconds".to_owned(), json!(milliseconds));
    }
    Ok(answer)
}
