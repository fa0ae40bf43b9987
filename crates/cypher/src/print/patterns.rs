//! Patterns and labels as text.

use crate::syntax::ast::{
    Direction, Expr, LabelExpr, Length, NodePattern, PathPattern, RelationshipPattern, Selector,
};
use hexgraph_base::types::stack;
use std::fmt::{self, Display, Formatter};

impl Display for PathPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.variable {
            write!(f, "{name} = ")?;
        }
        let close = match self.selector {
            Selector::ShortestPath => {
                f.write_str("shortestPath(")?;
                ")"
            }
            Selector::AllShortestPaths => {
                f.write_str("allShortestPaths(")?;
                ")"
            }
            other => {
                match other {
                    Selector::AnyShortest => f.write_str("ANY SHORTEST ")?,
                    Selector::AllShortest => f.write_str("ALL SHORTEST ")?,
                    Selector::Shortest(count) => write!(f, "SHORTEST {count} ")?,
                    Selector::ShortestGroups(count) => write!(f, "SHORTEST {count} GROUPS ")?,
                    _ => {}
                }
                ""
            }
        };
        self.start.fmt(f)?;
        for (relationship, node) in &self.steps {
            write!(f, "{relationship}{node}")?;
        }
        f.write_str(close)
    }
}

impl Display for NodePattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        f.write_str("(")?;
        if let Some(name) = &self.variable {
            name.fmt(f)?;
            separator = " ";
        }
        if let Some(labels) = &self.labels {
            write!(f, ":{labels}")?;
            separator = " ";
        }
        print_constraints(f, separator, self.properties.as_deref(), self.filter.as_deref())?;
        f.write_str(")")
    }
}

impl Display for RelationshipPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.direction == Direction::In { "<-" } else { "-" })?;
        let quantifier = self.length.filter(|length| length.quantifier);
        let length = self.length.filter(|length| !length.quantifier);
        let is_empty = self.variable.is_none()
            && self.types.is_none()
            && self.properties.is_none()
            && self.filter.is_none()
            && length.is_none();
        if !is_empty {
            let mut separator = "";
            f.write_str("[")?;
            if let Some(name) = &self.variable {
                name.fmt(f)?;
                separator = " ";
            }
            if let Some(types) = &self.types {
                write!(f, ":{types}")?;
                separator = " ";
            }
            if let Some(length) = length {
                write!(f, "{length}")?;
                separator = " ";
            }
            print_constraints(f, separator, self.properties.as_deref(), self.filter.as_deref())?;
            f.write_str("]")?;
        }
        f.write_str(if self.direction == Direction::Out { "->" } else { "-" })?;
        quantifier.map_or(Ok(()), |length| length.fmt(f))
    }
}

/// Prints what a node or a relationship has after its labels.
fn print_constraints(
    f: &mut Formatter<'_>,
    mut separator: &str,
    properties: Option<&Expr>,
    filter: Option<&Expr>,
) -> fmt::Result {
    if let Some(properties) = properties {
        write!(f, "{separator}{properties}")?;
        separator = " ";
    }
    filter.map_or(Ok(()), |filter| write!(f, "{separator}WHERE {filter}"))
}

impl Display for Length {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |it: Option<u64>| it.map_or(String::new(), |it| it.to_string());
        let (min, max) = (number(self.min), number(self.max));
        match (self.quantifier, self.min, self.max) {
            (false, None, None) => f.write_str("*"),
            (false, Some(one), Some(other)) if one == other => write!(f, "*{one}"),
            (false, ..) => write!(f, "*{min}..{max}"),
            (true, Some(0), None) => f.write_str("*"),
            (true, Some(1), None) => f.write_str("+"),
            (true, Some(one), Some(other)) if one == other => write!(f, "{{{one}}}"),
            (true, ..) => write!(f, "{{{min},{max}}}"),
        }
    }
}

impl Display for LabelExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        stack::require();
        let joined = |f: &mut Formatter<'_>, parts: &[LabelExpr], separator| {
            for (index, part) in parts.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { separator })?;
                LabelOperand(part).fmt(f)?;
            }
            Ok(())
        };
        match self {
            LabelExpr::Label(name) => name.fmt(f),
            LabelExpr::Any(_) => f.write_str("%"),
            LabelExpr::Not(inside) => write!(f, "!{}", LabelOperand(inside)),
            LabelExpr::And(parts) => joined(f, parts, "&"),
            LabelExpr::Or(parts) => joined(f, parts, "|"),
        }
    }
}

/// A part of a label expression, in brackets where it is one of several parts itself.
pub(super) struct LabelOperand<'a>(pub &'a LabelExpr);

impl Display for LabelOperand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            LabelExpr::Label(_) | LabelExpr::Any(_) => self.0.fmt(f),
            other => write!(f, "({other})"),
        }
    }
}
