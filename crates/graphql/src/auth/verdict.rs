//! Decides a tree of rules by the claims of a caller: the result is yes, no, or a condition on each
//! node.
//!
//! Rules that only use claims are decided here. A rule that is a query, and whose variable has no
//! claim, is a no, and stays one under `not`: a query that can't run permits nothing. So negations
//! are moved down to the leaves (De Morgan), and what remains has them only at single queries.

use hexgraph_base::types::stack;
use std::collections::{BTreeSet, HashMap};

use regex::Regex;

use crate::auth::{Claims, claim_tests};
use crate::model::{AuthRules, Model, Operation, RbacTest, Rule};
use hexgraph_base::text::compile_plain;

/// Which nodes a caller may do an operation to.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<'r> {
    /// All nodes of the type.
    Allow,
    /// No node.
    Deny,
    /// The nodes for which the rest of the rules holds.
    Where(Remains<'r>),
}

/// The part of a tree of rules that the claims do not decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Remains<'r> {
    /// All parts hold. There are two at least.
    All(Vec<Remains<'r>>),
    /// One part holds at least. There are two at least.
    Any(Vec<Remains<'r>>),
    /// The node is among the answers of a query, or, where `negated`, is not.
    Query {
        /// The type whose nodes the query gives.
        type_name: &'r str,
        /// The text of the query. Each of its variables has a claim.
        text: &'r str,
        /// True if the rule holds for the nodes that are not among the answers.
        negated: bool,
    },
}

/// What is prepared once for all rules of a schema.
#[derive(Debug, Default)]
pub struct Rulebook {
    /// The regular expressions of all rules, compiled, by their texts.
    patterns: HashMap<String, Regex>,
    /// The names of the claims that rules look at.
    claims: BTreeSet<String>,
}

impl Rulebook {
    /// Prepares all rules of a model. O(rules), and the compilation of their patterns.
    pub fn new(model: &Model) -> Rulebook {
        let mut book = Rulebook::default();
        for def in &model.types {
            for rule in Operation::ALL.iter().filter_map(|operation| def.auth.of(*operation)) {
                book.note(rule);
            }
        }
        book
    }

    /// Notes the claims and patterns of a rule and of those below it.
    fn note(&mut self, rule: &Rule) {
        match rule {
            Rule::And(rules) | Rule::Or(rules) => rules.iter().for_each(|rule| self.note(rule)),
            Rule::Not(rule) => self.note(rule),
            Rule::Claim { claim, test } => {
                self.claims.insert(claim.clone());
                // The schema was checked, so it compiles; a pattern that is not here matches
                // nothing.
                if let RbacTest::Regexp(pattern) = test
                    && let Ok(regex) = compile_plain(pattern)
                {
                    self.patterns.insert(pattern.clone(), regex);
                }
            }
            Rule::Traversal { variables, .. } => self.claims.extend(variables.iter().cloned()),
        }
    }

    /// Returns the names of the claims that rules use, in alphabetical order. Callers with equal
    /// values of these claims get the same verdicts.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().map(String::as_str)
    }

    /// Decides the rule of a type for an operation. O(rules of the type).
    pub fn verdict<'r>(
        &self,
        rules: &'r AuthRules,
        operation: Operation,
        claims: &Claims,
    ) -> Verdict<'r> {
        match rules.of(operation) {
            Some(rule) => self.evaluate(rule, claims, false),
            None => Verdict::Allow,
        }
    }

    /// Decides a rule, or its opposite where `negated`.
    fn evaluate<'r>(&self, rule: &'r Rule, claims: &Claims, negated: bool) -> Verdict<'r> {
        stack::require();
        match rule {
            Rule::Not(rule) => self.evaluate(rule, claims, !negated),
            Rule::And(rules) | Rule::Or(rules) => {
                let parts = rules.iter().map(|rule| self.evaluate(rule, claims, negated));
                // De Morgan: a negated `and` holds when one of its negated parts does.
                match matches!(rule, Rule::And(_)) != negated {
                    true => all(parts),
                    false => any(parts),
                }
            }
            Rule::Claim { claim, test } => {
                let holds = claims.get(claim).is_some_and(|claim| match test {
                    RbacTest::Eq(expected) => claim_tests::equals(claim, expected),
                    RbacTest::In(expected) => claim_tests::is_in(claim, expected),
                    RbacTest::Regexp(pattern) => self
                        .patterns
                        .get(pattern)
                        .is_some_and(|pattern| claim_tests::matches(claim, pattern)),
                });
                if holds != negated { Verdict::Allow } else { Verdict::Deny }
            }
            Rule::Traversal { type_name, text, variables } => {
                match variables.iter().all(|name| claims.get(name).is_some()) {
                    true => Verdict::Where(Remains::Query { type_name, text, negated }),
                    // Also under `not`: the opposite of a query that can't run is unknown, too.
                    false => Verdict::Deny,
                }
            }
        }
    }
}

