//! Root fields of queries: introspection, and what is read from a version.

use crate::db::graphql::remote::custom::{Local, by_another, by_dql, declared};
use crate::db::graphql::remote::gather::gather;
use crate::db::graphql::remote::waves::Waves;
use crate::db::graphql::reply::answer::ReplyWriter;
use crate::db::graphql::reply::remote_results::RemoteResults;
use crate::db::graphql::run::{Outcome, Run, root_path, store_fault};
use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::{HASH_OF_NOBODY, Result};
use hexgraph_graphql::generate::RootKind;
use hexgraph_graphql::lower::{Caller, Lowered, SimilarTo, lower};
use hexgraph_graphql::model::Custom;
use hexgraph_graphql::request::{Field, GraphqlError, introspect};
use hexgraph_store::exec;
use hexgraph_store::exec::{Answer, RequestContext};
use hexgraph_store::graph::{Passwords, Version};
use std::sync::Arc;

/// A root field after all steps that need no other server.
///
/// All fields of a request are begun, on several threads where that pays, and then finished
/// together. So the requests to other servers are sent at one time for all of them.
pub(super) enum Begun<'f> {
    /// The field is done.
    Done(Outcome),
    /// Nodes of the store, some of whose fields other servers have to answer.
    Stored(&'f Field, Box<(Lowered<'f>, Answer)>),
    /// Another server answers the field of this type, which is `Query` or `Mutation`.
    Remote(&'static str, &'f Field),
    /// A query in DQL was executed.
    Local(&'f Field, Local),
}

impl<'f> Begun<'f> {
    /// Returns the outcome of a field that is done.
    fn done(self) -> Option<Outcome> {
        match self {
            Begun::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns the field, unless it is done.
    fn field(&self) -> Option<&'f Field> {
        match self {
            Begun::Done(_) => None,
            Begun::Stored(field, ..) | Begun::Remote(_, field) | Begun::Local(field, _) => {
                Some(field)
            }
        }
    }
}

/// Resolves root fields on one version of the data.
pub(super) struct RootResolver<'a> {
    run: &'a Run<'a>,
    version: Arc<Version>,
    /// Whether each field gives back the memory that it no longer needs before the end of the
    /// request.
    gives_back: bool,
}

