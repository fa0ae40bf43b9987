//! Checks `@custom` and `@lambda` as far as the schema alone permits. The servers are called later.

use std::collections::HashSet;

use apollo_compiler::Node;
use apollo_compiler::ast::Value;

use super::custom_subject::CheckedCustom;
use super::graphql_operation;
use super::template;
use super::url;
use crate::sdl::build::builtin;
use crate::sdl::check::subject::Subject;
use crate::sdl::source::raw::RawDirective;
use crate::sdl::source::value::{bare, entry, go_bool, items};
use crate::syntax::GraphqlError;

/// The parts of `http: {...}` that are checked together.
struct Http<'a> {
    url: &'a Node<Value>,
    method: Option<String>,
    body: Option<&'a Node<Value>>,
    graphql: Option<&'a Node<Value>>,
    has_url_variables: bool,
}

/// Checks `@lambda`, which needs a lambda server.
pub(in crate::sdl) fn check_lambda(
    subject: &Subject<'_>,
    directive: &RawDirective,
    faults: &mut Vec<GraphqlError>,
) {
    if subject.draft.settings.lambda_url.is_none() {
        let what = "has the @lambda directive, but the --graphql \"lambda-url=...;\" flag wasn't \
                    specified during alpha startup.";
        faults.push(subject.fault_at(directive, what));
        return;
    }
    // The faults get a beginning of their own, so they are collected apart.
    let mut result = Vec::new();
    let mut custom =
        CheckedCustom { subject: *subject, directive, batch: false, faults: &mut result };
    custom.company();
    if !subject.def.is_root() {
        custom.not_key();
        let unique = [subject.def.id_field(), subject.def.unique_field()];
        if unique.iter().flatten().all(|field| !builtin::is_scalar(field.ty.name())) {
            let what = "@custom directive, body template must use a field with type ID! or a field \
                        with @id directive.";
            custom.fault(directive.position, ':', what);
        }
    }
    faults.extend(result.into_iter().map(|fault| GraphqlError {
        message: format!("While building @custom for @lambda: {}", fault.message),
        ..fault
    }));
}

/// Checks `@custom`.
pub(in crate::sdl) fn check(
    subject: &Subject<'_>,
    directive: &RawDirective,
    faults: &mut Vec<GraphqlError>,
) {
    let mut custom = CheckedCustom { subject: *subject, directive, batch: false, faults };
    custom.company();
    // The checks go on: they report errors of the argument that is there.
    let count = directive.node.arguments.len();
    if count != 1 {
        let what = format!(
            "has {count} arguments for @custom directive, it should contain exactly one of `http` \
             or `dql` arguments."
        );
        custom.fault(directive.position, ':', what);
    }
    if let Some(dql) = directive.argument("dql") {
        custom.dql(dql);
    } else if let Some(http) = directive.argument("http") {
        custom.http(http);
    } else {
        let what = "one of `http` or `dql` arguments must be present for @custom directive.";
        custom.fault(directive.position, ':', what);
    }
}

impl<'a> CheckedCustom<'a> {
    /// Checks the other directives of the field, and that its type has a key.
    fn company(&mut self) {
        let (position, field, def) =
            (self.directive.position, self.subject.field, self.subject.def);
        // Both say how a value is stored, and a custom field stores none.
        for other in ["search", "dgraph"] {
            if field.has(other) {
                let what = format!("custom directive not allowed along with @{other} directive.");
                self.fault(position, ';', what);
            }
        }
        if !def.is_root() && def.id_field().is_none() && def.unique_field().is_none() {
            let what = "@custom directive is only allowed on fields where the type definition has \
                        a field with type ID! or a field with @id directive.";
            self.fault(position, ';', what);
        }
    }

    /// Checks `dql:`.
    fn dql(&mut self, dql: &Node<Value>) {
        let subject = self.subject;
        let position = subject.draft.argument_position(self.directive, "dql");
        if subject.def.name != "Query" {
            let what = "@custom directive with `dql` can be used only on queries.";
            self.fault(position, ':', what);
        }
        if !matches!(**dql, Value::String(_)) {
            let what = "dql argument for @custom directive must be of type String.";
            self.fault(position, ':', what);
        }
        if bare(dql).trim().is_empty() {
            let what = "dql argument for @custom directive must not be empty.";
            self.fault(position, ':', what);
        }
        // Arguments become variables of DQL, which are scalars.
        for argument in &subject.field.arguments {
            if argument.ty.is_list() || !builtin::is_scalar(argument.ty.name()) {
                let what = format!(
                    "Argument {}: must be of a scalar type. @custom DQL queries accept only scalar \
                     arguments.",
                    argument.name
                );
                self.fault(position, ':', what);
            }
        }
    }