/// Joins the verdicts of parts that must all hold.
fn all<'r>(parts: impl Iterator<Item = Verdict<'r>>) -> Verdict<'r> {
    let mut open = Vec::new();
    for part in parts {
        match part {
            Verdict::Deny => return Verdict::Deny,
            Verdict::Allow => {}
            Verdict::Where(remains) => open.push(remains),
        }
    }
    joined(open, Verdict::Allow, Remains::All)
}

/// Joins the verdicts of alternatives.
fn any<'r>(parts: impl Iterator<Item = Verdict<'r>>) -> Verdict<'r> {
    let mut open = Vec::new();
    for part in parts {
        match part {
            Verdict::Allow => return Verdict::Allow,
            Verdict::Deny => {}
            Verdict::Where(remains) => open.push(remains),
        }
    }
    joined(open, Verdict::Deny, Remains::Any)
}

/// Joins what is open of several parts; `none` when nothing is.
fn joined<'r>(
    mut open: Vec<Remains<'r>>,
    none: Verdict<'r>,
    join: fn(Vec<Remains<'r>>) -> Remains<'r>,
) -> Verdict<'r> {
    match open.len() {
        0 => none,
        1 => Verdict::Where(open.remove(0)),
        _ => Verdict::Where(join(open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claim(value: &str) -> Rule {
        Rule::Claim { claim: "ROLE".to_owned(), test: RbacTest::Eq(json!(value)) }
    }

    fn query(text: &str, variables: &[&str]) -> Rule {
        let variables = variables.iter().map(|name| (*name).to_owned()).collect();
        Rule::Traversal { type_name: "T".to_owned(), text: text.to_owned(), variables }
    }

    fn requested(text: &str, negated: bool) -> Remains<'_> {
        Remains::Query { type_name: "T", text, negated }
    }

    fn reported(rule: &Rule) -> Verdict<'_> {
        let mut claims = serde_json::Map::new();
        claims.insert("ROLE".to_owned(), json!("A"));
        claims.insert("USER".to_owned(), json!("u"));
        claims.insert("N".to_owned(), json!(null));
        Rulebook::default().evaluate(rule, &Claims::new(claims), false)
    }

    fn not(rule: Rule) -> Rule {
        Rule::Not(Box::new(rule))
    }

    #[test]
    fn claims_decide_at_once() {
        assert_eq!(reported(&claim("A")), Verdict::Allow);
        assert_eq!(reported(&not(claim("A"))), Verdict::Deny);
        assert_eq!(reported(&Rule::Or(vec![query("q", &[]), claim("A")])), Verdict::Allow);
        assert_eq!(reported(&Rule::And(vec![query("q", &[]), claim("B")])), Verdict::Deny);
    }

    #[test]
    fn what_is_decided_drops_out() {
        let rule = Rule::And(vec![claim("A"), query("q", &["USER"])]);
        assert_eq!(reported(&rule), Verdict::Where(requested("q", false)));
        let rule = Rule::Or(vec![claim("B"), query("q", &[]), query("r", &[])]);
        let parts = vec![requested("q", false), requested("r", false)];
        assert_eq!(reported(&rule), Verdict::Where(Remains::Any(parts)));
    }

    #[test]
    fn negations_move_to_the_leaves() {
        let rule = not(Rule::And(vec![query("q", &[]), not(query("r", &[]))]));
        let parts = vec![requested("q", true), requested("r", false)];
        assert_eq!(reported(&rule), Verdict::Where(Remains::Any(parts)));
    }

    #[test]
    fn a_missing_claim_permits_nothing() {
        assert_eq!(reported(&query("q", &["X"])), Verdict::Deny);
        assert_eq!(reported(&query("q", &["N"])), Verdict::Deny);
        assert_eq!(reported(&not(query("q", &["X"]))), Verdict::Deny);
        let rule = not(Rule::And(vec![query("q", &["X"]), claim("B")]));
        assert_eq!(reported(&rule), Verdict::Allow);
    }
}
