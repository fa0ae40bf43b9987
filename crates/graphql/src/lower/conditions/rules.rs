//! Lowers the rules of `@auth` to conditions in the plan.
//!
//! A rule that is a query is true for the nodes that the query would return with `@cascade`. That
//! is the same as a condition on a single node: it passes the filter, it has a value or an edge for
//! each field, and recursively the nodes on the other side do so, too. So a rule is evaluated like
//! a filter, on the nodes that a request selects, and its query is never run. Rules see all data:
//! no rules apply inside them.

use super::filter::{RootFilter, Sight, Viewer, filter, has_type, root_filter};
use crate::auth::{Claims, Remains, Rulebook, Verdict};
use crate::generate::Api;
use crate::lower::order;
use crate::lower::refusal::Refusal;
use crate::lower::target::{all, filter_of, is_uid, nothing, reference};
use crate::model::{Kind, Model, Operation, TypeDef};
use crate::request::{Cascade, Field, RequestLimits, Requests};
use apollo_compiler::ast::Type;
use hexgraph_base::plan::{Call, Filter, SemiJoin};
use hexgraph_base::types::stack;
use serde_json::{Map, Value as Json};

/// The caller of a request, with the schema and the rules that apply.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The schema.
    pub model: &'a Model,
    /// The generated API.
    pub api: &'a Api,
    /// The cache of checked requests, which holds the queries of rules as well.
    pub requests: &'a Requests,
    /// The rules.
    pub rules: &'a Rulebook,
    /// The claims of the caller's token.
    pub claims: &'a Claims,
}

/// The nodes of a type to which a caller may apply an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those that pass the condition.
    Where(Filter),
}

impl Access {
    /// Returns the condition: `None` when all nodes are permitted, one that no node passes when
    /// none is.
    pub fn into_filter(self) -> Option<Filter> {
        match self {
            Access::All => None,
            Access::None => Some(nothing()),
            Access::Where(filter) => Some(filter),
        }
    }
}

