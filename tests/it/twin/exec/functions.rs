//! Functions as questions to one node.

use super::state::{Outcome, Twin, refuse};
use crate::twin::graph::Facets;
use hexgraph::internals::plan::{
    Argument, Call, Comparison, Function, Operand, PredicateRef, TermIndex, TextMatch, TextTest,
    VarId,
};
use hexgraph::internals::text;
use hexgraph::types::{Value, ValueType};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A question to one node.
pub type Test<'t> = Box<dyn Fn(u64) -> bool + 't>;

/// A comparison with its arguments in the type of what is compared.
pub struct Condition {
    /// `None` for `between`.
    op: Option<Comparison>,
    pub arguments: Vec<Value>,
}

impl Condition {
    /// Whether a value meets it. Values of types without an order meet nothing but `eq`.
    pub fn holds(&self, value: &Value) -> bool {
        let order = |bound: &Value| value.as_ref().compare(bound.as_ref());
        match (self.op, self.arguments.as_slice()) {
            (Some(Comparison::Eq), any) => {
                any.iter().any(|one| value.as_ref().equals(one.as_ref()))
            }
            (Some(Comparison::Le), [one]) => order(one).is_some_and(Ordering::is_le),
            (Some(Comparison::Lt), [one]) => order(one).is_some_and(Ordering::is_lt),
            (Some(Comparison::Ge), [one]) => order(one).is_some_and(Ordering::is_ge),
            (Some(Comparison::Gt), [one]) => order(one).is_some_and(Ordering::is_gt),
            (None, [low, high]) => {
                order(low).is_some_and(Ordering::is_ge) && order(high).is_some_and(Ordering::is_le)
            }
            _ => false,
        }
    }
}

/// The type in which values are compared.
fn comparable(value_type: ValueType) -> ValueType {
    if value_type == ValueType::Default { ValueType::String } else { value_type }
}

impl<'a> Twin<'a> {
    /// The predicate that a function names exists; refused are languages and directions that it
    /// does not have.
    pub fn existing(&self, name: &PredicateRef) -> Outcome<bool> {
        let Some(definition) = self.definition(&name.name) else { return Ok(false) };
        if name.lang.is_some() && !definition.lang {
            return refuse("a language where there is none");
        }
        if name.reverse && !definition.reverse {
            return refuse("no reverse edges");
        }
        Ok(true)
    }

    /// The question that a function asks.
    pub fn test<'t>(&'t self, function: &'t Function) -> Outcome<Test<'t>> {
        match &function.call {
            Call::Compare { op, left, arguments } => {
                self.compare(left, move |kind| self.condition(*op, arguments, kind))
            }
            Call::Between { left, low, high } => {
                self.compare(left, move |kind| self.between(low, high, kind))
            }
            Call::Terms { predicate, index, expects, text } => {
                self.terms(predicate, *index, *expects, text)
            }
            Call::Text { predicate, test } => match test {
                TextTest::Regexp { pattern, flags } => self.regexp(predicate, pattern, flags),
                TextTest::Near { text, distance } => self.near_text(predicate, text, distance),
            },
            Call::Has(name) => self.has(name),
            Call::Type(name) => Ok(Box::new(move |node| self.graph.types_of(node).contains(name))),
            Call::Uid { uids, vars } => {
                let nodes = self.uid_nodes(uids, vars);
                Ok(Box::new(move |node| nodes.contains(&node)))
            }
            Call::UidIn { predicate, uids, vars } => self.uid_in(predicate, uids, vars),
            _ => refuse("not a function of the twin"),
        }
    }

    /// Literals count only where there is no variable.
    pub fn uid_nodes(&self, uids: &[u64], vars: &[VarId]) -> BTreeSet<u64> {
        match vars {
            [] => uids.iter().copied().collect(),
            vars => vars.iter().flat_map(|var| self.nodes_of(*var)).collect(),
        }
    }

