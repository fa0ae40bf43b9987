//! A tree of rules and the claims of a caller → yes, no, or what has to be asked of each node.
//!
//! Rules that look at the claims alone are decided here. A query that lacks the claim for a variable is a no, and stays one
//! under `not`: what can't be asked permits nothing. So negations are carried down to the leaves, and what remains has none
//! but around single queries.

use hexgraph_base::types::stack;
use std::collections::{BTreeSet, HashMap};

use regex::Regex;

use crate::auth::{Claims, claim_tests};
use crate::model::{AuthRules, Model, Operation, RbacTest, Rule};
use hexgraph_base::text::compile_plain;

/// Whether somebody may do something.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<'r> {
    /// To all nodes.
    Allow,
    /// To none.
    Deny,
    /// To the nodes for which this holds.
    Where(Remains<'r>),
}

/// What is left of a tree of rules when the claims are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Remains<'r> {
    /// Each holds; two at least.
    All(Vec<Remains<'r>>),
    /// One holds; two at least.
    Any(Vec<Remains<'r>>),
    /// The node is among the answers of a query, or is not.
    Query {
        /// The type whose nodes the query gives.
        type_name: &'r str,
        /// The text; all its variables have claims.
        text: &'r str,
        /// Holds for the nodes that are not among the answers.
        negated: bool,
    },
}

/// The rules of a schema, ready to be asked.
#[derive(Debug, Default)]
pub struct Rulebook {
    /// The patterns of all rules, compiled.
    patterns: HashMap<String, Regex>,
    /// The claims that rules name.
    claims: BTreeSet<String>,
}

impl Rulebook {
    /// Of all rules in a model. O(rules).
    pub fn new(model: &Model) -> Rulebook {
        let mut book = Rulebook::default();
        for def in &model.types {
            for rule in Operation::ALL.iter().filter_map(|operation| def.auth.of(*operation)) {
                book.note(rule);
            }
        }
        book
    }

    fn note(&mut self, rule: &Rule) {
        match rule {
            Rule::And(rules) | Rule::Or(rules) => rules.iter().for_each(|rule| self.note(rule)),
            Rule::Not(rule) => self.note(rule),
            Rule::Claim { claim, test } => {
                self.claims.insert(claim.clone());
                // The schema was checked, so it compiles; a pattern that is not here matches nothing.
                if let RbacTest::Regexp(pattern) = test
                    && let Ok(regex) = compile_plain(pattern)
                {
                    self.patterns.insert(pattern.clone(), regex);
                }
            }
            Rule::Traversal { variables, .. } => self.claims.extend(variables.iter().cloned()),
        }
    }

    /// The claims that rules name, in order: of two callers who agree in them no rule can tell who is who.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().map(String::as_str)
    }

    /// What the rules of a type say about an operation. O(rules of the type).
    pub fn verdict<'r>(
        &self,
        rules: &'r AuthRules,
        operation: Operation,
        claims: &Claims,
    ) -> Verdict<'r> {
        match rules.of(operation) {
            Some(rule) => self.fold(rule, claims, false),
            None => Verdict::Allow,
        }
    }

    fn fold<'r>(&self, rule: &'r Rule, claims: &Claims, negated: bool) -> Verdict<'r> {
        stack::require();
        match rule {
            Rule::Not(rule) => self.fold(rule, claims, !negated),
            Rule::And(rules) | Rule::Or(rules) => {
                let parts = rules.iter().map(|rule| self.fold(rule, claims, negated));
                match matches!(rule, Rule::And(_)) != negated {
                    true => all(parts),
                    false => any(parts),
                }
            }
            Rule::Claim { claim, test } => {
                let holds = claims.get(claim).is_some_and(|claim| match test {
                    RbacTest::Eq(wanted) => claim_tests::equals(claim, wanted),
                    RbacTest::In(wanted) => claim_tests::is_in(claim, wanted),
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
                    false => Verdict::Deny,
                }
            }
        }
    }
}

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

    fn asked(text: &str, negated: bool) -> Remains<'_> {
        Remains::Query { type_name: "T", text, negated }
    }

    fn told(rule: &Rule) -> Verdict<'_> {
        let mut claims = serde_json::Map::new();
        claims.insert("ROLE".to_owned(), json!("A"));
        claims.insert("USER".to_owned(), json!("u"));
        claims.insert("N".to_owned(), json!(null));
        Rulebook::default().fold(rule, &Claims::new(claims), false)
    }

    fn not(rule: Rule) -> Rule {
        Rule::Not(Box::new(rule))
    }

    #[test]
    fn claims_decide_at_once() {
        assert_eq!(told(&claim("A")), Verdict::Allow);
        assert_eq!(told(&not(claim("A"))), Verdict::Deny);
        assert_eq!(told(&Rule::Or(vec![query("q", &[]), claim("A")])), Verdict::Allow);
        assert_eq!(told(&Rule::And(vec![query("q", &[]), claim("B")])), Verdict::Deny);
    }

    #[test]
    fn what_is_decided_drops_out() {
        let rule = Rule::And(vec![claim("A"), query("q", &["USER"])]);
        assert_eq!(told(&rule), Verdict::Where(asked("q", false)));
        let rule = Rule::Or(vec![claim("B"), query("q", &[]), query("r", &[])]);
        let parts = vec![asked("q", false), asked("r", false)];
        assert_eq!(told(&rule), Verdict::Where(Remains::Any(parts)));
    }

    #[test]
    fn negations_reach_the_leaves() {
        let rule = not(Rule::And(vec![query("q", &[]), not(query("r", &[]))]));
        let parts = vec![asked("q", true), asked("r", false)];
        assert_eq!(told(&rule), Verdict::Where(Remains::Any(parts)));
    }

    #[test]
    fn a_missing_claim_permits_nothing() {
        assert_eq!(told(&query("q", &["X"])), Verdict::Deny);
        assert_eq!(told(&query("q", &["N"])), Verdict::Deny);
        assert_eq!(told(&not(query("q", &["X"]))), Verdict::Deny);
        let rule = not(Rule::And(vec![query("q", &["X"]), claim("B")]));
        assert_eq!(told(&rule), Verdict::Allow);
    }
}
