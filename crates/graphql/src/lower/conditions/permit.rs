//! Rules of `@auth` in plans that come from a text of the schema, as `@custom(dql:)` has them.
//!
//! A root whose function names a type or a predicate, and an edge, may point to nodes of some
//! types. Those of a type with rules have to pass them; nodes of other types pass. Conditions on
//! edges, `has`, `uid_in` and comparisons of `count`, are about the edges to nodes that pass. A
//! node that the text names as the end of a path, or as what others should be similar to, has to
//! pass, too: a variable of an added block replaces it. So what the text finds is
//! what it would find without the hidden nodes.

use super::filter::has_type;
use super::rules::{Access, Caller};
use crate::lower::roots::block::node_block;
use crate::lower::target::{all, filter_of, nothing, plan_field};
use crate::model::{Kind, Operation, TypeDef};
use hexgraph_base::plan::{
    Argument, Block, BlockKind, Call, Comparison, Endpoint, Field, FieldKind, Filter, Function,
    GroupBy, Operand, Query, SemiJoin, VarId, Variable,
};
use hexgraph_base::types::{Error, Result, Uid, parse_vector, stack};
use std::ops::Bound;
use std::sync::Arc;

/// The plan with the conditions of the rules on the nodes that it selects; the same one where no
/// type has any. `is_edge` says whether a predicate that the GraphQL schema does not know points to
/// nodes. Costs a pass over the plan, and another over the schema for each edge.
///
/// # Errors
///
/// `Query` where it groups by an edge to nodes that rules may hide.
pub fn permit(
    caller: Caller<'_>,
    plan: Arc<Query>,
    is_edge: &dyn Fn(&str) -> bool,
) -> Result<Arc<Query>> {
    let is_guarded = |def: &TypeDef| def.auth.query.is_some();
    let guarded: Vec<&TypeDef> = caller
        .model
        .types
        .iter()
        .filter(|def| def.kind == Kind::Object && is_guarded(def))
        .collect();
    if guarded.is_empty() {
        return Ok(plan);
    }
    let mut query = (*plan).clone();
    let next = VarId(query.variables.len() as u32);
    let mut permits = Permits { caller, guarded, is_edge, next, named: Vec::new() };
    for block in &mut query.blocks {
        let existing = permits.named.len();
        permits.block(block)?;
        // The new variables are greater than those of the text, so they need no renumbering. Each
        // of the blocks that were added while this block was walked defines one variable, which
        // this block now waits for.
        block
            .reads
            .extend(permits.named[existing..].iter().filter_map(|(_, it)| it.defines.first()));
    }
    for (name, block) in permits.named {
        query.variables.push(Variable { name });
        query.blocks.push(block);
    }
    Ok(Arc::new(query))
}

/// The walk over a plan.
struct Permits<'a> {
    caller: Caller<'a>,
    /// The types with rules.
    guarded: Vec<&'a TypeDef>,
    is_edge: &'a dyn Fn(&str) -> bool,
    /// The next variable that is free.
    next: VarId,
    /// The blocks that are added, each defines a variable of this name.
    named: Vec<(String, Block)>,
}