    /// Checks `http:`.
    fn http(&mut self, http: &Node<Value>) {
        let position = self.directive.position;
        if !matches!(**http, Value::Object(_)) {
            let what = "http argument for @custom directive should be of type Object.";
            self.fault(self.subject.draft.argument_position(self.directive, "http"), ':', what);
        }
        let Some(url) = entry(http, "url") else {
            self.fault(position, ';', "url field inside @custom directive is mandatory.");
            return;
        };
        // Without an address the other parts can't be checked.
        let Some(variables) = url::read(&bare(url)) else {
            let what = match url::fills_host(&bare(url)) {
                true => {
                    "url field inside @custom directive has a variable as its host; write the host out, and \
                     variables as segments of the path or values of the query."
                }
                false => "url field inside @custom directive is invalid.",
            };
            self.fault(self.position(url), ';', what);
            return;
        };
        self.url_variables(url, "path", &variables.path);
        self.url_variables(url, "query", &variables.query);
        let http_parts = Http {
            url,
            method: entry(http, "method").map(|method| bare(method)),
            body: entry(http, "body"),
            graphql: entry(http, "graphql"),
            has_url_variables: !variables.path.is_empty() || !variables.query.is_empty(),
        };
        self.method(entry(http, "method"));
        self.mode(entry(http, "mode"), &http_parts);
        self.combination(&http_parts);
        if self.templates(&http_parts).is_some() {
            self.headers(http, &http_parts);
        }
    }

    /// Checks the variables of the address: of a root field they are arguments, else sibling
    /// fields.
    fn url_variables(&mut self, url: &Node<Value>, part: &str, names: &[String]) {
        let subject = self.subject;
        let position = self.position(url);
        let (list, kind) = if subject.def.is_root() {
            (&subject.field.arguments, "an argument")
        } else {
            (&subject.def.fields, "a field")
        };
        for name in names {
            let what = match list.iter().find(|candidate| candidate.name == *name) {
                None => "is not defined",
                // An absent segment would make another path; an absent pair of the query is left
                // out.
                Some(result) if part == "path" && !result.ty.is_non_null() => "can be null",
                Some(_) => continue,
            };
            let what =
                format!("url {part} inside @custom directive uses {kind} {name} that {what}.");
            self.fault(position, ';', what);
        }
    }

    /// Checks the method.
    fn method(&mut self, method: Option<&Node<Value>>) {
        let Some(method) = method else {
            let what = "method field inside @custom directive is mandatory.";
            self.fault(self.directive.position, ';', what);
            return;
        };
        if !matches!(bare(method).as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE") {
            let what =
                "method field inside @custom directive can only be GET/POST/PUT/PATCH/DELETE.";
            self.fault(self.position(method), ';', what);
        }
    }

    /// Checks the mode, and notes whether it is `BATCH`.
    fn mode(&mut self, mode: Option<&Node<Value>>, http: &Http<'_>) {
        let Some(mode) = mode else { return };
        let position = self.position(mode);
        if self.subject.def.is_root() {
            let what = "mode field inside @custom directive can't be present on Query/Mutation.";
            self.fault(position, ';', what);
        }
        let name = bare(mode);
        if name != "SINGLE" && name != "BATCH" {
            let what = "mode field inside @custom directive can only be SINGLE/BATCH.";
            self.fault(position, ';', what);
        }
        // One request for all objects has one address.
        self.batch = name == "BATCH";
        if self.batch && http.has_url_variables {
            let what = "has parameters in url inside @custom directive while mode is BATCH, url \
                        can't contain parameters if mode is BATCH.";
            self.fault(self.position(http.url), ';', what);
        }
    }

    /// Checks what is next to `graphql`.
    fn combination(&mut self, http: &Http<'_>) {
        if http.graphql.is_none() {
            return;
        }
        let position = self.directive.position;
        if http.has_url_variables {
            let what = "has parameters in url along with graphql field inside @custom directive, \
                        url can't contain parameters if graphql field is present.";
            self.fault(position, ';', what);
        }
        if let Some(method) = http.method.as_deref().filter(|method| *method != "POST") {
            let what = format!(
                "has method {method} while graphql field is also present inside @custom directive, \
                 method can only be POST if graphql field is present."
            );
            self.fault(position, ';', what);
        }
        let what = match (self.batch, http.body) {
            (false, Some(_)) => {
                "has both body and graphql field inside @custom directive, they can't be present \
                 together."
            }
            (true, None) => {
                "both body and graphql field inside @custom directive are required if mode is BATCH."
            }
            _ => return,
        };
        self.fault(position, ';', what);
    }