    fn compare<'t>(
        &'t self,
        left: &'t Operand,
        condition: impl Fn(ValueType) -> Outcome<Condition>,
    ) -> Outcome<Test<'t>> {
        match left {
            Operand::Predicate(name) => {
                if !self.existing(name)? {
                    return nothing();
                }
                let kind = self.graph.schema.predicates[&name.name].value_type;
                if kind == ValueType::Uid {
                    return refuse("nodes can't be compared");
                }
                let condition = condition(comparable(kind))?;
                Ok(Box::new(move |node| {
                    let values = self.function_values(node, &name.name, name.lang.as_deref());
                    values.iter().any(|(value, _)| condition.holds(value))
                }))
            }
            Operand::Count(name) => {
                let condition = condition(ValueType::Int)?;
                if !self.existing(name)? {
                    return nothing();
                }
                Ok(Box::new(move |node| condition.holds(&Value::Int(self.postings(node, name)))))
            }
            Operand::Val(var) => {
                let map = self.values_of(*var)?;
                let Some(first) = map.constant.iter().chain(map.of.values()).next() else {
                    return nothing();
                };
                let condition = condition(comparable(first.value_type()))?;
                Ok(Box::new(move |node| map.get(node).is_some_and(|value| condition.holds(value))))
            }
            Operand::Len(var) => {
                let length = Value::Int(self.nodes_of(*var).len() as i64);
                let holds = condition(ValueType::Int)?.holds(&length);
                Ok(Box::new(move |_| holds))
            }
        }
    }

    /// The arguments of a comparison in a type.
    pub fn condition(
        &self,
        op: Comparison,
        arguments: &[Argument],
        kind: ValueType,
    ) -> Outcome<Condition> {
        let mut values = Vec::new();
        for argument in arguments {
            values.extend(self.argument(argument, kind)?);
        }
        let by_variable = arguments.iter().any(|argument| matches!(argument, Argument::Val(_)));
        if op != Comparison::Eq && values.len() != 1 {
            if !by_variable {
                return refuse("exactly one argument is wanted");
            }
            values.clear();
        }
        Ok(Condition { op: Some(op), arguments: values })
    }

    /// The two arguments of `between` in a type.
    pub fn between(&self, low: &Argument, high: &Argument, kind: ValueType) -> Outcome<Condition> {
        let low = self.argument(low, kind)?;
        let high = self.argument(high, kind)?;
        Ok(Condition { op: None, arguments: [low, high].concat() })
    }

    /// One argument: a text, or the distinct values of a variable.
    fn argument(&self, argument: &Argument, kind: ValueType) -> Outcome<Vec<Value>> {
        let texts: BTreeSet<String> = match argument {
            Argument::Text(text) => BTreeSet::from([text.clone()]),
            Argument::Val(var) => {
                let map = self.values_of(*var)?;
                let text = |value: &Value| match value.as_ref().convert(ValueType::String) {
                    Ok(Value::String(text)) => Some(text),
                    _ => None,
                };
                map.of.values().chain(&map.constant).filter_map(text).collect()
            }
        };
        let parse = |text: &String| Value::parse(text, kind);
        match texts.iter().map(parse).collect::<Result<_, _>>() {
            Ok(values) => Ok(values),
            Err(reason) => refuse(reason.to_string()),
        }
    }

    /// The values that a function looks at: in one language, with `.` in all.
    pub fn function_values(
        &self,
        node: u64,
        name: &str,
        lang: Option<&str>,
    ) -> Vec<(Value, Facets)> {
        match lang {
            Some(".") => {
                let langs = self.graph.langs(node, name);
                langs.iter().flat_map(|lang| self.graph.values(node, name, lang)).collect()
            }
            Some(lang) => self.graph.values(node, name, lang),
            None => self.untagged(node, name),
        }
    }

    /// The values that are read where no language is named: the untagged ones; all, tagged ones
    /// first, of a predicate that has no languages any more.
    pub fn untagged(&self, node: u64, name: &str) -> Vec<(Value, Facets)> {
        if self.definition(name).is_none_or(|definition| definition.lang) {
            return self.graph.values(node, name, "");
        }
        let (untagged, tagged): (Vec<String>, Vec<String>) =
            self.graph.langs(node, name).into_iter().partition(String::is_empty);
        let langs = tagged.iter().chain(&untagged);
        langs.flat_map(|lang| self.graph.values(node, name, lang)).collect()
    }

    /// The values in the first of the languages that [`Twin::untagged`] reads.
    pub fn first_untagged(&self, node: u64, name: &str) -> Vec<(Value, Facets)> {
        match self.definition(name).is_none_or(|definition| definition.lang) {
            true => self.graph.values(node, name, ""),
            false => self.first_values(node, name),
        }
    }

    /// The untagged values, else those of the first language.
    pub fn first_values(&self, node: u64, name: &str) -> Vec<(Value, Facets)> {
        let langs = self.graph.langs(node, name);
        langs.first().map(|lang| self.graph.values(node, name, lang)).unwrap_or_default()
    }

    /// What `count(p)` counts in a comparison: edges, or values in all languages.
    pub fn postings(&self, node: u64, name: &PredicateRef) -> i64 {
        let definition = &self.graph.schema.predicates[&name.name];
        if definition.is_edges() {
            return self.graph.targets(node, &name.name, name.reverse).len() as i64;
        }
        let langs = self.graph.langs(node, &name.name);
        let sizes = langs.iter().map(|lang| self.graph.values(node, &name.name, lang).len() as i64);
        sizes.sum()
    }

    fn terms<'t>(
        &'t self,
        name: &'t PredicateRef,
        index: TermIndex,
        expects: TextMatch,
        text: &str,
    ) -> Outcome<Test<'t>> {
        if !self.existing(name)? {
            return nothing();
        }
        let title = match index {
            TermIndex::Term => "term",
            TermIndex::FullText => "fulltext",
            TermIndex::NGram => "ngram",
        };
        if !self.graph.schema.predicates[&name.name].has_index(title) {
            return refuse("no index of words");
        }
        let lang = name.lang.clone().unwrap_or_default();
        let plain = if lang == "." { "" } else { &lang };
        let expected = query_tokens(index, text, plain);
        // Without languages there are still values from when there were some.
        let any = lang == "." || !self.graph.schema.predicates[&name.name].lang;
        Ok(Box::new(move |node| {
            let langs = if any { self.graph.langs(node, &name.name) } else { vec![lang.clone()] };
            langs.iter().any(|lang| {
                let values = self.graph.values(node, &name.name, lang);
                let have: BTreeSet<Vec<u8>> =
                    values.iter().flat_map(|(value, _)| value_tokens(index, value, lang)).collect();
                match expects {
                    TextMatch::All => !expected.is_empty() && expected.is_subset(&have),
                    TextMatch::Any => !expected.is_disjoint(&have),
                }
            })
        }))
    }

    fn regexp<'t>(
        &'t self,
        name: &'t PredicateRef,
        pattern: &str,
        flags: &str,
    ) -> Outcome<Test<'t>> {
        if !self.existing(name)? {
            return nothing();
        }
        if self.graph.schema.predicates[&name.name].value_type != ValueType::String {
            return refuse("regexp is for strings");
        }
        let Ok(regex) = text::compile(pattern, flags) else { return refuse("a bad pattern") };
        Ok(self.text_test(name, move |text| !text.is_empty() && regex.is_match(text)))
    }

    fn near_text<'t>(
        &'t self,
        name: &'t PredicateRef,
        text: &'t str,
        distance: &str,
    ) -> Outcome<Test<'t>> {
        if !self.existing(name)? {
            return nothing();
        }
        if !self.graph.schema.predicates[&name.name].has_index("trigram") {
            return refuse("no trigram index");
        }
        let Ok(distance) = distance.parse::<usize>() else { return refuse("a bad distance") };
        Ok(self.text_test(name, move |other| {
            !other.is_empty() && edit_distance(text, other) <= distance
        }))
    }

    fn text_test<'t>(
        &'t self,
        name: &'t PredicateRef,
        passes: impl Fn(&str) -> bool + 't,
    ) -> Test<'t> {
        Box::new(move |node| {
            let values = self.function_values(node, &name.name, name.lang.as_deref());
            values.iter().any(|(value, _)| match value {
                Value::String(text) | Value::Default(text) => passes(text),
                _ => false,
            })
        })
    }

    fn has<'t>(&'t self, name: &'t PredicateRef) -> Outcome<Test<'t>> {
        if !self.existing(name)? {
            return nothing();
        }
        if self.graph.schema.predicates[&name.name].is_edges() {
            return Ok(Box::new(|node| {
                !self.graph.targets(node, &name.name, name.reverse).is_empty()
            }));
        }
        Ok(Box::new(|node| {
            !self.function_values(node, &name.name, name.lang.as_deref()).is_empty()
        }))
    }

    fn uid_in<'t>(
        &'t self,
        name: &'t PredicateRef,
        uids: &[u64],
        vars: &[VarId],
    ) -> Outcome<Test<'t>> {
        if !self.existing(name)? {
            return nothing();
        }
        if !self.graph.schema.predicates[&name.name].is_edges() {
            return refuse("uid_in is for edges");
        }
        let mut expected: BTreeSet<u64> = uids.iter().copied().collect();
        expected.extend(vars.iter().flat_map(|var| self.nodes_of(*var)));
        Ok(Box::new(move |node| {
            let targets = self.graph.targets(node, &name.name, name.reverse);
            targets.keys().any(|target| expected.contains(target))
        }))
    }
}

