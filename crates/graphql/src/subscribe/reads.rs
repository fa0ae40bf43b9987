//! Finds the predicates that an answer is made of.
//!
//! The operation is walked next to the model: a selected field, a key of a filter, a value of an
//! order, and an argument that names a node are all names of fields, and fields have predicates. In
//! the text of a rule of `@auth` every word is read as the name of a field, of whatever type. So
//! the result may have too many predicates, which costs a query that finds nothing new, and never
//! too few.

use crate::generate::RootKind;
use crate::model::{Custom, Model, Rule, TypeDef};
use crate::request::{Field, Operation, Value};
use hexgraph_base::types::stack;
use std::collections::BTreeSet;

/// The suffixes of a field's name in the result of an aggregate, such as `ageMin`.
const AGGREGATES: [&str; 4] = ["Min", "Max", "Sum", "Avg"];

/// The predicates whose change may change the answer to an operation, in the order of their names;
/// `None` when any predicate's may, as with a query in DQL. Costs a pass over the operation and
/// over the rules of its types.
pub fn predicates(model: &Model, operation: &Operation) -> Option<Vec<String>> {
    let mut reads = Reads { model, result: BTreeSet::new(), ruled: BTreeSet::new(), any: false };
    for field in operation.fields.iter() {
        reads.root(field);
    }
    if reads.any {
        return None;
    }
    let mut result: BTreeSet<String> = reads.result.into_iter().map(str::to_owned).collect();
    // A node is among the answers by its type.
    result.insert("dgraph.type".to_owned());
    Some(result.into_iter().collect())
}

/// Returns the name of the first field below the root fields whose value another server gives.
/// Changes of such a value are not announced, so the operation can't be subscribed to.
pub fn nested_custom_field(model: &Model, operation: &Operation) -> Option<String> {
    operation.fields.iter().find_map(|field| custom_below(model, field))
}

/// Returns the name of the first field below `field`, depth first, whose value another server
/// gives.
pub fn custom_below(model: &Model, field: &Field) -> Option<String> {
    stack::require();
    field.selection.branches.iter().find_map(|branch| {
        let types: Vec<_> = branch.types.iter().filter_map(|name| model.get(name)).collect();
        branch.fields.iter().find_map(|inner| {
            let name = inner.shape.name.as_str();
            let mut declared = types.iter().filter_map(|def| def.field(name));
            let is_custom = declared.any(|field| field.is_custom());
            if is_custom { Some(name.to_owned()) } else { custom_below(model, inner) }
        })
    })
}

/// The walk over an operation.
struct Reads<'a> {
    model: &'a Model,
    /// The predicates so far.
    result: BTreeSet<&'a str>,
    /// The types whose rules were looked at: rules may lead from type to type in circles.
    ruled: BTreeSet<&'a str>,
    /// True if any predicate may matter.
    any: bool,
}

impl<'a> Reads<'a> {
    /// Notes what a root field reads.
    fn root(&mut self, field: &Field) {
        let Some(root) = &field.shape.root else { return };
        match root.kind {
            RootKind::Get | RootKind::Query | RootKind::Aggregate => {
                let types = self.types_of(&root.type_name);
                self.below(field, &types);
            }
            // A query in DQL may read anything.
            _ => self.any = true,
        }
    }

