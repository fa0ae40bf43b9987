//! Requests the custom fields of a request from other servers, in waves: first the root fields and
//! those of stored nodes, all at once, then those of returned objects, until none are left.

use super::send::{Answered, send};
use crate::db::graphql::reply::complete::concrete;
use crate::db::graphql::reply::remote_results::{Remote, RemoteResults, Slot};
use hexgraph_base::types::{Result, stack};
use hexgraph_graphql::model;
use hexgraph_graphql::remote::{
    Call, CallError, Fetch, Outgoing, Reply, Sender, Values, hidden_key, needs, worded,
};
use hexgraph_graphql::request::Field;
use hexgraph_graphql::subscribe::custom_below;
use hexgraph_store::exec::RequestContext;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::ptr::from_ref;
use std::sync::Arc;

/// The bytes of memory that a byte of an answer may become as JSON values, by which answers are
/// charged.
const BYTES_PER_BYTE: usize = 4;

/// The custom fields of a request.
pub(in crate::db::graphql) struct Waves<'a> {
    sender: Sender<'a>,
    fetch: Arc<dyn Fetch>,
    parallel: usize,
    context: &'a RequestContext,
    /// What was answered so far.
    pub result: RemoteResults,
    wave: Vec<Task<'a>>,
    /// The tasks of the wave, by the addresses of the field and of its type.
    by_field: HashMap<(usize, usize), usize>,
}

/// One custom field, and its objects.
struct Task<'a> {
    type_name: &'a str,
    field: &'a model::Field,
    requested: &'a Field,
    /// The values of each object that the server needs; objects with equal values are one. `None`
    /// for a root field.
    objects: Option<Vec<Values>>,
    by_text: HashMap<String, usize>,
    /// Where answers belong, with the number of the object.
    slots: Vec<(Slot, usize)>,
}

/// A request of a task, about one object or all.
struct Sent {
    task: usize,
    object: Option<usize>,
}

