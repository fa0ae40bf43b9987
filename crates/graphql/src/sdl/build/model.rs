//! Makes the model of the definitions that passed all checks.

use apollo_compiler::Node;
use apollo_compiler::ast::Value;

use crate::model::{
    Argument, Custom, CustomHttp, DefaultValue, EnumValue, Field, Generate, HttpMethod, Inverse,
    Key, Kind, LambdaOnMutate, Language, Mode, Model, Predicate, Secret, TypeDef, UniqueId,
};
use crate::sdl::check::search;
use crate::sdl::source::draft::{Draft, dgraph_type, is_key, predicate_text, secret_of};
use crate::sdl::source::raw::{RawDirective, RawField, RawKind, RawType, nodes};
use crate::sdl::source::value;
use crate::sdl::source::value::{bare, entry, go_bool, items};

/// The reason of `@deprecated` without one.
const NO_LONGER_SUPPORTED: &str = "No longer supported";

/// Makes the model, without the rules of `@auth` and the comment lines, which are read later.
/// O(fields).
pub(in crate::sdl) fn model(draft: &Draft<'_>) -> Model {
    let mut model = Model {
        text: draft.positions.text().to_owned(),
        directive_definitions: draft.schema.directives.clone(),
        federated: draft.federated,
        ..Model::default()
    };
    for def in draft.types() {
        // Scalars of the schema's own were refused.
        let Some(kind) = kind(def.kind) else { continue };
        if def.is_root() {
            let fields = def.fields.iter().map(|raw| field(draft, def, raw));
            let operations =
                if def.name == "Query" { &mut model.queries } else { &mut model.mutations };
            operations.extend(fields);
        } else {
            model.by_name.insert(def.name.clone(), model.types.len());
            model.types.push(type_def(draft, def, kind));
        }
    }
    list_implementors(&mut model);
    model
}

/// The kind of a type in the model; `None` for scalars, which the model does not have.
fn kind(kind: RawKind) -> Option<Kind> {
    Some(match kind {
        RawKind::Scalar => return None,
        RawKind::Object => Kind::Object,
        RawKind::Interface => Kind::Interface,
        RawKind::Union => Kind::Union,
        RawKind::Enum => Kind::Enum,
        RawKind::Input => Kind::Input,
    })
}

/// Lists, for each interface, the types that implement it.
fn list_implementors(model: &mut Model) {
    for index in 0..model.types.len() {
        let name = model.types[index].name.clone();
        for interface in model.types[index].interfaces.clone() {
            if let Some(&result) = model.by_name.get(&interface) {
                model.types[result].implementors.push(name.clone());
            }
        }
    }
}

fn type_def(draft: &Draft<'_>, def: &RawType, kind: Kind) -> TypeDef {
    let is_input = kind == Kind::Input;
    let fields = def.fields.iter().filter(|_| !is_input);
    let inputs = def.fields.iter().filter(|_| is_input);
    TypeDef {
        name: def.name.clone(),
        kind,
        description: def.description.clone(),
        directives: nodes(&def.directives),
        fields: fields.map(|raw| field(draft, def, raw)).collect(),
        input_fields: inputs.map(argument).collect(),
        interfaces: def.interfaces.clone(),
        implementors: Vec::new(),
        members: def.members.clone(),
        values: def.values.iter().map(|value| enum_value(value)).collect(),
        dgraph_type: dgraph_type(def),
        remote: def.has("remote"),
        secret: secret(draft, def),
        generate: generate(def),
        auth: Default::default(),
        lambda_on_mutate: lambda_on_mutate(def),
        key: def
            .directive("key")
            .and_then(|key| key.argument("fields"))
            .map(|field| Key { field: bare(field) }),
        extended: def.has("extends"),
    }
}

fn enum_value(value: &apollo_compiler::ast::EnumValueDefinition) -> EnumValue {
    let deprecated = value
        .directives
        .get("deprecated")
        .map(|directive| reason(directive.specified_argument_by_name("reason")));
    EnumValue {
        name: value.value.to_string(),
        description: value.description.as_ref().map(|text| text.to_string()).unwrap_or_default(),
        directives: value.directives.clone(),
        deprecated,
    }
}