impl Caller<'_> {
    /// Returns which nodes of a type the rules permit. For an interface or a union the rules of
    /// each concrete type decide about its nodes.
    ///
    /// A rule that can't be evaluated, because a claim is missing or has the wrong type, permits no
    /// node.
    pub fn access(&self, def: &TypeDef, operation: Operation) -> Access {
        let concrete = match def.kind {
            Kind::Interface => &def.implementors,
            Kind::Union => &def.members,
            _ => return self.of_type(def, operation),
        };
        let types = concrete.iter().filter_map(|name| self.model.get(name));
        let each: Vec<(&TypeDef, Access)> =
            types.map(|def| (def, self.of_type(def, operation))).collect();
        // The usual case: no type has a rule that applies, so that no type has to be checked.
        if each.iter().all(|(_, access)| *access == Access::All) {
            // An interface that nothing implements has no nodes; its own rules decide then.
            return if each.is_empty() { self.of_type(def, operation) } else { Access::All };
        }
        let parts = each.into_iter().filter_map(|(def, access)| match access {
            Access::None => None,
            Access::All => Some(has_type(def)),
            Access::Where(filter) => all(vec![has_type(def), filter]),
        });
        match parts.collect::<Vec<_>>() {
            parts if parts.is_empty() => Access::None,
            parts => Access::Where(any(parts)),
        }
    }

    /// Returns which nodes of one type the rules permit.
    fn of_type(&self, def: &TypeDef, operation: Operation) -> Access {
        match self.rules.verdict(&def.auth, operation, self.claims) {
            Verdict::Allow => Access::All,
            Verdict::Deny => Access::None,
            Verdict::Where(remains) => self.what_remains(&remains),
        }
    }

    /// Lowers the part of the rules that the claims do not decide.
    fn what_remains(&self, remains: &Remains<'_>) -> Access {
        stack::require();
        match remains {
            Remains::All(parts) => {
                let mut filters = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.what_remains(part) {
                        Access::None => return Access::None,
                        Access::All => {}
                        Access::Where(Filter::And(parts)) => filters.extend(parts),
                        Access::Where(filter) => filters.push(filter),
                    }
                }
                all(filters).map_or(Access::All, Access::Where)
            }
            Remains::Any(parts) => {
                let mut filters = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.what_remains(part) {
                        Access::All => return Access::All,
                        Access::None => {}
                        Access::Where(filter) => filters.push(filter),
                    }
                }
                if filters.is_empty() { Access::None } else { Access::Where(any(filters)) }
            }
            Remains::Query { text, negated, .. } => match self.query(text) {
                None => Access::None,
                Some(None) => {
                    if *negated {
                        Access::None
                    } else {
                        Access::All
                    }
                }
                Some(Some(filter)) if *negated => Access::Where(Filter::Not(Box::new(filter))),
                Some(Some(filter)) => Access::Where(filter),
            },
        }
    }

    /// Lowers the query of a rule to a condition on a node. The inner `None` is a condition that
    /// every node passes; the outer one means that the rule can't be evaluated.
    fn query(&self, text: &str) -> Option<Option<Filter>> {
        let request = self.requests.get(self.api, text, &RequestLimits::default()).ok()?;
        // A rule's variables are claims of the same names; the verdict has checked that all are
        // there.
        let mut variables = Map::new();
        for (name, ty) in request.variables() {
            variables.insert(name.to_string(), variable(ty, self.claims.get(name)?));
        }
        let operation = request.resolve(self.api, None, &variables).ok()?;
        let field = operation.fields.first()?;
        let def = self.model.get(&field.shape.root.as_ref()?.type_name)?;
        let given = match field.arguments.given("filter") {
            Some(given) => root_filter(Sight::Full(self.model), def, given).ok()?,
            None => None,
        };
        let mut conditions = Vec::new();
        add(given.and_then(RootFilter::into_filter), &mut conditions);
        self.conditions(field, None, &mut conditions).ok()?;
        Some(all(conditions))
    }

    /// Adds the conditions that the selection of a field puts on a node: each field that `@cascade`
    /// requires is present.
    fn conditions(
        &self,
        requested: &Field,
        inherited: Option<&Cascade>,
        conditions: &mut Vec<Filter>,
    ) -> Result<(), Refusal> {
        stack::require();
        let cascade = requested.cascade.as_ref().or(inherited);
        let is_required = |name: &str| {
            let named = cascade.filter(|cascade| !cascade.fields.is_empty());
            named.is_none_or(|cascade| cascade.fields.iter().any(|field| field == name))
        };
        // Types that are requested the same are in one branch, so its first type represents all.
        for branch in &requested.selection.branches {
            let Some(def) = branch.types.first().and_then(|name| self.model.get(name)) else {
                continue;
            };
            for below in branch.fields.iter().filter(|below| is_required(&below.shape.name)) {
                if let Some(condition) = self.presence(def, below, cascade)?
                    && !conditions.contains(&condition)
                {
                    conditions.push(condition);
                }
            }
        }
        Ok(())
    }

    /// Returns the condition that a field has a value, or an edge to a node that passes its filter
    /// and its selection.
    fn presence(
        &self,
        def: &TypeDef,
        requested: &Field,
        cascade: Option<&Cascade>,
    ) -> Result<Option<Filter>, Refusal> {
        let Some(field) = def.field(&requested.shape.name).filter(|field| !is_uid(field)) else {
            return Ok(None);
        };
        let Some(predicate) = &field.predicate else { return Ok(None) };
        let target = self
            .model
            .get(field.ty.name())
            .filter(|target| matches!(target.kind, Kind::Object | Kind::Interface | Kind::Union));
        let Some(target) = target else {
            return Ok(Some(filter_of(Call::Has(reference(predicate)))));
        };
        // Edges that are read backwards may come from nodes of any type.
        let mut conditions = Vec::new();
        if predicate.reverse && target.kind != Kind::Union {
            conditions.push(has_type(target));
        }
        if let Some(given) = requested.arguments.given("filter") {
            add(filter(Sight::Full(self.model), target, given)?, &mut conditions);
        }
        self.conditions(requested, cascade, &mut conditions)?;
        Ok(Some(Filter::SemiJoin(Box::new(SemiJoin {
            predicate: predicate.name.clone(),
            reverse: predicate.reverse,
            more_than: order::offset(&requested.arguments),
            filter: all(conditions),
        }))))
    }
}