impl<'a> RootResolver<'a> {
    /// Resolves on the version of a request.
    pub(super) fn new(run: &'a Run<'a>) -> RootResolver<'a> {
        RootResolver::at(run, Arc::clone(&run.version))
    }

    /// Resolves the root fields of a query. Where there are several, each releases its reservation
    /// as soon as its value is written: thousands of them need no more memory than those that run
    /// at the same time.
    pub(super) fn of_fields(run: &'a Run<'a>, fields: &[Field]) -> RootResolver<'a> {
        // Steps that are noted are in the context of the request.
        let gives_back = 1 < fields.len() && run.context.trace().is_none();
        RootResolver { gives_back, ..RootResolver::new(run) }
    }

    /// Resolves on another version than that of the request.
    pub(super) fn at(run: &'a Run<'a>, version: Arc<Version>) -> RootResolver<'a> {
        RootResolver { run, version, gives_back: false }
    }

    /// Whether a field may be so slow that running it on another thread pays. A field about the
    /// schema has no root and is fast, as are look-ups of one node.
    pub(super) fn may_be_long(&self, field: &Field) -> bool {
        let kind = field.shape.root.as_ref().map(|root| root.kind);
        !matches!(kind, None | Some(RootKind::Get | RootKind::CheckPassword | RootKind::Service))
    }

    /// Whether a field compares passwords, which holds up a thread: it is that of the request then.
    pub(super) fn checks_passwords(&self, field: &Field) -> bool {
        match field.shape.root.as_ref().map(|root| root.kind) {
            Some(RootKind::CheckPassword) => true,
            Some(RootKind::Custom) => {
                let custom = declared(self.run, "Query", field).and_then(|it| it.custom.as_ref());
                matches!(custom, Some(Custom::Dql(text)) if text.contains("checkpwd"))
            }
            _ => false,
        }
    }

    /// Does all of a root field that needs no other server.
    pub(super) fn begin<'f>(&'f self, field: &'f Field) -> Begun<'f> {
        let Some(root) = &field.shape.root else { return Begun::Done(self.about_schema(field)) };
        if let Some(refusal) = &self.run.refusal {
            let fault = store_fault(field, &refusal.clone().into());
            return Begun::Done(Outcome::fault(field, fault));
        }
        let caller = match self.run.caller(field) {
            Ok(caller) => caller,
            Err(fault) => return Begun::Done(Outcome::fault(field, fault)),
        };
        match root.kind {
            RootKind::Service => Begun::Done(self.service(field)),
            RootKind::Custom => match by_dql(self.run, field) {
                None => Begun::Remote("Query", field),
                Some(Ok(local)) => Begun::Local(field, local),
                Some(Err(fault)) => Begun::Done(Outcome::fault(field, fault)),
            },
            RootKind::SimilarById | RootKind::SimilarByEmbedding => self.similar(caller, field),
            _ => self.stored(caller, field, SimilarTo::OfRequest),
        }
    }

    /// Finishes root fields: calls other servers, for all fields at once, and writes the values.
    pub(super) fn finish(&self, begun: Vec<Begun<'_>>) -> Vec<Outcome> {
        // Most requests call no other server, and set up nothing for it.
        if begun.iter().all(|begun| matches!(begun, Begun::Done(_))) {
            return begun.into_iter().map(|begun| begun.done().unwrap_or_default()).collect();
        }
        let options = self.run.database.graphql_options();
        let came = |name: &str| self.run.headers.get(name).map(str::to_owned);
        let sender = self.run.sender(&options, &came);
        let fetch = self.run.database.graphql_client();
        let mut waves = Waves::new(sender, fetch, options.remote_parallel, self.run.context);
        for begun in &begun {
            self.want(begun, &mut waves);
        }
        // What came before an error is not shown: a request that has to stop has no answer.
        let requested = waves.send_all();
        let result = waves.result;
        let each = |begun: Begun<'_>| match (&requested, begun.field()) {
            (Err(error), Some(field)) => Outcome::fault(field, store_fault(field, error)),
            _ => self.write(begun, &result),
        };
        begun.into_iter().map(each).collect()
    }

    /// Adds the custom fields of a begun field to the next requests.
    fn want<'f>(&'f self, begun: &'f Begun<'f>, waves: &mut Waves<'f>) {
        match begun {
            Begun::Done(_) => {}
            Begun::Stored(field, stored) => gather(field, &stored.0.shape, &stored.1, waves),
            Begun::Remote(type_name, field) => {
                if let Some(existing) = declared(self.run, type_name, field) {
                    waves.want_root(type_name, existing, field);
                }
            }
            Begun::Local(field, local) => {
                if let Some(value) = local.value(field) {
                    waves.want_below(field, value);
                }
            }
        }
    }

    fn write(&self, begun: Begun<'_>, result: &RemoteResults) -> Outcome {
        match begun {
            Begun::Done(outcome) => outcome,
            Begun::Stored(field, stored) => {
                self.written(field, &stored.0, &stored.1, (Some(result), self.run.context))
            }
            Begun::Remote(_, field) => by_another(self.run, field, result),
            Begun::Local(field, local) => local.write(self.run, field, result),
        }
    }

    /// A field that is answered from the store.
    pub(super) fn stored<'f>(
        &'f self,
        caller: Caller<'f>,
        field: &'f Field,
        to: SimilarTo,
    ) -> Begun<'f> {
        match lower(caller, field, to) {
            Ok(lowered) => self.begin_plan(field, lowered),
            Err(fault) => {
                let fault = GraphqlError { path: root_path(field), ..fault };
                Begun::Done(Outcome::fault(field, fault))
            }
        }
    }

    /// Executes a plan and writes its result.
    pub(super) fn answer(&self, field: &Field, lowered: Lowered<'_>) -> Outcome {
        let begun = self.begin_plan(field, lowered);
        self.finish(vec![begun]).pop().unwrap_or_default()
    }

    fn begin_plan<'f>(&self, field: &'f Field, lowered: Lowered<'f>) -> Begun<'f> {
        let context = self.run.context;
        if !self.gives_back || lowered.shape.has_remote_fields() {
            return self.begin_with(field, lowered, context);
        }
        let part = context.watched_part();
        let begun = self.begin_with(field, lowered, &part);
        if part.is_starved() {
            context.note_starved();
        }
        match begun {
            // The value stays until the request is answered.
            Begun::Done(outcome) => match context.reserve(outcome.retained_bytes()) {
                Ok(()) => Begun::Done(outcome),
                Err(error) => Begun::Done(Outcome::fault(field, store_fault(field, &error))),
            },
            begun => begun,
        }
    }

    fn begin_with<'f>(
        &self,
        field: &'f Field,
        mut lowered: Lowered<'f>,
        context: &RequestContext,
    ) -> Begun<'f> {
        match self.execute_with(&mut lowered, context) {
            Err(error) => Begun::Done(Outcome::fault(field, store_fault(field, &error))),
            Ok(answer) if lowered.shape.has_remote_fields() => {
                Begun::Stored(field, Box::new((lowered, answer)))
            }
            Ok(answer) => Begun::Done(self.written(field, &lowered, &answer, (None, context))),
        }
    }

    fn written(
        &self,
        field: &Field,
        lowered: &Lowered<'_>,
        answer: &Answer,
        (result, context): (Option<&RemoteResults>, &RequestContext),
    ) -> Outcome {
        let bytes_max = self.run.database.limits().result;
        let mut writer = ReplyWriter::new(answer.version(), context, bytes_max);
        if let Some(result) = result {
            writer = writer.with(&self.run.loaded.model, result);
        }
        match answer.check_extent().and_then(|()| writer.root(field, lowered, answer)) {
            Ok(written) => Outcome {
                // A null in a non-null position has propagated to the root, so all of `data` is
                // null.
                spoils: written.is_err(),
                value: std::mem::take(&mut writer.out),
                errors: writer.into_faults(),
                touched: answer.touched().values().sum(),
                ..Outcome::default()
            },
            Err(error) => Outcome::fault(field, store_fault(field, &error)),
        }
    }

    /// Carries the query of a plan out, and takes it out of the plan: a plan is executed once.
    ///
    /// # Errors
    ///
    /// Those of the store; `Limit` when the request has to stop.
    pub(super) fn execute(&self, lowered: &mut Lowered<'_>) -> Result<Answer> {
        self.execute_with(lowered, self.run.context)
    }

    fn execute_with(&self, lowered: &mut Lowered<'_>, context: &RequestContext) -> Result<Answer> {
        let password = lowered.password().map(str::to_owned);
        let compared = context.compared_passwords();
        let answer = self.execute_query(lowered, context)?;
        // Without a matching user the same hash is computed, so that the response time does not
        // reveal which users exist.
        if let Some(password) = password.filter(|_| compared == context.compared_passwords()) {
            context.verify(HASH_OF_NOBODY, &password)?;
        }
        Ok(answer)
    }

    fn execute_query(&self, lowered: &mut Lowered<'_>, context: &RequestContext) -> Result<Answer> {
        let query = Arc::new(std::mem::take(&mut lowered.query));
        let database = self.run.database;
        let (version, options) = (Arc::clone(&self.version), database.options(false));
        database.prepare(context);
        exec::execute(version, query, options, context)
    }

    /// Writes `_service`, by which the gateway of a federation requests the schema of this service.
    /// Apart from `sdl` the type has only `__typename`.
    fn service(&self, field: &Field) -> Outcome {
        let mut value = vec![b'{'];
        for (index, requested) in field.selection.only().unwrap_or(&[]).iter().enumerate() {
            if index > 0 {
                value.push(b',');
            }
            write_json_text(&requested.shape.key, &mut value);
            value.push(b':');
            let sdl = self.run.loaded.api.service_sdl.as_deref().unwrap_or_default();
            let text = if requested.shape.name == "sdl" { sdl } else { "_Service" };
            write_json_text(text, &mut value);
        }
        value.push(b'}');
        Outcome { value, ..Outcome::default() }
    }

    fn about_schema(&self, field: &Field) -> Outcome {
        let mut value = String::new();
        match introspect(&self.run.loaded.api, field, &mut value) {
            Ok(()) => Outcome { value: value.into_bytes(), ..Outcome::default() },
            Err(fault) => Outcome::fault(field, fault),
        }
    }
}
