//! The state of the analysis of one text.

use super::kinds::{Kind, Kinds};
use super::scope::{Frame, Scopes, Slot};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The result of a step that can fail.
pub(super) type Checked<T> = Result<T, Fault>;

/// The most variables that all `*` of a query mean together.
const COPIED_NAMES_MAX: usize = 1 << 20;

/// The analysis of one text.
#[derive(Debug)]
pub(super) struct Analyser<'a> {
    pub(super) text: &'a str,
    pub(super) scopes: Scopes<'a>,
    /// The variable that each name refers to, by its position in the text.
    pub(super) slots: FxHashMap<u32, Slot>,
    pub(super) parameters: BTreeSet<&'a str>,
    pub(super) context: ExprContext,
    /// How many aggregates were seen.
    pub(super) aggregates: usize,
    copied_names: usize,
    /// The scope before a projection that merges rows, while its `ORDER BY` and `WHERE` are
    /// analysed.
    pub(super) merged: Option<Merged<'a>>,
}

/// Where an expression is.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExprContext {
    /// Whether aggregates are possible.
    pub(super) aggregation: Aggregation,
    /// Whether a pattern may be a condition.
    pub(super) patterns: bool,
}

/// Whether aggregates are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregation {
    /// In an item of a projection.
    Allowed,
    /// In the argument of an aggregate.
    Inside,
    /// Nowhere in what is named here.
    Refused(&'static str),
}

/// What `ORDER BY` and `WHERE` see of the rows before `DISTINCT` or an aggregation: the items as
/// they are written.
#[derive(Debug)]
pub(super) struct Merged<'a> {
    /// The variables before the projection.
    pub(super) before: Frame<'a>,
    /// The position of their scope.
    pub(super) level: usize,
    /// The items, printed.
    pub(super) items: FxHashSet<String>,
    /// Whether a key of the order may be or contain an aggregate.
    pub(super) aggregates: bool,
}

impl<'a> Analyser<'a> {
    pub(super) fn new(text: &'a str) -> Analyser<'a> {
        let context =
            ExprContext { aggregation: Aggregation::Refused("this clause"), patterns: false };
        Analyser {
            text,
            scopes: Scopes::new(),
            slots: FxHashMap::default(),
            parameters: BTreeSet::new(),
            context,
            aggregates: 0,
            copied_names: 0,
            merged: None,
        }
    }

    /// Runs a step in another context.
    pub(super) fn within<T>(
        &mut self,
        context: ExprContext,
        step: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let before = std::mem::replace(&mut self.context, context);
        let result = step(self);
        self.context = before;
        result
    }

    /// Runs a step where no aggregate is possible, in the part of a query that `part` names.
    pub(super) fn without_aggregates<T>(
        &mut self,
        part: &'static str,
        step: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let context = ExprContext { aggregation: Aggregation::Refused(part), patterns: false };
        self.within(context, step)
    }

    /// Runs a step in a scope of its own, inside of the current one.
    pub(super) fn scoped<T>(&mut self, step: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        self.scopes.frames.push(Frame::default());
        let result = step(self);
        self.scopes.frames.pop();
        result
    }

    /// Counts the names that a clause copies, so that a long text of clauses with `*` costs bounded
    /// time and memory.
    pub(super) fn count_names(&mut self, count: usize, span: Span) -> Checked<()> {
        self.copied_names += count;
        if self.copied_names <= COPIED_NAMES_MAX {
            return Ok(());
        }
        let message = format!("`*` means more than {COPIED_NAMES_MAX} variables in all clauses");
        Err(Fault::new(Code::Limit, span, message).with_hint("name the variables that you need"))
    }

    /// Binds a new variable.
    pub(super) fn bind(&mut self, name: &'a Name, kind: Kind) -> Slot {
        let slot = self.scopes.create(kind);
        self.scopes.current().insert(&name.text, slot);
        self.slots.insert(name.span.start, slot);
        slot
    }

    /// Binds a variable that may not exist before.
    pub(super) fn bind_new(&mut self, name: &'a Name, kind: Kind) -> Checked<Slot> {
        if self.scopes.find(&name.text).is_some() {
            let message = format!("the variable `{}` exists already", name.text);
            let fault = Fault::new(Code::VariableAlreadyBound, name.span, message);
            return Err(fault.with_hint("choose another name"));
        }
        Ok(self.bind(name, kind))
    }

    /// Resolves a name.
    pub(super) fn resolve(&mut self, name: &str, span: Span) -> Checked<Slot> {
        let Some(slot) = self.scopes.find(name) else {
            let message = format!("the variable `{name}` is not defined");
            let fault = Fault::new(Code::UndefinedVariable, span, message);
            let hint = match &self.merged {
                Some(merged) if merged.before.get(name).is_some() => format!(
                    "behind `DISTINCT` or an aggregate only the columns are left: make what `{name}` is in a column"
                ),
                _ => self.scopes.hint(name),
            };
            return Err(fault.with_hint(hint));
        };
        self.slots.insert(span.start, slot);
        Ok(slot)
    }

    /// Checks the kind of an operand; `what` names the operator or function.
    pub(super) fn require(
        &self,
        kind: &Kind,
        expected: Kinds,
        span: Span,
        what: &str,
    ) -> Checked<()> {
        if expected.accepts(kind) {
            return Ok(());
        }
        let message = format!("{what} needs {expected}, not {kind}");
        let fault = Fault::new(Code::InvalidArgumentType, span, message);
        Err(fault.with_hint(kind_hint(kind, expected)))
    }
}

/// How to make a value of an accepted kind of one that is not.
fn kind_hint(kind: &Kind, expected: Kinds) -> &'static str {
    match kind {
        Kind::Node | Kind::Relationship | Kind::Path if expected == Kinds::BOOLEAN => {
            "compare it, or write `IS NOT NULL`"
        }
        Kind::Integer | Kind::Float | Kind::String if expected == Kinds::BOOLEAN => {
            "compare it: `n.age > 0`"
        }
        Kind::Path => {
            "`nodes(path)` and `relationships(path)` are lists of its parts, `length(path)` is a number"
        }
        Kind::String if expected.accepts(&Kind::Integer) => {
            "convert it by `toInteger` or `toFloat`"
        }
        Kind::List(_) if expected.accepts(&Kind::Node) => {
            "an element of the list is `list[0]`, and `[x IN list | x.name]` is a list of properties"
        }
        _ => "",
    }
}
