//! Random schemas: the API that is made of each is a valid GraphQL schema, and all that it offers
//! can be asked for, with as little as it demands and with random arguments.

use super::family;
use super::run::{first_seed, seconds};
use super::words::{chance, one_of};
use apollo_compiler::ast::{Definition, Document, InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Node, Schema};
use fastrand::Rng;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, RequestContext};
use serde_json::Value as Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What the family of the twin has not.
const MORE: [&str; 8] = [
    "type Secret @secret(field: \"pwd\") { name: String! @id count: Int } ",
    "type Watched @withSubscription { id: ID! of: [Watched] @hasInverse(field: by) by: Watched } ",
    "type Few @generate(query: {get: false, aggregate: false}, mutation: {delete: false, update: false}) { id: ID! n: Int } ",
    "type Area { id: ID! of: Polygon @search more: MultiPolygon @search at: Point @search } ",
    "type Vector { id: ID! name: String! @id v: [Float!] @embedding @search(by: [\"hnsw(metric: euclidean)\"]) } ",
    "type Timed { a: DateTime! @default(add: {value: \"$now\"}, update: {value: \"$now\"}) } interface Bare { z: Int } type Clad implements Bare { link: Bare } ",
    "type Tongue { en: String @dgraph(pred: \"tongue@en\") any: String @dgraph(pred: \"tongue@.\") best: String @dgraph(pred: \"tongue@hi:en\") } ",
    "type Only { code: String! @id } type Points { to: [Only!]! self: Points } union Both = Only | Points type Holder { both: [Both] one: Both! } ",
];

/// The longest that one request may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A random schema as text.
pub fn text(rng: &mut Rng) -> String {
    let mut text = family::schema(rng).text();
    for more in MORE {
        if chance(rng, 25) {
            text += more;
            text.push('\n');
        }
    }
    text
}

/// The API of a schema, held against the rules of GraphQL. Directives of
/// the schema language are left out: it does not say where each may stand.
pub fn checked_api(generated: &str) -> Result<Valid<Schema>, String> {
    let document = Document::parse(generated, "generated.graphql");
    let mut document = document.map_err(|fault| fault.errors.to_string())?;
    for definition in &mut document.definitions {
        match definition {
            Definition::ObjectTypeDefinition(ty) => {
                let ty = ty.make_mut();
                ty.directives.clear();
                ty.fields.iter_mut().for_each(|field| field.make_mut().directives.clear());
            }
            Definition::InterfaceTypeDefinition(ty) => {
                let ty = ty.make_mut();
                ty.directives.clear();
                ty.fields.iter_mut().for_each(|field| field.make_mut().directives.clear());
            }
            Definition::EnumTypeDefinition(ty) => {
                let ty = ty.make_mut();
                ty.directives.clear();
                ty.values.iter_mut().for_each(|value| value.make_mut().directives.clear());
            }
            Definition::UnionTypeDefinition(ty) => ty.make_mut().directives.clear(),
            _ => {}
        }
    }
    let text = document.to_string();
    Schema::parse_and_validate(&text, "generated.graphql").map_err(|fault| fault.errors.to_string())
}

/// Asks; an answer that tells of a fault of ours is an error.
pub fn ask(db: &Database, text: &str) -> Result<Json, String> {
    let started = Instant::now();
    let control = RequestContext::new().with_timeout(2 * PATIENCE);
    let answer = catch_unwind(AssertUnwindSafe(|| {
        db.graphql_with(&Request::new(text), &Headers::new(), &control).to_json("")
    }));
    let answer = answer.map_err(|_| format!("{text}\npanics"))?;
    if PATIENCE < started.elapsed() {
        return Err(format!("{text}\ntakes too long"));
    }
    let result: Json = serde_json::from_slice(&answer)
        .map_err(|error| format!("{text}\nis answered with no JSON: {error}"))?;
    for fault in result["errors"].as_array().into_iter().flatten() {
        let message = fault["message"].as_str().unwrap_or_default().to_lowercase();
        let words =
            ["internal", "panic", "not supported yet", "unreachable", "no schema and no node"];
        if words.iter().any(|word| message.contains(word)) {
            return Err(format!("{text}\nis answered {result}"));
        }
    }
    Ok(result)
}

/// Makes requests of what an API offers.
pub struct Caller<'a> {
    pub rng: &'a mut Rng,
    pub api: &'a Schema,
    /// Whether only what is demanded is given.
    pub is_minimal: bool,
}