impl Permits<'_> {
    /// Adds the conditions of a block.
    fn block(&mut self, block: &mut Block) -> Result<()> {
        // A path must not reveal a hidden node, not even as its endpoint.
        if let BlockKind::Shortest(path) = &mut block.kind {
            for end in [&mut path.from, &mut path.to].into_iter().flatten() {
                self.end(end);
            }
        }
        if let Some(filter) = &mut block.filter {
            // An edge to a hidden node does not count here: the filter is about the edges that the
            // caller may see.
            self.filter(filter);
        }
        // Nor must the number of another node reveal a hidden one: it is not in the graph.
        if let BlockKind::Algorithm(_) = &block.kind {
            add(&mut block.filter, self.condition(|_| true));
        }
        if let Some(root) = &mut block.root {
            self.neighbours(&mut root.call);
            add(&mut block.filter, self.of_root(&root.call));
            add(&mut block.filter, self.of_rooted_edges(root));
        }
        self.groups(block.group_by.as_ref())?;
        self.fields(&mut block.fields)
    }

    fn fields(&mut self, fields: &mut [Arc<Field>]) -> Result<()> {
        stack::require();
        for field in fields {
            let condition = match &field.kind {
                FieldKind::Predicate { name, reverse, .. }
                | FieldKind::Count { name, reverse, .. } => self.of_edge(name, *reverse),
                FieldKind::Expand(_) if field.has_body => self.condition(|_| true),
                _ => None,
            };
            self.groups(field.group_by.as_ref())?;
            if condition.is_none() && field.fields.is_empty() && field.filter.is_none() {
                continue;
            }
            let field = Arc::make_mut(field);
            if let Some(filter) = &mut field.filter {
                self.filter(filter);
            }
            add(&mut field.filter, condition);
            self.fields(&mut field.fields)?;
        }
        Ok(())
    }

    /// A group reveals the node that its members point to.
    fn groups(&self, group_by: Option<&GroupBy>) -> Result<()> {
        for key in group_by.into_iter().flat_map(|group_by| &group_by.keys) {
            let name = key.predicate.strip_prefix('~');
            let edge = name.map_or((key.predicate.as_str(), false), |name| (name, true));
            if self.of_edge(edge.0, edge.1).is_some() {
                let name = &key.predicate;
                let message = format!(
                    "`{name}` has targets that rules of `@auth` may hide, so it can't be a group key"
                );
                return Err(Error::query(message).with_hint("group by a value, or count the edges"));
            }
        }
        Ok(())
    }

    /// Makes conditions on edges be about those to nodes that pass.
    fn filter(&mut self, filter: &mut Filter) {
        stack::require();
        match filter {
            Filter::And(parts) | Filter::Or(parts) => {
                parts.iter_mut().for_each(|part| self.filter(part));
            }
            Filter::Not(inner) => self.filter(inner),
            Filter::Function(function) => {
                self.neighbours(&mut function.call);
                if let Some(condition) = self.of_edges(&function.call) {
                    *filter = condition;
                }
            }
            Filter::SemiJoin(_) => {}
        }
    }

    /// Makes an end of a path be there only where it passes.
    fn end(&mut self, end: &mut Endpoint) {
        let Endpoint::Uid(uid) = *end else { return };
        if let Some(condition) = self.condition(|_| true) {
            let of = |var| Block { var: Some(var), ..named_block(uid, condition) };
            *end = Endpoint::Var(self.name(uid, of));
        }
    }

    /// Leaves nodes that don't pass out of the nearest ones, and nothing be near to
    /// a node that does not.
    fn neighbours(&mut self, call: &mut Call) {
        let condition = match call {
            Call::SimilarTo { .. } => self.of_root(call),
            _ => return,
        };
        let Call::SimilarTo { predicate, target, admits, .. } = call else { return };
        *admits = condition.map(Box::new);
        let Argument::Text(text) = &*target else { return };
        let Some(uid) = Uid::parse(text).filter(|_| parse_vector(text).is_err()) else { return };
        if let Some(condition) = self.condition(|_| true) {
            let (name, langs) = (predicate.name.clone(), Vec::new());
            let kind = FieldKind::Predicate { name, reverse: false, langs };
            let key = predicate.name.clone();
            let of = |var| {
                let vector = Field { var: Some(var), ..plan_field(kind, key) };
                Block { fields: vec![Arc::new(vector)], ..named_block(uid.0, condition) }
            };
            *target = Argument::Val(self.name(uid.0, of));
        }
    }

    /// Adds the block of a node that the text names, and gives its variable.
    fn name(&mut self, uid: u64, block: impl FnOnce(VarId) -> Block) -> VarId {
        let var = self.next;
        self.next = VarId(var.0 + 1);
        let block = Block { kind: BlockKind::Hidden, defines: vec![var], ..block(var) };
        self.named.push((Uid(uid).to_string(), block));
        var
    }

    /// The condition of a root function on edges, as a condition on its nodes. Where hidden edges
    /// could remove nodes from the result, the function returns all nodes with the edge instead.
    fn of_rooted_edges(&self, root: &mut Function) -> Option<Filter> {
        let condition = self.of_edges(&root.call)?;
        let (counted, finds_all) = match &root.call {
            Call::Compare { op, left: Operand::Count(edge), .. } => {
                (edge.clone(), matches!(op, Comparison::Ge | Comparison::Gt))
            }
            Call::Between { left: Operand::Count(edge), .. } => (edge.clone(), false),
            _ => return Some(condition),
        };
        // A root never finds nodes without the edge, so one being there is part of the condition.
        let none = Call::Compare {
            op: Comparison::Ge,
            left: Operand::Count(counted.clone()),
            arguments: vec![Argument::Text("1".to_owned())],
        };
        let is_there = self.of_edges(&none);
        if !finds_all && !expects_none(&root.call) {
            root.call = Call::Has(counted);
        }
        all(is_there.into_iter().chain([condition]).collect())
    }

    /// Returns the condition of a function on edges to nodes that rules may hide; `None` for other
    /// functions.
    fn of_edges(&self, call: &Call) -> Option<Filter> {
        let edge = match call {
            Call::Has(edge) | Call::UidIn { predicate: edge, .. } => edge,
            Call::Compare { left: Operand::Count(edge), .. }
            | Call::Between { left: Operand::Count(edge), .. } => edge,
            _ => return None,
        };
        let permitted = self.of_edge(&edge.name, edge.reverse)?;
        let reaches = |more_than: u32, filter: Filter| {
            let (predicate, reverse) = (edge.name.clone(), edge.reverse);
            Filter::SemiJoin(Box::new(SemiJoin {
                predicate,
                reverse,
                more_than,
                filter: Some(filter),
            }))
        };
        // A node has fewer than 2^32 edges, so none reaches a greater count; one below 1 each node
        // reaches, without the edge too.
        let at_least = |count: i64| match u32::try_from(count.saturating_sub(1)) {
            Ok(more_than) => reaches(more_than, permitted.clone()),
            Err(_) if count < 1 => Filter::Not(Box::new(nothing())),
            Err(_) => nothing(),
        };
        let below = |count: i64| Filter::Not(Box::new(at_least(count)));
        let number = |argument: &Argument| match argument {
            Argument::Text(text) => text.trim().parse::<i64>().ok(),
            Argument::Val(_) => None,
        };
        match call {
            Call::Has(_) => Some(reaches(0, permitted.clone())),
            Call::UidIn { uids, vars, .. } => {
                let there = filter_of(Call::Uid { uids: uids.clone(), vars: vars.clone() });
                all(vec![there, permitted.clone()]).map(|both| reaches(0, both))
            }
            Call::Compare { op, arguments, .. } => {
                let mut parts = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    // What is no number is reported when the function is executed.
                    let number = number(argument)?;
                    let next = number.saturating_add(1);
                    let (low, high) = op.bounds(());
                    let low = match low {
                        Bound::Included(()) => Some(at_least(number)),
                        Bound::Excluded(()) => Some(at_least(next)),
                        Bound::Unbounded => None,
                    };
                    let high = match high {
                        Bound::Included(()) => Some(below(next)),
                        Bound::Excluded(()) => Some(below(number)),
                        Bound::Unbounded => None,
                    };
                    parts.extend(all(low.into_iter().chain(high).collect()));
                }
                Some(if parts.is_empty() { nothing() } else { Filter::Or(parts) })
            }
            Call::Between { low, high, .. } => {
                let (low, high) = (number(low)?, number(high)?);
                Some(Filter::And(vec![at_least(low), below(high.saturating_add(1))]))
            }
            _ => None,
        }
    }

    /// Returns the condition on the nodes that the function of a root finds.
    fn of_root(&self, call: &Call) -> Option<Filter> {
        match call {
            Call::Type(name) => self.condition(|def| {
                let is_named = |def: &TypeDef| def.dgraph_type == *name;
                let interfaces = def.interfaces.iter().filter_map(|it| self.caller.model.get(it));
                is_named(def) || interfaces.into_iter().any(is_named)
            }),
            // The blocks that define the variables have applied the rules already.
            Call::Uid { uids, vars } if uids.is_empty() || !vars.is_empty() => None,
            call => match call.predicate() {
                Some(predicate) if !predicate.reverse => {
                    let has_it = |def: &TypeDef| {
                        let existing =
                            def.fields.iter().filter_map(|field| field.predicate.as_ref());
                        existing.into_iter().any(|existing| existing.name == predicate.name)
                    };
                    // Nodes of any type may have what the schema does not know, such as their
                    // types.
                    let has_field = self.caller.model.types.iter().any(has_it);
                    self.condition(|def| !has_field || has_it(def))
                }
                _ => self.condition(|_| true),
            },
        }
    }

    /// Returns the condition on the nodes on the other side of an edge. Its predicate may have
    /// fields of several types, and where the schema has only the other direction, it may come from
    /// any type.
    fn of_edge(&self, name: &str, reverse: bool) -> Option<Filter> {
        let fields = self.caller.model.types.iter().flat_map(|def| &def.fields);
        let of_predicate = fields.filter(|field| {
            let predicate = field.predicate.as_ref();
            predicate.is_some_and(|existing| existing.name == name && existing.reverse == reverse)
        });
        let targets: Vec<&str> = of_predicate.map(|field| field.ty.name()).collect();
        if targets.is_empty() {
            let leads = reverse || (self.is_edge)(name);
            return if leads { self.condition(|_| true) } else { None };
        }
        self.condition(|def| {
            targets.iter().filter_map(|name| self.caller.model.get(name)).any(|target| {
                let members = target.implementors.iter().chain(&target.members);
                target.name == def.name || members.into_iter().any(|name| *name == def.name)
            })
        })
    }

    /// Returns the condition that a node of one of these types passes its rules.
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

/// Makes the block of one node, which finds it if it passes.
fn named_block(uid: u64, condition: Filter) -> Block {
    node_block(Call::Uid { uids: vec![uid], vars: Vec::new() }, Some(condition))
}

/// Joins a condition to a filter.
fn add(filter: &mut Option<Filter>, condition: Option<Filter>) {
    *filter = all([filter.take(), condition].into_iter().flatten().collect());
}

/// Returns true if a comparison of a count holds for nodes without an edge, which a root does not
/// find.
fn expects_none(call: &Call) -> bool {
    let is_below = |argument: &Argument, least: i64| match argument {
        Argument::Text(text) => text.trim().parse::<i64>().is_ok_and(|number| number < least),
        Argument::Val(_) => false,
    };
    match call {
        Call::Compare { op: Comparison::Lt, arguments, .. } => {
            arguments.iter().any(|argument| is_below(argument, 2))
        }
        Call::Compare { arguments, .. } => arguments.iter().any(|argument| is_below(argument, 1)),
        Call::Between { low, .. } => is_below(low, 1),
        _ => false,
    }
}