    /// Checks the body and `graphql`. Returns `None` when `graphql` is so wrong that the rest can't
    /// be checked.
    fn templates(&mut self, http: &Http<'_>) -> Option<()> {
        let mut required = Vec::new();
        if let Some(body) = http.body {
            match template::variables(&bare(body), http.graphql.is_none()) {
                Ok(variables) => required = variables,
                Err(why) => {
                    let what = format!(
                        "body template inside @custom directive could not be parsed: {why}"
                    );
                    self.fault(self.position(body), ';', what);
                }
            }
            if self.subject.def.is_root() {
                self.body_arguments(body, &required);
            }
        }
        if let Some(graphql) = http.graphql {
            let position = self.position(graphql);
            let variables = graphql_operation::check(self, &bare(graphql), position)?;
            // In a batch the body makes the objects, so its variables are the ones that fields must
            // have.
            if !self.batch && !self.subject.def.is_root() && !variables.is_empty() {
                required = variables;
            }
        }
        if !self.subject.def.is_root() {
            self.not_key();
            match (http.body, http.graphql) {
                (Some(body), _) => self.required_fields(&required, "body template", body),
                (None, Some(graphql)) => self.required_fields(&required, "graphql", graphql),
                (None, None) => {}
            }
        }
        Some(())
    }

    /// Checks that the variables of a root field's body are its arguments.
    fn body_arguments(&mut self, body: &Node<Value>, required: &[String]) {
        let arguments: HashSet<&str> =
            self.subject.field.arguments.iter().map(|argument| argument.name.as_str()).collect();
        for name in required.iter().filter(|name| !arguments.contains(name.as_str())) {
            let what = format!(
                "body template inside @custom directive uses an argument {name} that is not defined."
            );
            self.fault(self.position(body), ';', what);
        }
    }

    /// Refuses a custom field that is the key of its type.
    fn not_key(&mut self) {
        let (def, name) = (self.subject.def, &self.subject.field.name);
        let keys = [def.id_field(), def.unique_field()];
        if keys.into_iter().flatten().any(|key| key.name == *name) {
            let what = "custom directive not allowed on field of type ID! or field with @id \
                        directive.";
            self.fault(self.directive.position, ';', what);
        }
    }

    /// Checks that the variables of a field's template are scalar sibling fields, one of them a key
    /// for the look-up of the object.
    fn required_fields(&mut self, required: &[String], part: &str, at: &Node<Value>) {
        let (def, own) = (self.subject.def, &self.subject.field.name);
        let position = self.position(at);
        let keys = [def.id_field(), def.unique_field()];
        let mut has_key = false;
        for name in required {
            if name == own {
                self.fault(
                    position,
                    ';',
                    format!("@custom directive, {part} can't require itself."),
                );
            }
            let Some(field) = def.field(name) else {
                let what = format!(
                    "@custom directive, {part} must use fields defined within the type, found \
                     `{name}`."
                );
                self.fault(position, ';', what);
                continue;
            };
            let ty = field.ty.name();
            if !builtin::is_scalar(ty) {
                let what = format!(
                    "@custom directive, {part} must use scalar fields, found field `{name}` of \
                     type `{ty}`."
                );
                self.fault(position, ';', what);
            }
            if field.is_custom() {
                let what = format!(
                    "@custom directive, {part} can't use another field with @custom/@lambda \
                     directive, found field `{name}` with @custom/@lambda."
                );
                self.fault(position, ';', what);
            }
            has_key |= keys.into_iter().flatten().any(|key| key.name == *name);
        }
        if !has_key {
            let what = format!(
                "@custom directive, {part} must use a field with type ID! or a field with @id \
                 directive."
            );
            self.fault(position, ':', what);
        }
    }

    /// Checks `skipIntrospection` and the lists of headers.
    fn headers(&mut self, http: &Node<Value>, parts: &Http<'_>) {
        // Faults of headers point at the body or the operation; a request without either is not
        // checked for them.
        let Some(at) = parts.body.or(parts.graphql) else { return };
        let position = self.position(at);
        if let Some(skip) = entry(http, "skipIntrospection")
            && go_bool(&bare(skip)).is_none()
        {
            let what = format!(
                "skipIntrospection in @custom directive can only be true/false, found: `{}`.",
                bare(skip)
            );
            self.fault(position, ';', what);
        }
        let mut forwarded = HashSet::new();
        for list in ["forwardHeaders", "secretHeaders", "introspectionHeaders"] {
            for header in entry(http, list).map_or(&[][..], |headers| items(headers)) {
                let header = bare(header);
                let name = header.split(':').next().unwrap_or_default().to_owned();
                if 2 < header.split(':').count() {
                    let what = format!(
                        "{list} in @custom directive should be of the form \
                         'remote_headername:local_headername' or just 'headername', found: \
                         `{header}`."
                    );
                    return self.fault(position, ';', what);
                }
                if list == "secretHeaders" && forwarded.contains(&name) {
                    let what = format!(
                        "secretHeaders and forwardHeaders in @custom directive cannot have \
                         overlapping headers, found: `{header}`."
                    );
                    return self.fault(position, ';', what);
                }
                if list == "forwardHeaders" {
                    forwarded.insert(name);
                }
            }
        }
    }
}
