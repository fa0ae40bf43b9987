//! Rules of `@auth` in plans that come from a text of the deployer, as `@custom(dql:)` has them.
//!
//! A root whose function names a type or a predicate, and an edge, may lead to nodes of some types. Those of a type with
//! rules have to pass them; nodes of other types pass. So what the text selects is what it would select without the
//! hidden nodes. Conditions that the text makes of single nodes, such as `gt(count(edge), 3)`, see all data.

use crate::graphql::lower::filter::has_type;
use crate::graphql::lower::rules::Access;
use crate::graphql::lower::rules::Caller;
use crate::graphql::lower::target::all;
use crate::graphql::model::Kind;
use crate::graphql::model::Operation;
use crate::graphql::model::TypeDef;
use crate::plan::Block;
use crate::plan::Call;
use crate::plan::Field;
use crate::plan::FieldKind;
use crate::plan::Filter;
use crate::plan::Operand;
use crate::plan::PredicateRef;
use crate::plan::Query;
use std::sync::Arc;

/// The plan with what the rules ask of the nodes that it selects; the same one where no type has any. Costs a pass over the
/// plan, and another over the schema for each edge.
pub fn permit(caller: Caller<'_>, plan: Arc<Query>) -> Arc<Query> {
    let is_guarded = |def: &TypeDef| def.auth.query.is_some();
    let guarded: Vec<&TypeDef> = caller
        .model
        .types
        .iter()
        .filter(|def| def.kind == Kind::Object && is_guarded(def))
        .collect();
    if guarded.is_empty() {
        return plan;
    }
    let permits = Permits { caller, guarded };
    let mut query = (*plan).clone();
    for block in &mut query.blocks {
        permits.block(block);
    }
    Arc::new(query)
}

struct Permits<'a> {
    caller: Caller<'a>,
    /// The types with rules.
    guarded: Vec<&'a TypeDef>,
}

impl Permits<'_> {
    fn block(&self, block: &mut Block) {
        if let Some(root) = &block.root {
            add(&mut block.filter, self.of_root(&root.call));
        }
        self.fields(&mut block.fields);
    }

    fn fields(&self, fields: &mut [Arc<Field>]) {
        for field in fields {
            let condition = match &field.kind {
                FieldKind::Predicate { name, reverse, .. }
                | FieldKind::Count { name, reverse, .. } => self.of_edge(name, *reverse),
                FieldKind::Expand(_) if field.has_body => self.condition(|_| true),
                _ => None,
            };
            if condition.is_none() && field.fields.is_empty() {
                continue;
            }
            let field = Arc::make_mut(field);
            add(&mut field.filter, condition);
            self.fields(&mut field.fields);
        }
    }

    /// What is asked of the nodes of a root.
    fn of_root(&self, call: &Call) -> Option<Filter> {
        match call {
            Call::Type(name) => self.condition(|def| {
                let is_named = |def: &TypeDef| def.dgraph_type == *name;
                let interfaces = def.interfaces.iter().filter_map(|it| self.caller.model.get(it));
                is_named(def) || interfaces.into_iter().any(is_named)
            }),
            // Where the variables were defined the rules were asked.
            Call::Uid { uids, vars } if uids.is_empty() || !vars.is_empty() => None,
            call => match predicate_of(call) {
                Some(predicate) if !predicate.reverse => self.condition(|def| {
                    let of_field = def.fields.iter().filter_map(|field| field.predicate.as_ref());
                    of_field.into_iter().any(|known| known.name == predicate.name)
                }),
                _ => self.condition(|_| true),
            },
        }
    }

    /// What is asked of the nodes at the other ends of an edge. Fields of several types may share its predicate, and
    /// where the schema knows only the other direction, it may come from any type.
    fn of_edge(&self, name: &str, reverse: bool) -> Option<Filter> {
        let fields = self.caller.model.types.iter().flat_map(|def| &def.fields);
        let of_predicate = fields.filter(|field| {
            let predicate = field.predicate.as_ref();
            predicate.is_some_and(|known| known.name == name && known.reverse == reverse)
        });
        let targets: Vec<&str> = of_predicate.map(|field| field.ty.name()).collect();
        if targets.is_empty() {
            return if reverse { self.condition(|_| true) } else { None };
        }
        self.condition(|def| {
            targets.iter().filter_map(|name| self.caller.model.get(name)).any(|target| {
                let members = target.implementors.iter().chain(&target.members);
                target.name == def.name || members.into_iter().any(|name| *name == def.name)
            })
        })
    }

    /// That a node which has one of these types passes its rules.
    fn condition(&self, is_possible: impl Fn(&TypeDef) -> bool) -> Option<Filter> {
        let possible = self.guarded.iter().filter(|def| is_possible(def));
        let each = possible.filter_map(|def| {
            let other = || Filter::Not(Box::new(has_type(def)));
            match self.caller.access(def, Operation::Query) {
                Access::All => None,
                Access::None => Some(other()),
                Access::Where(filter) => Some(Filter::Or(vec![other(), filter])),
            }
        });
        all(each.collect())
    }
}

/// Which predicate a function looks into.
fn predicate_of(call: &Call) -> Option<&PredicateRef> {
    match call {
        Call::Compare { left, .. } | Call::Between { left, .. } => match left {
            Operand::Predicate(predicate) | Operand::Count(predicate) => Some(predicate),
            _ => None,
        },
        Call::Terms { predicate, .. }
        | Call::Regexp { predicate, .. }
        | Call::Match { predicate, .. }
        | Call::Has(predicate)
        | Call::UidIn { predicate, .. }
        | Call::Geo { predicate, .. }
        | Call::SimilarTo { predicate, .. } => Some(predicate),
        _ => None,
    }
}

fn add(filter: &mut Option<Filter>, condition: Option<Filter>) {
    *filter = all([filter.take(), condition].into_iter().flatten().collect());
}
