//! Names of a text that nothing in the graph may have: labels, types of relationships, properties
//! of nodes. They are answered with nothing, which is likely a mistake, so the graph warns of them.

use super::resolver::Resolver;
use crate::ast::{Expr, ExprKind, LabelExpr, Name};
use crate::execute::graph::NameKind;
use hexgraph_base::types::{Position, Result, stack};

impl Resolver<'_> {
    /// Has the graph warn of a name that it does not have.
    pub(super) fn note_name(&self, kind: NameKind, name: &Name) {
        let at = || Position::of(self.text, name.span.start as usize);
        self.graph.note_name(kind, &name.text, &at);
    }

    /// As [`Resolver::note_name`], for each name of a condition on labels or types.
    pub(super) fn note_labels(&self, labels: &LabelExpr, kind: NameKind) -> Result<()> {
        stack::check()?;
        match labels {
            LabelExpr::Label(name) => self.note_name(kind, name),
            LabelExpr::Any(_) => {}
            LabelExpr::Not(inside) => self.note_labels(inside, kind)?,
            LabelExpr::And(list) | LabelExpr::Or(list) => {
                for it in list {
                    self.note_labels(it, kind)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Resolver::note_name`], for the properties inside of a node's parentheses.
    pub(super) fn note_properties(&self, properties: Option<&Expr>) {
        if let Some(ExprKind::Map(entries)) = properties.map(|it| &it.kind) {
            entries.iter().for_each(|(name, _)| self.note_name(NameKind::Property, name));
        }
    }
}
