//! A context-free grammar as data, and what cleans it.

use hexgraph_base::types::stack;

/// A grammar. Its first rule is the one that sentences are made of.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    /// The rules; [`Expr::Rule`] is an index into them.
    pub rules: Vec<Rule>,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The name: small letters, digits and `_`, beginning with a letter.
    pub name: String,
    /// True for a token: its body is regular and names no other rule.
    pub is_token: bool,
    /// What it produces.
    pub body: Expr,
}

/// The right side of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A text as it is.
    Text(String),
    /// One character of a set; in tokens only.
    Chars(CharSet),
    /// What a rule produces.
    Rule(usize),
    /// One after the other.
    Sequence(Vec<Expr>),
    /// One of several. Without any it produces nothing, not even an empty text.
    Choice(Vec<Expr>),
    /// Once or not at all.
    Optional(Box<Expr>),
    /// From `least` to `most` times; without `most` any number of times.
    Repeat {
        /// What is repeated.
        body: Box<Expr>,
        /// The least number of times.
        least: u32,
        /// The greatest number of times.
        most: Option<u32>,
    },
}

/// A set of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharSet {
    /// The ranges, each from its first to its last character.
    pub ranges: Vec<(char, char)>,
    /// True for all characters but those.
    pub is_negated: bool,
}

/// A short form of [`Expr::Text`].
pub(super) fn text(text: impl Into<String>) -> Expr {
    Expr::Text(text.into())
}

/// A short form of [`Expr::Optional`].
pub(super) fn optional(body: Expr) -> Expr {
    Expr::Optional(Box::new(body))
}

/// Any number of times.
pub(super) fn any_number(body: Expr) -> Expr {
    Expr::Repeat { body: Box::new(body), least: 0, most: None }
}

/// From `least` to `most` times.
pub(super) fn repeated(body: Expr, least: u32, most: u32) -> Expr {
    Expr::Repeat { body: Box::new(body), least, most: Some(most) }
}

/// One of some texts.
pub(super) fn one_of(texts: &[&str]) -> Expr {
    Expr::Choice(texts.iter().map(|it| text(*it)).collect())
}

/// One character of some ranges.
pub(super) fn chars(ranges: &[(char, char)]) -> Expr {
    Expr::Chars(CharSet { ranges: ranges.to_vec(), is_negated: false })
}

/// Sequences and choices, without lists within lists.
macro_rules! seq {
    ($($part:expr),+ $(,)?) => { $crate::grammar::rules::Expr::Sequence(vec![$($part),+]) };
}
macro_rules! alt {
    ($($part:expr),+ $(,)?) => { $crate::grammar::rules::Expr::Choice(vec![$($part),+]) };
}
pub(super) use {alt, seq};

impl Grammar {
    /// Adds a rule, and returns the expression that names it.
    pub(super) fn rule(&mut self, name: impl Into<String>, body: Expr) -> Expr {
        self.push(name.into(), false, body)
    }

    /// Adds a token, and returns the expression that names it.
    pub(super) fn token(&mut self, name: &str, body: Expr) -> Expr {
        self.push(name.to_owned(), true, body)
    }

    fn push(&mut self, name: String, is_token: bool, body: Expr) -> Expr {
        self.rules.push(Rule { name, is_token, body });
        Expr::Rule(self.rules.len() - 1)
    }

    /// Returns the grammar without what no sentence of `start` uses: alternatives that produce
    /// nothing, and rules that nothing names. `start` becomes the first rule. O(size of the
    /// grammar) for each level of rules without a product.
    pub(super) fn cleaned(self, start: &Expr) -> Grammar {
        let productive = self.productive();
        let Expr::Rule(start) = start else { return Grammar::default() };
        let mut cleaned = Grammar::default();
        let mut position = vec![None; self.rules.len()];
        let mut order = vec![*start];
        position[*start] = Some(0);
        let mut next = 0;
        while let Some(&old) = order.get(next) {
            next += 1;
            let rule = &self.rules[old];
            let mut refer = |old: usize| {
                *position[old].get_or_insert_with(|| {
                    order.push(old);
                    order.len() - 1
                })
            };
            let body = prune(&rule.body, &productive, &mut refer);
            let body = body.unwrap_or(Expr::Choice(Vec::new()));
            cleaned.rules.push(Rule { name: rule.name.clone(), is_token: rule.is_token, body });
        }
        cleaned
    }

    /// Which rules produce a text.
    pub(super) fn productive(&self) -> Vec<bool> {
        let mut productive = vec![false; self.rules.len()];
        loop {
            let mut has_changed = false;
            // Rules name those before them, mostly: one pass is enough, and a second one sees it.
            for (index, rule) in self.rules.iter().enumerate() {
                if !productive[index] && produces(&rule.body, &productive) {
                    productive[index] = true;
                    has_changed = true;
                }
            }
            if !has_changed {
                return productive;
            }
        }
    }
}

fn produces(expr: &Expr, productive: &[bool]) -> bool {
    stack::require();
    match expr {
        Expr::Text(_) | Expr::Chars(_) | Expr::Optional(_) => true,
        Expr::Rule(rule) => productive[*rule],
        Expr::Sequence(parts) => parts.iter().all(|part| produces(part, productive)),
        Expr::Choice(parts) => parts.iter().any(|part| produces(part, productive)),
        Expr::Repeat { body, least, .. } => *least == 0 || produces(body, productive),
    }
}

/// The expression without what produces nothing; `None` where nothing is left. `refer` gives the
/// new index of a rule, and is called only for rules that are used.
fn prune(expr: &Expr, productive: &[bool], refer: &mut impl FnMut(usize) -> usize) -> Option<Expr> {
    stack::require();
    if !produces(expr, productive) {
        return None;
    }
    Some(match expr {
        Expr::Text(_) | Expr::Chars(_) => expr.clone(),
        Expr::Rule(rule) => Expr::Rule(refer(*rule)),
        Expr::Sequence(parts) => {
            let mut left = Vec::with_capacity(parts.len());
            for part in parts {
                match prune(part, productive, refer)? {
                    Expr::Sequence(inner) => left.extend(inner),
                    part => left.push(part),
                }
            }
            match left.len() {
                1 => left.remove(0),
                _ => Expr::Sequence(left),
            }
        }
        Expr::Choice(parts) => {
            let mut left: Vec<Expr> =
                parts.iter().filter_map(|part| prune(part, productive, refer)).collect();
            let alternatives = left.len();
            left.retain(|part| !matches!(part, Expr::Sequence(parts) if parts.is_empty()));
            let is_optional = left.len() < alternatives;
            let choice = match left.len() {
                0 => return Some(Expr::Sequence(left)),
                1 => left.remove(0),
                _ => Expr::Choice(left),
            };
            if is_optional { optional(choice) } else { choice }
        }
        Expr::Optional(body) => match prune(body, productive, refer) {
            Some(body) => optional(body),
            None => Expr::Sequence(Vec::new()),
        },
        Expr::Repeat { body, least, most } => match prune(body, productive, refer) {
            Some(body) => Expr::Repeat { body: Box::new(body), least: *least, most: *most },
            None => Expr::Sequence(Vec::new()),
        },
    })
}
