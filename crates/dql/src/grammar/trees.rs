//! Lists in which each item occurs at most once, in linear size.
//!
//! A context-free grammar that allows all orders of n different items needs 2^n rules. This one has
//! a binary tree over the items: an inner node produces a list of its left half, then one of its
//! right half, or in reverse, or one of them alone.
//!
//! ```text
//!          root = left right? | right left?
//!         /    \
//!   a,b = ...   c,d = ...        a c | c a | b a d | ...   but not   a c b
//! ```
//!
//! So two items may occur in either order, and of three items at least four of the six orders are
//! possible. There are as many rules as items, and the first token of an item decides which half
//! follows: a parser needs one token of lookahead.

use super::rules::{Expr, Grammar, alt, optional, seq};

/// What produces nothing.
const NOTHING: Expr = Expr::Choice(Vec::new());

impl Grammar {
    /// Returns a list of one or more of the items, each at most once. No two items may begin alike.
    pub(super) fn subset(&mut self, name: &str, mut items: Vec<Expr>) -> Expr {
        let mut number = 0;
        while 1 < items.len() {
            let mut level = Vec::with_capacity(items.len().div_ceil(2));
            let mut rest = items.into_iter();
            while let Some(left) = rest.next() {
                level.push(match rest.next() {
                    Some(right) => {
                        number += 1;
                        let body = alt![
                            seq![left.clone(), optional(right.clone())],
                            seq![right, optional(left)],
                        ];
                        self.rule(format!("{name}_{number}"), body)
                    }
                    None => left,
                });
            }
            items = level;
        }
        items.pop().unwrap_or(NOTHING)
    }

    /// Returns one of the items and what follows it: `alone`, or `between`, one of the other items
    /// and `both`.
    ///
    /// The others of an item are the siblings along its path in a tree: there are as many rules as
    /// items.
    pub(super) fn one_or_two(&mut self, name: &str, items: Vec<Expr>, then: Following) -> Expr {
        let others = self.others(name, &items);
        let with_other = |(item, other): (Expr, Expr)| {
            let second = seq![then.between.clone(), other, then.both.clone()];
            seq![item, alt![second, then.alone.clone()]]
        };
        let body = items.into_iter().zip(others).map(with_other).collect();
        self.rule(name, Expr::Choice(body))
    }

    /// Returns for each item what produces one of the others.
    fn others(&mut self, name: &str, items: &[Expr]) -> Vec<Expr> {
        let mut levels = vec![items.to_vec()];
        while let Some(level) = levels.last().filter(|level| 1 < level.len()) {
            let number = levels.len();
            let halves: Vec<Expr> =
                level.chunks(2).map(|pair| Expr::Choice(pair.to_vec())).collect();
            let rules = (1..).zip(halves);
            let above =
                rules.map(|(index, pair)| self.rule(format!("{name}_{number}_{index}"), pair));
            levels.push(above.collect());
        }
        levels.pop();
        // What is outside of a node of a level: its sibling, and what is outside of the node above
        // both.
        let mut outside = vec![NOTHING];
        while let Some(level) = levels.pop() {
            let number = levels.len();
            outside = (0..level.len())
                .map(|index| match level.get(index ^ 1) {
                    Some(sibling) => {
                        let body = alt![sibling.clone(), outside[index / 2].clone()];
                        self.rule(format!("{name}_but_{number}_{index}"), body)
                    }
                    None => outside[index / 2].clone(),
                })
                .collect();
        }
        outside
    }
}

/// What follows the first of one or two items.
pub(super) struct Following {
    /// What follows an item that is alone.
    pub alone: Expr,
    /// What stands before the second item.
    pub between: Expr,
    /// What follows the second item.
    pub both: Expr,
}