fn reason(reason: Option<&Node<Value>>) -> String {
    reason.map_or_else(|| NO_LONGER_SUPPORTED.to_owned(), |reason| bare(reason))
}

fn argument(raw: &RawField) -> Argument {
    Argument {
        name: raw.name.clone(),
        description: raw.description.clone(),
        ty: raw.ty.clone(),
        default_value: raw.default_value.clone(),
        directives: nodes(&raw.directives),
    }
}

/// Reads `@secret`. The predicate belongs to the interface that declares the password, unless the
/// directive names one.
fn secret(draft: &Draft<'_>, def: &RawType) -> Option<Secret> {
    let (field, pred) = secret_of(def)?;
    // Types with a common interface have its password, and so the predicate.
    let owner = draft.password_interface(def, &field).unwrap_or(def);
    let predicate = pred.unwrap_or_else(|| format!("{}.{field}", dgraph_type(owner)));
    Some(Secret { predicate: without_brackets(&predicate).to_owned(), field })
}

/// Reads a truth value; `otherwise` where there is none.
fn truth(value: Option<&Node<Value>>, otherwise: bool) -> bool {
    value.and_then(|value| value.to_bool()).unwrap_or(otherwise)
}

/// Reads `@generate`. What it does not mention is generated, but for subscriptions.
fn generate(def: &RawType) -> Generate {
    let directive = def.directive("generate");
    let argument = |name| directive.and_then(|directive| directive.argument(name));
    let flag = |group, name| truth(argument(group).and_then(|value| entry(value, name)), true);
    Generate {
        get: flag("query", "get"),
        query: flag("query", "query"),
        password: flag("query", "password"),
        aggregate: flag("query", "aggregate"),
        add: flag("mutation", "add"),
        update: flag("mutation", "update"),
        delete: flag("mutation", "delete"),
        subscription: truth(argument("subscription"), false) || def.has("withSubscription"),
    }
}

fn lambda_on_mutate(def: &RawType) -> LambdaOnMutate {
    let directive = def.directive("lambdaOnMutate");
    let flag = |name| truth(directive.and_then(|directive| directive.argument(name)), false);
    LambdaOnMutate { add: flag("add"), update: flag("update"), delete: flag("delete") }
}

fn field(draft: &Draft<'_>, def: &RawType, raw: &RawField) -> Field {
    let default = |when| {
        let default = raw.directive("default").and_then(|default| default.argument(when));
        default.and_then(|default| entry(default, "value")).map(|value| default_value(value))
    };
    let names = |directive| {
        let fields =
            raw.directive(directive).and_then(|result: &RawDirective| result.argument("fields"));
        let names = fields.map(|names| bare(names)).unwrap_or_default();
        names.split_whitespace().map(str::to_owned).collect()
    };
    Field {
        name: raw.name.clone(),
        description: raw.description.clone(),
        ty: raw.ty.clone(),
        arguments: raw.arguments.iter().map(argument).collect(),
        directives: nodes(&raw.directives),
        inherited_from: raw.inherited_from.clone(),
        predicate: predicate(draft, def, raw),
        unique: raw
            .directive("id")
            .map(|id| UniqueId { interface: truth(id.argument("interface"), false) }),
        search: search::indexes(raw),
        inverse: raw
            .directive("hasInverse")
            .and_then(|inverse| inverse.argument("field"))
            .map(|field| Inverse { type_name: raw.ty.name().to_owned(), field: bare(field) }),
        default_add: default("add"),
        default_update: default("update"),
        embedding: raw.has("embedding"),
        deprecated: raw
            .directive("deprecated")
            .map(|deprecated| reason(deprecated.argument("reason"))),
        custom: raw.directive("custom").and_then(|directive| custom(draft, directive)),
        lambda: raw.has("lambda"),
        remote_name: raw
            .directive("remoteResponse")
            .and_then(|response| response.argument("name"))
            .map(|name| bare(name)),
        subscription: raw.has("withSubscription"),
        external: raw.has("external"),
        stored_elsewhere: draft.is_external(def, raw),
        requires: names("requires"),
        provides: names("provides"),
    }
}

fn default_value(value: &Value) -> DefaultValue {
    match bare(value) {
        now if now == "$now" => DefaultValue::Now,
        text => DefaultValue::Text(text),
    }
}