fn nothing<'t>() -> Outcome<Test<'t>> {
    Ok(Box::new(|_| false))
}

/// True for the types that are text.
pub fn is_text(value_type: ValueType) -> bool {
    matches!(value_type, ValueType::String | ValueType::Default)
}

fn query_tokens(index: TermIndex, text: &str, lang: &str) -> BTreeSet<Vec<u8>> {
    let mut tokens = BTreeSet::new();
    match index {
        TermIndex::Term => text::TermAnalyzer::new().query(text, |token| {
            tokens.insert(token.as_bytes().to_vec());
        }),
        TermIndex::FullText => text::FulltextAnalyzer::new().tokens(text, lang, |token| {
            tokens.insert(token.as_bytes().to_vec());
        }),
        TermIndex::NGram => text::NgramAnalyzer::new().query(text, lang, |token| {
            tokens.insert(token.to_vec());
        }),
    }
    tokens
}

/// The words of a text as `term` has them, for facets, too.
pub fn terms_of(text: &str) -> BTreeSet<Vec<u8>> {
    query_tokens(TermIndex::Term, text, "")
}

fn value_tokens(index: TermIndex, value: &Value, lang: &str) -> BTreeSet<Vec<u8>> {
    let (Value::String(text) | Value::Default(text)) = value else { return BTreeSet::new() };
    let mut tokens = BTreeSet::new();
    match index {
        TermIndex::Term => text::TermAnalyzer::new().value(text, lang, |token| {
            tokens.insert(token.as_bytes().to_vec());
        }),
        TermIndex::FullText => return query_tokens(index, text, lang),
        TermIndex::NGram => text::NgramAnalyzer::new().value(text, |token| {
            tokens.insert(token.to_vec());
        }),
    }
    tokens
}

/// Levenshtein's distance, by the table.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut next = vec![line + 1];
        for (column, another) in other.iter().enumerate() {
            let swap = row[column] + usize::from(letter != *another);
            next.push(swap.min(row[column + 1] + 1).min(next[column] + 1));
        }
        row = next;
    }
    row[other.len()]
}