impl Caller<'_> {
    /// A request of one root field.
    pub fn request(&mut self, is_mutation: bool, name: &str) -> String {
        let api = self.api;
        let root = if is_mutation { "Mutation" } else { "Query" };
        let field = &api.get_object(root).expect("it is there").fields[name];
        let word = if is_mutation { "mutation" } else { "query" };
        let arguments = self.arguments(&field.arguments);
        let below = self.selection(field.ty.inner_named_type(), 3);
        format!("{word} {{ {name}{arguments}{below} }}")
    }

    fn arguments(&mut self, all: &[Node<InputValueDefinition>]) -> String {
        let mut parts = Vec::new();
        for argument in all {
            if self.gives(argument) {
                parts.push(format!("{}: {}", argument.name, self.value(&argument.ty, 3)));
            }
        }
        if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
    }

    fn gives(&mut self, input: &InputValueDefinition) -> bool {
        input.is_required() || !self.is_minimal && chance(self.rng, 40)
    }

    fn value(&mut self, ty: &Type, depth: usize) -> String {
        if !ty.is_non_null() && (depth == 0 || chance(self.rng, 10)) {
            return "null".to_owned();
        }
        if ty.is_list() {
            let count = if depth == 0 { 0 } else { self.rng.usize(..3) };
            let items: Vec<String> =
                (0..count).map(|_| self.value(ty.item_type(), depth - 1)).collect();
            return format!("[{}]", items.join(", "));
        }
        let name = ty.inner_named_type();
        match &self.api.types[name] {
            ExtendedType::Enum(values) => {
                let values: Vec<_> = values.values.keys().collect();
                one_of(self.rng, &values).to_string()
            }
            ExtendedType::InputObject(input) => {
                let mut parts = Vec::new();
                for field in input.fields.values() {
                    let is_expected = field.is_required() || depth > 0 && self.gives(field);
                    if is_expected && parts.len() < 4 || field.is_required() {
                        let value = self.value(&field.ty, depth.saturating_sub(1));
                        parts.push(format!("{}: {value}", field.name));
                    }
                }
                // Functions of a filter come alone, and so do the members of a union.
                if name.ends_with("Filter")
                    && name.starts_with(|c: char| c.is_uppercase())
                    && chance(self.rng, 70)
                {
                    parts.truncate(1);
                }
                format!("{{{}}}", parts.join(", "))
            }
            _ => self.scalar(name),
        }
    }

    fn scalar(&mut self, name: &str) -> String {
        let all: &[&str] = match name {
            "Int" => &["0", "1", "-1", "2147483647", "3"],
            "Int64" => &["0", "9223372036854775807", "-9223372036854775808", "5"],
            "Float" => &["0", "1.5", "-1e300", "1e-300"],
            "Boolean" => &["true", "false"],
            "ID" => {
                &["\"0x1\"", "\"0x10002\"", "\"nonsense\"", "7", "\"\"", "\"0xffffffffffffffff\""]
            }
            "DateTime" => {
                &["\"2020\"", "\"2020-02-03T04:05:06.789+02:00\"", "\"nonsense\"", "\"\""]
            }
            _ => &[
                "\"a\"",
                "\"\"",
                "\"/a.c/\"",
                "\"/(/\"",
                "\"é \\\"q\\\" \\u0000\"",
                "\"two words\"",
                "\"abcdefg\"",
            ],
        };
        (*one_of(self.rng, all)).to_owned()
    }

    fn selection(&mut self, name: &str, depth: usize) -> String {
        let api = self.api;
        let fields = match &api.types[name] {
            ExtendedType::Object(ty) => &ty.fields,
            ExtendedType::Interface(ty) => &ty.fields,
            ExtendedType::Union(_) => return " { __typename }".to_owned(),
            _ => return String::new(),
        };
        let mut parts = vec!["__typename".to_owned()];
        for field in fields.values() {
            let percent = if self.is_minimal { 10 } else { 40 };
            if depth == 0 && !field.ty.inner_named_type().is_built_in_scalar()
                || !chance(self.rng, percent)
            {
                continue;
            }
            let arguments = self.arguments(&field.arguments);
            let below = self.selection(field.ty.inner_named_type(), depth.saturating_sub(1));
            parts.push(format!("{}{arguments}{below}", field.name));
        }
        format!(" {{ {} }}", parts.join(" "))
    }
}

trait Scalars {
    fn is_built_in_scalar(&self) -> bool;
}

impl Scalars for apollo_compiler::Name {
    fn is_built_in_scalar(&self) -> bool {
        ["Int", "Int64", "Float", "Boolean", "ID", "DateTime", "String"].contains(&self.as_str())
    }
}

/// Each root field of an API, and whether it is a mutation.
pub fn roots(api: &Schema) -> Vec<(bool, String)> {
    let of = |name: &str, is_mutation| {
        let ty = api.get_object(name);
        let fields = ty.into_iter().flat_map(|ty| ty.fields.keys());
        fields.map(move |field| (is_mutation, field.to_string())).collect::<Vec<_>>()
    };
    let mut all = of("Mutation", true);
    all.extend(of("Query", false));
    all.retain(|(_, name)| !name.starts_with("__"));
    all
}

fn check(seed: u64) -> Result<(), String> {
    let mut rng = Rng::with_seed(seed);
    let text = text(&mut rng);
    let db = Database::in_memory();
    let made = catch_unwind(AssertUnwindSafe(|| db.set_graphql_schema(&text)));
    let made = made.map_err(|_| format!("{text}\npanics"))?;
    let made = made.map_err(|error| format!("{text}\nis refused: {error}"))?;
    let api = checked_api(&made.generated).map_err(|reported| format!("{text}\n{reported}"))?;
    for round in 0..4 {
        for (is_mutation, name) in roots(&api) {
            let mut caller = Caller { rng: &mut rng, api: &api, is_minimal: round == 0 };
            let request = caller.request(is_mutation, &name);
            let result = ask(&db, &request).map_err(|reported| format!("{text}\n{reported}"))?;
            // What is valid is executed, if only to be refused then.
            let is_odd = result.get("data").is_none() && round == 0;
            if is_odd && !is_expected(&result) {
                return Err(format!("{text}\n{request}\nis not carried out: {result}"));
            }
        }
    }
    Ok(())
}

/// Filters have one function each, which their types do not say.
fn is_expected(result: &Json) -> bool {
    result["errors"].as_array().is_some_and(|errors| {
        errors.iter().all(|error| error["message"].to_string().contains("only one filter function"))
    })
}

#[test]
fn all_that_is_offered_can_be_asked_for() {
    let (first, length) = (first_seed(), seconds(3));
    let started = Instant::now();
    let mut seed = first;
    while started.elapsed() < length {
        if let Err(reported) = check(seed) {
            panic!("seed {seed}\n{reported}");
        }
        seed += 1;
    }
    println!("{} schemas", seed - first);
}