/// Returns the predicate of a field; `None` for a field that is not stored.
fn predicate(draft: &Draft<'_>, def: &RawType, raw: &RawField) -> Option<Predicate> {
    let is_stored = matches!(def.kind, RawKind::Object | RawKind::Interface)
        && !def.is_root()
        && !def.has("remote")
        && !raw.is_custom()
        && !draft.is_external(def, raw);
    // The ID of an entity that another service declares is a value as any other.
    let is_uid = raw.is_id() && !(raw.has("external") && is_key(def, raw));
    if !is_stored || is_uid {
        return None;
    }
    // The predicate of an inherited field is the interface's, so that it can be queried through it.
    let owner = draft.parent_interface(raw).unwrap_or(def);
    Some(read_predicate(&predicate_text(raw, &dgraph_type(owner))))
}

/// Reads a predicate as `@dgraph(pred:)` writes it: `<~name@en:fr>`.
pub(super) fn read_predicate(text: &str) -> Predicate {
    let text = without_brackets(text);
    let (text, reverse) = match text.strip_prefix('~') {
        Some(rest) => (without_brackets(rest), true),
        None => (text, false),
    };
    let (name, tags) = text.split_once('@').map_or((text, None), |(name, tags)| (name, Some(tags)));
    let language = match tags {
        None => Language::Untagged,
        Some(".") => Language::Any,
        Some(tags) if tags.contains(':') => {
            Language::Preferred(tags.split(':').map(str::to_owned).collect())
        }
        Some(tag) => Language::Tagged(tag.to_owned()),
    };
    Predicate { name: without_brackets(name).to_owned(), reverse, language }
}

/// Removes the angle brackets around a name.
fn without_brackets(name: &str) -> &str {
    name.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(name)
}

/// Reads `@custom`; `None` when a part is missing, which the checks refuse.
fn custom(draft: &Draft<'_>, directive: &RawDirective) -> Option<Custom> {
    if let Some(dql) = directive.argument("dql") {
        return Some(Custom::Dql(bare(dql)));
    }
    let http = directive.argument("http")?;
    let text = |name| entry(http, name).map(|value| bare(value));
    let headers = |name| {
        let list = entry(http, name).map_or(&[][..], |list| items(list));
        list.iter().map(|header| header_pair(&bare(header))).collect()
    };
    Some(Custom::Http(Box::new(CustomHttp {
        url: text("url")?,
        method: HttpMethod::from_name(&text("method")?)?,
        body: text("body"),
        graphql: text("graphql"),
        graphql_at: entry(http, "graphql")
            .and_then(|value| value::position(value, draft.positions)),
        mode: if text("mode").as_deref() == Some("BATCH") { Mode::Batch } else { Mode::Single },
        forward_headers: headers("forwardHeaders"),
        secret_headers: headers("secretHeaders"),
        introspection_headers: headers("introspectionHeaders"),
        skip_introspection: text("skipIntrospection")
            .is_some_and(|text| go_bool(&text) == Some(true)),
    })))
}

/// Reads a header as `Out:In`, or as one name for both.
fn header_pair(text: &str) -> (String, String) {
    let (out, inward) = text.split_once(':').unwrap_or((text, text));
    (out.to_owned(), inward.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_are_parsed() {
        let read = |text| {
            let predicate = read_predicate(text);
            (predicate.name, predicate.reverse, predicate.language)
        };
        assert_eq!(read("A.b"), ("A.b".into(), false, Language::Untagged));
        assert_eq!(read("~acts"), ("acts".into(), true, Language::Untagged));
        assert_eq!(read("<~acts>"), ("acts".into(), true, Language::Untagged));
        assert_eq!(read("~<acts>"), ("acts".into(), true, Language::Untagged));
        assert_eq!(read("<http://x/y>"), ("http://x/y".into(), false, Language::Untagged));
        assert_eq!(read("name@hi"), ("name".into(), false, Language::Tagged("hi".into())));
        assert_eq!(read("name@."), ("name".into(), false, Language::Any));
        let several = Language::Preferred(vec!["hi".into(), ".".into()]);
        assert_eq!(read("name@hi:."), ("name".into(), false, several));
    }
}