impl<'a> Waves<'a> {
    /// Starts without requests.
    pub(in crate::db::graphql) fn new(
        sender: Sender<'a>,
        fetch: Arc<dyn Fetch>,
        parallel: usize,
        context: &'a RequestContext,
    ) -> Waves<'a> {
        let (result, wave, by_field) = (RemoteResults::default(), Vec::new(), HashMap::new());
        Waves { sender, fetch, parallel, context, result, wave, by_field }
    }

    /// Returns true if no requests will be sent, since the request has to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.context.check().is_err()
    }

    /// Adds a field of `Query` or `Mutation` to the next wave.
    pub(in crate::db::graphql) fn want_root(
        &mut self,
        type_name: &'a str,
        field: &'a model::Field,
        requested: &'a Field,
    ) {
        self.wave.push(Task {
            type_name,
            field,
            requested,
            objects: None,
            by_text: HashMap::new(),
            slots: vec![(Slot::of_root(requested), 0)],
        });
    }

    /// Adds the custom fields of the objects of a value to the next wave.
    pub(in crate::db::graphql) fn want_below(&mut self, requested: &'a Field, value: &Json) {
        if custom_below(self.sender.model, requested).is_some() {
            self.below(requested.shape.ty.inner_named_type(), requested, false, value);
        }
    }

    /// Adds a field of an object to the next wave. The server gets `values` of the object, once for
    /// all objects with the same ones.
    pub(in crate::db::graphql) fn want(
        &mut self,
        def: &'a model::TypeDef,
        field: &'a model::Field,
        requested: &'a Field,
        slot: Slot,
        values: Values,
    ) {
        let wave = &mut self.wave;
        let number = *self
            .by_field
            // Both are borrowed for `'a`, longer than this map lives, so their addresses stand for
            // them.
            .entry((from_ref(requested).addr(), from_ref(def).addr()))
            .or_insert_with(|| {
                wave.push(Task {
                    type_name: &def.name,
                    field,
                    requested,
                    objects: Some(Vec::new()),
                    by_text: HashMap::new(),
                    slots: Vec::new(),
                });
                wave.len() - 1
            });
        let task = &mut wave[number];
        let objects = task.objects.get_or_insert_default();
        // Members of a JSON object are in one order, so equal values have equal texts.
        let text = serde_json::to_string(&values).unwrap_or_default();
        let object = *task.by_text.entry(text).or_insert_with(|| {
            objects.push(values);
            objects.len() - 1
        });
        task.slots.push((slot, object));
    }

    /// Sends wave by wave until nothing is left. Waits for the servers.
    ///
    /// # Errors
    ///
    /// When the context says stop, or the answers need too much memory.
    pub(in crate::db::graphql) fn send_all(&mut self) -> Result<()> {
        while !self.wave.is_empty() {
            self.context.check()?;
            let tasks = std::mem::take(&mut self.wave);
            self.by_field.clear();
            let answers = self.answers(&tasks)?;
            for (task, answers) in tasks.iter().zip(answers) {
                let answers: Vec<Arc<Remote>> = answers.into_iter().map(Arc::new).collect();
                let type_name = task.field.ty.name();
                if custom_below(self.sender.model, task.requested).is_some() {
                    for answer in &answers {
                        self.below(
                            type_name,
                            task.requested,
                            answer.is_by_key,
                            &answer.reply.value,
                        );
                    }
                }
                for (slot, object) in &task.slots {
                    self.result.insert(*slot, Arc::clone(&answers[*object]));
                }
            }
        }
        Ok(())
    }

    /// Requests the tasks of a wave, and returns their answers, one for each object.
    fn answers(&self, tasks: &[Task<'a>]) -> Result<Vec<Vec<Remote>>> {
        let calls: Vec<std::result::Result<Call<'a>, CallError>> = tasks
            .iter()
            .map(|task| self.sender.call(task.type_name, task.field, task.requested))
            .collect();
        let mut answers: Vec<Vec<Remote>> = Vec::with_capacity(tasks.len());
        let (mut requests, mut sent) = (Vec::new(), Vec::new());
        for (number, (task, call)) in tasks.iter().zip(&calls).enumerate() {
            let count = task.objects.as_ref().map_or(1, Vec::len);
            let mut own: Vec<Remote> = (0..count).map(|_| Remote::default()).collect();
            match call {
                Ok(call) => prepare(number, task, call, &mut own, &mut requests, &mut sent),
                Err(why) => {
                    let why = worded(task.type_name, &task.field.name, why);
                    own = failed(Reply::failed(why), count);
                }
            }
            answers.push(own);
        }
        send(&self.fetch, requests, self.parallel, self.context, |number, answered| {
            let Sent { task, object } = sent[number];
            // Only calls that could be made have requests.
            let Ok(call) = &calls[task] else { return Ok(()) };
            if let Ok(incoming) = &answered {
                self.context.charge(incoming.body.len() * BYTES_PER_BYTE)?;
            }
            let own = &mut answers[task];
            match object {
                Some(object) => own[object] = one(call, answered),
                None => *own = all(call, answered, own.len()),
            }
            Ok(())
        })?;
        Ok(answers)
    }

    /// Adds the custom fields of a returned value. Requests are of bounded depth.
    fn below(&mut self, type_name: &str, requested: &'a Field, is_by_key: bool, value: &Json) {
        stack::require();
        match value {
            Json::Array(items) => {
                for item in items {
                    self.below(type_name, requested, is_by_key, item);
                }
            }
            Json::Object(members) => {
                let model = self.sender.model;
                let def = concrete(model, type_name, members);
                let name = def.map_or(type_name, |def| def.name.as_str());
                let fields =
                    requested.selection.only().unwrap_or_else(|| requested.selection.of(name));
                let Some(def) = def else { return };
                for inner in fields {
                    let Some(existing) = def.field(&inner.shape.name) else { continue };
                    if existing.is_custom() {
                        let reported = |needed: &model::Field| {
                            let key = match is_by_key {
                                true => hidden_key(fields, &needed.name),
                                false => needed.remote_key().to_owned(),
                            };
                            Some((needed.name.clone(), members.get(&key)?.clone()))
                        };
                        let needed = needs(model, def, existing).into_iter();
                        let values = needed.filter_map(reported).collect();
                        self.want(def, existing, inner, Slot::of_object(inner, members), values);
                    } else if !inner.selection.is_empty() {
                        let key = if is_by_key {
                            inner.shape.key.as_str()
                        } else {
                            existing.remote_key()
                        };
                        if let Some(value) = members.get(key) {
                            self.below(existing.ty.name(), inner, is_by_key, value);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Makes the requests of a task. An object whose request can't be made has its answer already.
fn prepare<'a>(
    number: usize,
    task: &Task<'a>,
    call: &Call<'a>,
    own: &mut [Remote],
    requests: &mut Vec<Outgoing>,
    sent: &mut Vec<Sent>,
) {
    let mut add = |object: Option<usize>, made| match made {
        Ok(request) => {
            requests.push(request);
            sent.push(Sent { task: number, object });
        }
        Err(why) => {
            let at = object.unwrap_or_default();
            let why: CallError = why;
            own[at] = Remote { is_failed: true, ..remote(call, Reply::failed(call.worded(why))) };
        }
    };
    match &task.objects {
        None => add(Some(0), call.of_root()),
        Some(objects) if call.is_batch() => add(None, call.of_objects(objects)),
        Some(objects) => {
            for (at, values) in objects.iter().enumerate() {
                add(Some(at), call.of_object(values));
            }
        }
    }
}

/// The answer about one object.
fn one(call: &Call<'_>, answered: Answered) -> Remote {
    let reply = match answered {
        Ok(incoming) => call.read(&incoming),
        Err(why) => Reply::failed(call.worded(unanswered(&why.message))),
    };
    remote(call, reply)
}

/// The answers about all objects of a batch. What went wrong is reported with the first.
fn all(call: &Call<'_>, answered: Answered, count: usize) -> Vec<Remote> {
    let read = match answered {
        Ok(incoming) => call.read_all(&incoming, count),
        Err(why) => Err(Reply::failed(call.worded(unanswered(&why.message)))),
    };
    match read {
        Ok(replies) => replies.into_iter().map(|reply| remote(call, reply)).collect(),
        Err(reply) => failed(reply, count),
    }
}

fn remote(call: &Call<'_>, reply: Reply) -> Remote {
    let is_failed = reply.value.is_null() && !reply.reported.is_empty();
    Remote { reply, is_by_key: call.is_by_key(), is_failed }
}

/// The answers about objects that failed together: the errors are reported with the first.
fn failed(reply: Reply, count: usize) -> Vec<Remote> {
    let mut reported = reply.reported;
    let mut next = || Reply { value: Json::Null, reported: std::mem::take(&mut reported) };
    (0..count).map(|_| Remote { reply: next(), is_by_key: false, is_failed: true }).collect()
}

fn unanswered(why: &str) -> String {
    format!("external request returned an error: {why}")
}