impl Viewer for Caller<'_> {
    fn model(&self) -> &Model {
        self.model
    }

    fn visible(&self, def: &TypeDef) -> Option<Filter> {
        self.access(def, Operation::Query).into_filter()
    }
}

/// Adds a filter to a conjunction.
fn add(given: Option<Filter>, conditions: &mut Vec<Filter>) {
    match given {
        Some(Filter::And(parts)) => conditions.extend(parts),
        given => conditions.extend(given),
    }
}

/// Joins alternative conditions.
fn any(mut filters: Vec<Filter>) -> Filter {
    if filters.len() == 1 { filters.remove(0) } else { Filter::Or(filters) }
}

/// Converts a claim to the value of a variable of a type. Texts, numbers and truth values are
/// converted to each other, since the filters of the store do not distinguish them either.
fn variable(ty: &Type, claim: &Json) -> Json {
    match claim {
        Json::Array(items) => items.iter().map(|item| variable(ty.item_type(), item)).collect(),
        Json::String(text) => match ty.inner_named_type().as_str() {
            "Boolean" => text.parse().map_or_else(|_| claim.clone(), Json::Bool),
            "Int" => text.parse::<i64>().map_or_else(|_| claim.clone(), Json::from),
            _ => claim.clone(),
        },
        Json::Number(number) => match ty.inner_named_type().as_str() {
            "String" => Json::String(number.to_string()),
            _ => claim.clone(),
        },
        Json::Bool(truth) if ty.inner_named_type() == "String" => Json::String(truth.to_string()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdl::{Settings, read};
    use hexgraph_base::plan::{Argument, Comparison, Operand};
    use serde_json::json;

    const SDL: &str = r#"
        type Note @auth(query: { or: [
            { rule: "{$ROLE: {eq: \"ADMIN\"}}" },
            { rule: "query($USER: String!) { queryNote { owner(filter: {name: {eq: $USER}}) { age } } }" }
        ]}, delete: { not: { rule: "query { queryNote(filter: {public: true}) { id } }" } }) {
            id: ID!
            public: Boolean @search
            owner: User
        }
        type User { id: ID! name: String @search(by: [hash]) age: Int }
    "#;

    fn access(operation: Operation, claims: Json) -> Access {
        let model = read(SDL, &Settings::default()).expect("a schema");
        let api = Api::new(&model).expect("an API");
        let Json::Object(claims) = claims else { panic!("an object") };
        let caller = Caller {
            model: &model,
            api: &api,
            requests: &Requests::default(),
            rules: &Rulebook::new(&model),
            claims: &Claims::new(claims),
        };
        caller.access(model.get("Note").expect("declared"), operation)
    }

    fn equals(name: &str, value: &str) -> Filter {
        let reference = |name: &str| hexgraph_base::plan::PredicateRef {
            name: name.to_owned(),
            reverse: false,
            lang: None,
        };
        filter_of(match value {
            "" => Call::Has(reference(name)),
            value => Call::Compare {
                op: Comparison::Eq,
                left: Operand::Predicate(reference(name)),
                arguments: vec![Argument::Text(value.to_owned())],
            },
        })
    }

    #[test]
    fn queries_become_conditions() {
        let below = Filter::And(vec![equals("User.name", "ann"), equals("User.age", "")]);
        let join = Filter::SemiJoin(Box::new(SemiJoin {
            predicate: "Note.owner".to_owned(),
            reverse: false,
            more_than: 0,
            filter: Some(below),
        }));
        assert_eq!(access(Operation::Query, json!({"USER": "ann"})), Access::Where(join));
        assert_eq!(access(Operation::Query, json!({"ROLE": "ADMIN"})), Access::All);
        assert_eq!(access(Operation::Query, json!({})), Access::None);
    }

    #[test]
    fn negations_stand_around_queries() {
        let public = Filter::Not(Box::new(equals("Note.public", "true")));
        assert_eq!(access(Operation::Delete, json!({})), Access::Where(public));
        assert_eq!(access(Operation::Update, json!({})), Access::All);
    }

    #[test]
    fn claims_of_a_wrong_type_permit_nothing() {
        assert_eq!(access(Operation::Query, json!({"USER": ["ann", "bob"]})), Access::None);
        assert_eq!(access(Operation::Query, json!({"USER": {"name": "ann"}})), Access::None);
    }
}