    /// Notes what a field of one of `parents` reads.
    fn field(&mut self, field: &Field, parents: &[&'a TypeDef]) {
        let name = field.shape.name.as_str();
        let aggregated = name.strip_suffix("Aggregate").unwrap_or(name);
        self.any |= parents
            .iter()
            .filter_map(|def| def.field(name))
            .any(|field| matches!(field.custom, Some(Custom::Dql(_))));
        // The name of a field may end with `Aggregate` itself, so both readings are noted.
        self.word(name, parents);
        self.word(aggregated, parents);
        if field.selection.is_empty() {
            return;
        }
        let targets =
            parents.iter().filter_map(|def| def.field(name).or_else(|| def.field(aggregated)));
        let names: BTreeSet<&str> = targets.map(|field| field.ty.name()).collect();
        let types: Vec<&TypeDef> = names.iter().flat_map(|name| self.types_of(name)).collect();
        self.below(field, &types);
    }

    /// Records what a request reads of nodes of `types`: rules, arguments, and the fields that are
    /// selected.
    fn below(&mut self, field: &Field, types: &[&'a TypeDef]) {
        stack::require();
        for def in types {
            self.rules(def);
        }
        for (name, value) in field.arguments.iter() {
            self.word(name, types);
            self.value(value, types);
        }
        for branch in &field.selection.branches {
            for inner in branch.fields.iter() {
                self.field(inner, types);
            }
        }
    }

    /// Notes the fields that the value of an argument names, which may be a filter or an order.
    fn value(&mut self, value: &Value, types: &[&'a TypeDef]) {
        stack::require();
        match value {
            Value::Enum(name) => {
                self.word(name, types);
                self.has(name, types);
            }
            Value::List(values) => values.iter().for_each(|value| self.value(value, types)),
            Value::Object(members) => {
                for (name, value) in members {
                    self.word(name, types);
                    self.value(value, types);
                }
            }
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Boolean(_) => {}
            // Texts are compared with values; they never name a field.
            Value::String(_) => {}
        }
    }

    /// Notes the predicate of a field of one of the types, where the word names one, bare or with
    /// the suffix of an aggregate.
    fn word(&mut self, word: &str, types: &[&'a TypeDef]) {
        let bare = AGGREGATES.iter().find_map(|suffix| word.strip_suffix(suffix));
        for def in types {
            let fields = [Some(word), bare].into_iter().flatten();
            let fields = fields.filter_map(|name| def.field(name));
            self.result
                .extend(fields.filter_map(|field| Some(field.predicate.as_ref()?.name.as_str())));
        }
    }

    /// Notes the rules of the nodes that a field points to: whether the field has something depends
    /// on what they hide.
    fn has(&mut self, name: &str, types: &[&'a TypeDef]) {
        for field in types.iter().filter_map(|def| def.field(name)) {
            for target in self.types_of(field.ty.name()) {
                self.rules(target);
            }
        }
    }

    /// Notes what the rule for queries of a type reads, once for each type.
    fn rules(&mut self, def: &'a TypeDef) {
        if let Some(rule) = &def.auth.query
            && self.ruled.insert(&def.name)
        {
            self.rule(rule);
        }
    }

    /// Notes what a rule reads.
    fn rule(&mut self, rule: &'a Rule) {
        stack::require();
        match rule {
            Rule::And(rules) | Rule::Or(rules) => rules.iter().for_each(|rule| self.rule(rule)),
            Rule::Not(rule) => self.rule(rule),
            Rule::Claim { .. } => {}
            Rule::Traversal { text, .. } => {
                // The text is not resolved here: a word too many costs less than resolving it.
                let types: Vec<&TypeDef> = self.model.types.iter().collect();
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                for word in words.collect::<BTreeSet<_>>() {
                    self.word(word, &types);
                    self.word(word.strip_suffix("Aggregate").unwrap_or(word), &types);
                }
            }
        }
    }

    /// Returns a type and the object types whose nodes it may represent.
    fn types_of(&self, name: &str) -> Vec<&'a TypeDef> {
        let Some(def) = self.model.get(name) else { return Vec::new() };
        let concrete = def.implementors.iter().chain(&def.members);
        let concrete = concrete.filter_map(|name| self.model.get(name));
        std::iter::once(def).chain(concrete).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Api;
    use crate::request::{Request, RequestLimits};
    use crate::sdl::{Settings, read};
    use serde_json::Map;

    const SCHEMA: &str = r#"
        interface Being @withSubscription { id: ID! name: String! @search(by: [hash]) @dgraph(pred: "being.name") }
        type Person implements Being @withSubscription @auth(query: { rule: """
            query($U: String!) { queryPerson { pets(filter: { owner: { eq: $U } }) { name } } } """ }) {
            age: Int @search
            pets: [Pet] @hasInverse(field: keeper)
            city: String @search
            loves: Thing
        }
        type Pet @withSubscription { name: String owner: String @search(by: [hash]) keeper: Person weight: Float }
        type Stone { mass: Float size: Int @search }
        union Thing = Pet | Stone
        type Named { name: String }
        type Query { named: [Named] @withSubscription @custom(dql: "query { named(func: has(x)) { name: x } }") }
    "#;

    fn of(text: &str) -> Option<Vec<String>> {
        let model = read(SCHEMA, &Settings::default()).unwrap();
        let api = Api::new(&model).unwrap();
        let limits = RequestLimits { depth: 50, tokens: 10_000, fields: 10_000 };
        let request = Request::parse(&api, text, &limits).unwrap();
        predicates(&model, &request.resolve(&api, None, &Map::new()).unwrap())
    }

    fn shown(text: &str) -> String {
        of(text).unwrap().join(" ")
    }

    #[test]
    fn fields_arguments_and_aggregates_are_read() {
        assert_eq!(shown("subscription { queryPet { name } }"), "Pet.name dgraph.type");
        let text = "subscription { aggregatePet(filter: {or: [{owner: {eq: \"a\"}}]}) { count weightMax } }";
        assert_eq!(shown(text), "Pet.owner Pet.weight dgraph.type");
        let text = "subscription { queryPet(order: {asc: owner}, first: 3) { __typename } }";
        assert_eq!(shown(text), "Pet.owner dgraph.type");
        let text = "subscription { queryPet(filter: {has: [weight]}) { name } }";
        assert_eq!(shown(text), "Pet.name Pet.weight dgraph.type");
    }

    #[test]
    fn rules_are_read_with_their_types() {
        let ruled = "Person.pets Pet.name Pet.owner";
        let text = "subscription { queryPerson { age } }";
        assert_eq!(shown(text), format!("Named.name Person.age {ruled} being.name dgraph.type"));
        let text = "subscription { queryPerson { petsAggregate { weightMin } } }";
        assert!(shown(text).contains("Pet.weight"));
        let text = "subscription { queryBeing { name ... on Person { age } } }";
        assert!(shown(text).contains(ruled));
        let text = "subscription { queryPet { keeper { city } } }";
        assert!(shown(text).contains("Person.city Person.pets"));
    }

    #[test]
    fn what_has_something_depends_on_what_may_be_seen() {
        let text = "subscription { queryPet(filter: {has: [keeper]}) { name } }";
        assert!(shown(text).contains("Person.pets Pet.keeper"), "{}", shown(text));
    }

    #[test]
    fn members_of_unions_are_read() {
        let text = "subscription { queryPerson { loves(filter: {stoneFilter: {size: {gt: 3}}}) { ... on Stone { mass } } } }";
        let read = shown(text);
        assert!(read.contains("Person.loves") && read.contains("Stone.mass Stone.size"), "{read}");
    }

    #[test]
    fn a_query_in_dql_may_read_anything() {
        assert_eq!(of("subscription { named { name } }"), None);
    }
}
