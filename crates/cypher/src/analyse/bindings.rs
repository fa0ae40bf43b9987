//! Patterns: the variables that they bind, and the kind of each.

use super::analyser::{Aggregation, Analyser, Checked, ExprContext};
use super::kinds::{Kind, Kinds};
use super::scope::Slot;
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{
    Expr, ExprKind, Name, NodePattern, PathPattern, RelationshipPattern, Selector,
};
use rustc_hash::FxHashSet;

/// Whether a pattern may bind variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// Names that nothing binds become variables.
    New,
    /// All variables exist before: the pattern is a condition.
    Existing,
}

impl<'a> Analyser<'a> {
    /// The patterns of one `MATCH`, and its condition.
    pub(super) fn patterns(
        &mut self,
        paths: &'a [PathPattern],
        filter: Option<&'a Expr>,
        binding: Binding,
    ) -> Checked<()> {
        let mut relationships = FxHashSet::default();
        for path in paths {
            self.declare_path(path, binding, &mut relationships)?;
        }
        for path in paths {
            self.constraints(path)?;
        }
        filter.map_or(Ok(()), |filter| self.condition(filter, "`WHERE`"))
    }

    /// A condition: a boolean, or a pattern, without aggregates.
    pub(super) fn condition(&mut self, filter: &'a Expr, part: &'static str) -> Checked<()> {
        let context = ExprContext { aggregation: Aggregation::Refused(part), patterns: true };
        let kind = self.within(context, |it| it.expr(filter))?;
        self.require(&kind, Kinds::BOOLEAN, filter.span, part)
    }

    fn declare_path(
        &mut self,
        path: &'a PathPattern,
        binding: Binding,
        relationships: &mut FxHashSet<Slot>,
    ) -> Checked<()> {
        check_selector(path)?;
        self.declare_node(&path.start, binding)?;
        for (relationship, node) in &path.steps {
            self.declare_relationship(relationship, binding, relationships)?;
            self.declare_node(node, binding)?;
        }
        if let Some(name) = &path.variable {
            self.bind_new(name, Kind::Path)?;
        }
        Ok(())
    }

    fn declare_node(&mut self, node: &'a NodePattern, binding: Binding) -> Checked<()> {
        let Some(name) = &node.variable else { return Ok(()) };
        match self.existing(name, binding)? {
            Some(slot) if !Kinds::NODE.accepts(self.scopes.kind(slot)) => {
                Err(self.conflict(name, slot, "a node"))
            }
            Some(_) => Ok(()),
            None => {
                self.bind(name, Kind::Node);
                Ok(())
            }
        }
    }

    fn declare_relationship(
        &mut self,
        relationship: &'a RelationshipPattern,
        binding: Binding,
        relationships: &mut FxHashSet<Slot>,
    ) -> Checked<()> {
        let Some(name) = &relationship.variable else { return Ok(()) };
        let is_list = relationship.length.is_some();
        let slot = match self.existing(name, binding)? {
            None if is_list => self.bind(name, Kind::list(Kind::Relationship)),
            None => self.bind(name, Kind::Relationship),
            Some(slot) => {
                let kind = self.scopes.kind(slot);
                let is_possible = match kind {
                    Kind::List(element) => is_list && Kinds::RELATIONSHIP.accepts(element),
                    Kind::Any | Kind::Null => true,
                    Kind::Relationship => !is_list,
                    _ => false,
                };
                if !is_possible {
                    let expected =
                        if is_list { "a list of relationships" } else { "a relationship" };
                    return Err(self.conflict(name, slot, expected));
                }
                slot
            }
        };
        if relationships.insert(slot) {
            return Ok(());
        }
        let message =
            format!("the relationship `{}` is in the pattern twice, so nothing matches", name.text);
        let fault = Fault::new(Code::RelationshipUniquenessViolation, name.span, message);
        Err(fault.with_hint("give the second one a name of its own"))
    }

    /// The variable of a name in a pattern, if it exists.
    fn existing(&mut self, name: &'a Name, binding: Binding) -> Checked<Option<Slot>> {
        match binding {
            Binding::New if self.scopes.find(&name.text).is_none() => Ok(None),
            Binding::Existing if self.scopes.find(&name.text).is_none() => {
                let message = format!("the variable `{}` is not defined", name.text);
                let fault = Fault::new(Code::UndefinedVariable, name.span, message);
                Err(fault.with_hint(format!(
                    "a condition binds no variables: leave `{}` out, or write `EXISTS {{ pattern }}`",
                    name.text
                )))
            }
            _ => self.resolve(&name.text, name.span).map(Some),
        }
    }

    fn conflict(&self, name: &Name, slot: Slot, expected: &str) -> Fault {
        let kind = self.scopes.kind(slot);
        let message = format!("the variable `{}` is {kind} already, not {expected}", name.text);
        Fault::new(Code::VariableTypeConflict, name.span, message)
            .with_hint("choose another name for one of them")
    }

    /// The expressions of a pattern, which see all variables of its `MATCH`.
    fn constraints(&mut self, path: &'a PathPattern) -> Checked<()> {
        self.constraint(path.start.properties.as_deref(), path.start.filter.as_deref())?;
        for (relationship, node) in &path.steps {
            let RelationshipPattern { properties, filter, .. } = relationship;
            self.constraint(properties.as_deref(), filter.as_deref())?;
            self.constraint(node.properties.as_deref(), node.filter.as_deref())?;
        }
        Ok(())
    }

    fn constraint(
        &mut self,
        properties: Option<&'a Expr>,
        filter: Option<&'a Expr>,
    ) -> Checked<()> {
        if let Some(properties) = properties {
            if let ExprKind::Parameter(name) = &properties.kind {
                return Err(parameter_as_map(name, properties.span));
            }
            self.without_aggregates("a pattern", |it| it.expr(properties))?;
        }
        filter.map_or(Ok(()), |filter| self.condition(filter, "`WHERE`"))
    }
}

fn parameter_as_map(name: &str, span: Span) -> Fault {
    let message = format!("the parameter `${name}` can't be all properties of a pattern");
    let fault = Fault::new(Code::InvalidParameterUse, span, message);
    fault.with_hint(format!("name the properties: `{{key: ${name}.key}}`"))
}

fn check_selector(path: &PathPattern) -> Checked<()> {
    let fault = match path.selector {
        Selector::ShortestPath | Selector::AllShortestPaths if path.steps.len() != 1 => {
            let count = path.steps.len();
            let message = format!("`shortestPath` needs one relationship, and there are {count}");
            Fault::new(Code::InvalidRelationshipPattern, path.span, message)
                .with_hint("write `shortestPath((a)-[:TYPE*]->(b))`")
        }
        Selector::Shortest(0) | Selector::ShortestGroups(0) => {
            let message = "`SHORTEST 0` matches nothing";
            Fault::new(Code::NegativeIntegerArgument, path.span, message)
                .with_hint("the number is at least 1")
        }
        _ => return Ok(()),
    };
    Err(fault)
}
