//! Lowers functions that select nodes: checks their names, and the number and the kinds of their
//! arguments.

use super::other_languages::function_for;
use crate::lower::request::Lowering;
use crate::syntax::ast::{self, Value};
use crate::syntax::keyword_kind::KeywordKind;
use crate::syntax::token::Text;
use hexgraph_base::plan::{
    Argument, Call, Comparison, Function, GeoRelation, Operand, PredicateRef, PredicateUse,
    TermIndex, TextMatch, TextTest, VarId,
};
use hexgraph_base::types::{Error, Result, nearest};

/// The greatest length of the name of a predicate, in bytes.
const PREDICATE_LENGTH_MAX: usize = 65_535;

/// A function that selects nodes, or is only an argument of such a function.
pub(crate) struct FunctionForm {
    /// The name.
    pub(crate) name: &'static str,
    /// A call of it, for hints.
    pub(crate) form: &'static str,
    /// What it is for editors.
    pub(crate) kind: KeywordKind,
    /// What the predicate must allow, for functions of a predicate and a text that need an index.
    pub(crate) of_text: Option<PredicateUse>,
}

/// All of them. Editors, the grammar for language models and hints of errors read them here.
pub(crate) const FUNCTIONS: [FunctionForm; 26] = [
    condition("eq", "eq(name, \"Ada\")"),
    condition("le", "le(age, 30)"),
    condition("lt", "lt(age, 30)"),
    condition("ge", "ge(age, 30)"),
    condition("gt", "gt(age, 30)"),
    condition("between", "between(age, 20, 30)"),
    of_text("anyofterms", "anyofterms(name, \"Ada Bob\")", PredicateUse::Terms),
    of_text("allofterms", "allofterms(name, \"Ada Bob\")", PredicateUse::Terms),
    of_text("anyoftext", "anyoftext(text, \"some words\")", PredicateUse::FullText),
    of_text("alloftext", "alloftext(text, \"some words\")", PredicateUse::FullText),
    of_text("ngram", "ngram(text, \"some words\")", PredicateUse::NGram),
    condition("regexp", "regexp(name, /pattern/i)"),
    condition("match", "match(name, \"Ada\", 3)"),
    condition("has", "has(name)"),
    condition("type", "type(Person)"),
    condition("uid", "uid(0x1, x)"),
    condition("uid_in", "uid_in(friend, 0x1)"),
    condition("near", "near(location, [8.5, 47.4], 1000)"),
    condition("within", "within(location, [[[8, 47], [9, 47], [9, 48], [8, 47]]])"),
    condition("intersects", "intersects(area, [[[8, 47], [9, 47], [9, 48], [8, 47]]])"),
    condition("contains", "contains(area, [8.5, 47.4])"),
    condition("similar_to", "similar_to(vector, 10, \"[0.1, 0.2]\")"),
    // The executor refuses these: there are no tokenizers of users.
    other("anyof", "anyof(name, tokenizer, \"value\")", KeywordKind::Word),
    other("allof", "allof(name, tokenizer, \"value\")", KeywordKind::Word),
    other("val", "val(x)", KeywordKind::Field),
    other("count", "count(friend)", KeywordKind::Field),
];

const fn condition(name: &'static str, form: &'static str) -> FunctionForm {
    other(name, form, KeywordKind::Condition)
}

const fn of_text(name: &'static str, form: &'static str, needs: PredicateUse) -> FunctionForm {
    FunctionForm { of_text: Some(needs), ..condition(name, form) }
}

const fn other(name: &'static str, form: &'static str, kind: KeywordKind) -> FunctionForm {
    FunctionForm { name, form, kind, of_text: None }
}

/// Returns a hint with the syntax of a function; empty for an unknown one.
fn form_of(name: &str) -> String {
    let result = FUNCTIONS.iter().find(|function| function.name.eq_ignore_ascii_case(name));
    result.map_or_else(String::new, |function| format!("write `{}`", function.form))
}

impl<'a> Lowering<'a> {
    /// Lowers the root function of a block.
    pub(in crate::lower) fn root_call(&mut self, call: &'a ast::Call) -> Result<Function> {
        let function = self.filter_call(call)?;
        let refused = match &function.call {
            Call::UidIn { .. } => "uid_in",
            Call::Compare { left: Operand::Len(_), .. }
            | Call::Between { left: Operand::Len(_), .. } => "len",
            _ => return Ok(function),
        };
        let message = format!("`{refused}` can't be the function of a block");
        Err(self.error_with(call.name.start, message, "use it in a filter"))
    }

    /// Lowers a function of a filter.
    pub(in crate::lower) fn filter_call(&mut self, call: &'a ast::Call) -> Result<Function> {
        let name = self.text(&call.name);
        // No function has a name of more than 16 bytes, so the small letters
        // need no memory of their own; what is longer is unknown anyway.
        let mut lower = [0; 16];
        let lower = match lower.get_mut(..name.len()) {
            Some(lower) => {
                lower.copy_from_slice(name.as_bytes());
                lower.make_ascii_lowercase();
                std::str::from_utf8(lower).unwrap_or(name)
            }
            None => name,
        };
        let call = self.by_name(lower, call)?;
        Ok(call)
    }

    fn by_name(&mut self, name: &str, call: &'a ast::Call) -> Result<Function> {
        if let Some(op) = Comparison::from_name(name) {
            let meaning = self.compare(call, op)?;
            return Ok(self.at(call, meaning));
        }
        let meaning = match name {
            "between" => self.between(call)?,
            "anyofterms" => self.terms(call, TermIndex::Term, TextMatch::Any)?,
            "allofterms" => self.terms(call, TermIndex::Term, TextMatch::All)?,
            "anyoftext" => self.terms(call, TermIndex::FullText, TextMatch::Any)?,
            "alloftext" => self.terms(call, TermIndex::FullText, TextMatch::All)?,
            // A long phrase has several tokens; one match is enough, as in Dgraph.
            "ngram" => self.terms(call, TermIndex::NGram, TextMatch::Any)?,
            "regexp" => self.regexp(call)?,
            "match" => self.match_distance(call)?,
            "has" => {
                self.check_count(call, 1)?;
                Call::Has(self.attribute(call)?)
            }
            "type" => self.type_name(call)?,
            "uid" => self.uid(call)?,
            "uid_in" => self.uid_in(call)?,
            "near" => self.geo(call, GeoRelation::Near, 3)?,
            "within" => self.geo(call, GeoRelation::Within, 2)?,
            "contains" => self.geo(call, GeoRelation::Contains, 2)?,
            "intersects" => self.geo(call, GeoRelation::Intersects, 2)?,
            "similar_to" => self.similar_to(call)?,
            "anyof" | "allof" => self.custom_terms(call)?,
            _ => return Err(self.unknown_function(name, call)),
        };
        Ok(self.at(call, meaning))
    }

    fn at(&self, call: &'a ast::Call, meaning: Call) -> Function {
        Function { call: meaning, at: self.source.position(call.name.start) }
    }

    fn unknown_function(&self, name: &str, call: &'a ast::Call) -> Error {
        let (message, hint) = match name {
            "var" => ("`var` is no function".to_owned(), "write `uid(x)`".to_owned()),
            "val" | "count" | "len" => {
                let message = format!("`{name}` is only an argument of another function");
                (message, format!("write `eq({name}(...), ...)`"))
            }
            "checkpwd" => {
                let message = "`checkpwd` can't choose nodes".to_owned();
                (message, "use it as a field".to_owned())
            }
            _ => {
                let names = || FUNCTIONS.iter().map(|function| function.name);
                let hint = match (function_for(name), nearest(name, names())) {
                    (Some(written), _) => written.to_owned(),
                    (None, Some(existing)) => format!("did you mean `{existing}`?"),
                    (None, None) => {
                        let is_condition =
                            |function: &&FunctionForm| function.kind == KeywordKind::Condition;
                        let existing = FUNCTIONS.iter().filter(is_condition);
                        let existing = existing.map(|function| function.name);
                        format!("valid are {}", existing.collect::<Vec<_>>().join(", "))
                    }
                };
                (format!("unknown function `{name}`"), hint)
            }
        };
        self.error_with(call.name.start, message, hint)
    }

    fn terms(&mut self, call: &'a ast::Call, index: TermIndex, expects: TextMatch) -> Result<Call> {
        let predicate = self.attribute(call)?;
        self.check_count(call, 2)?;
        let text = self.argument(call, 1)?;
        Ok(Call::Terms { predicate, index, expects, text })
    }

    fn custom_terms(&mut self, call: &'a ast::Call) -> Result<Call> {
        // The predicate and the value are only checked. There are no tokenizers of users: the
        // executor refuses each by its name.
        self.attribute(call)?;
        self.check_count(call, 3)?;
        self.argument(call, 2)?;
        Ok(Call::CustomTerms { tokenizer: self.argument(call, 1)? })
    }

    fn regexp(&mut self, call: &'a ast::Call) -> Result<Call> {
        let predicate = self.attribute(call)?;
        self.check_count(call, 2)?;
        let text = match &call.arguments[1] {
            Value::Regex(text) => self.text(text),
            Value::Variable(name) => self.value_of(name)?,
            _ => "",
        };
        // The flags stand after the last `/`; those before it belong to the pattern, as `\/`.
        let split = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        let Some((pattern, flags)) = split else {
            let message = "`regexp` without a regular expression";
            return Err(self.error_with(
                call.name.start,
                message,
                "write `regexp(name, /pattern/)`",
            ));
        };
        let test =
            TextTest::Regexp { pattern: pattern.replace("\\/", "/"), flags: flags.to_owned() };
        Ok(Call::Text { predicate, test })
    }

    fn match_distance(&mut self, call: &'a ast::Call) -> Result<Call> {
        let predicate = self.attribute(call)?;
        self.check_count(call, 3)?;
        let text = self.argument(call, 1)?;
        let test = TextTest::Near { text, distance: self.argument(call, 2)? };
        Ok(Call::Text { predicate, test })
    }

    fn type_name(&mut self, call: &'a ast::Call) -> Result<Call> {
        self.check_count(call, 1)?;
        let name = self.argument(call, 0)?;
        if name.is_empty() {
            let hint = "write `type(Person)`";
            return Err(self.error_with(call.name.start, "`type` without a name", hint));
        }
        Ok(Call::Type(name))
    }

    fn geo(&mut self, call: &'a ast::Call, relation: GeoRelation, count: usize) -> Result<Call> {
        let predicate = self.attribute(call)?;
        self.check_count(call, count)?;
        let values = call.arguments[1..].iter();
        let arguments =
            values.map(|value| self.geo_argument(call.name.start, value)).collect::<Result<_>>()?;
        Ok(Call::Geo { relation, predicate, arguments })
    }

    fn similar_to(&mut self, call: &'a ast::Call) -> Result<Call> {
        let predicate = self.attribute(call)?;
        // `attribute` has returned a first argument, so the subtraction below does not overflow.
        let [_, _, target, options @ ..] = &call.arguments[..] else {
            return Err(self.wrong_count(call, "a number and a vector", call.arguments.len() - 1));
        };
        let count = self.argument(call, 1)?;
        let target = match target {
            Value::Call(inner) if self.text(&inner.name).eq_ignore_ascii_case("val") => {
                Argument::Val(self.only_variable(inner)?)
            }
            value => Argument::Text(self.text_of_list(call.name.start, value)?.to_owned()),
        };
        let mut list: Vec<(String, String)> = Vec::new();
        for option in options {
            let Value::Named(argument) = option else {
                let message = "unexpected argument of `similar_to`";
                let hint = "options have names: `ef: 64`; a vector is written in quotes";
                return Err(self.error_with(call.name.start, message, hint));
            };
            let at = argument.key.start;
            let key = self.text(&argument.key).to_ascii_lowercase();
            if !matches!(key.as_str(), "ef" | "distance_threshold") {
                let message = format!("`{key}` is no option of `similar_to`");
                return Err(self.error_with(at, message, "expected ef or distance_threshold"));
            }
            if list.iter().any(|(existing, _)| *existing == key) {
                return Err(self.repeated(argument));
            }
            list.push((key, self.scalar(at, &argument.value)?.to_owned()));
        }
        Ok(Call::SimilarTo { predicate, count, target, options: list, admits: None })
    }

    /// Returns the name of a predicate after checking its length.
    pub(in crate::lower) fn predicate_name(&self, name: &'a Text) -> Result<&'a str> {
        let text = self.text(name);
        if text.len() > PREDICATE_LENGTH_MAX {
            let message = format!("a predicate with more than {PREDICATE_LENGTH_MAX} bytes");
            return Err(self.error(name.start, message));
        }
        Ok(text)
    }

    /// Returns the predicate that is the first argument of a function.
    pub(super) fn attribute(&self, call: &'a ast::Call) -> Result<PredicateRef> {
        let function = self.text(&call.name);
        let at = call.name.start;
        let (name, langs) = match call.arguments.first() {
            Some(Value::Word(name, langs)) => (name, langs),
            None => {
                let message = format!("`{function}` without a predicate");
                return Err(self.error_with(at, message, form_of(function)));
            }
            Some(Value::Quoted(name)) => {
                let hint = format!("write `{}` without quotes", self.text(name));
                return Err(self.error_with(name.start, "a predicate in quotes", hint));
            }
            Some(_) => {
                let message = format!("the first argument of `{function}` must be a predicate");
                return Err(self.error(at, message));
            }
        };
        let lang = langs.as_ref().map(|langs| self.text(langs));
        if let Some(lang) = lang.filter(|lang| *lang == "*" || lang.contains(':')) {
            let message = format!("`@{lang}` in a function");
            return Err(self.error_with(name.start, message, "only one language is possible here"));
        }
        let text = self.predicate_name(name)?;
        if text == "uid" {
            return Err(self.uid_is_no_predicate(name.start));
        }
        let (name, reverse) = match text.strip_prefix('~') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let (name, lang) = (name.to_owned(), lang.map(str::to_owned));
        Ok(PredicateRef { name, reverse, lang })
    }

    /// Returns the text of the argument `index`, which has to be a name, a string or a `$variable`.
    fn argument(&self, call: &'a ast::Call, index: usize) -> Result<String> {
        self.scalar(call.name.start, &call.arguments[index]).map(str::to_owned)
    }

    pub(super) fn check_count(&self, call: &'a ast::Call, count: usize) -> Result<()> {
        let result = call.arguments.len();
        if result == count {
            return Ok(());
        }
        Err({
            let plural = if count == 1 { "" } else { "s" };
            self.wrong_count(call, &format!("{count} argument{plural}"), result)
        })
    }

    pub(super) fn wrong_count(&self, call: &'a ast::Call, expected: &str, result: usize) -> Error {
        let name = self.text(&call.name);
        let message = format!("`{name}` takes {expected}, found {result}");
        self.error_with(call.name.start, message, form_of(name))
    }

    /// Makes the error for `uid` instead of a predicate.
    pub(in crate::lower) fn uid_is_no_predicate(&self, at: u32) -> Error {
        self.error_with(at, "`uid` is no predicate", "nodes are chosen by `uid(0x1)`")
    }

    /// Returns the only argument of `val(x)` and similar calls, which is a variable.
    pub(in crate::lower) fn only_variable(&mut self, call: &'a ast::Call) -> Result<VarId> {
        match &call.arguments[..] {
            [Value::Word(name, None)] => Ok(self.read(name)),
            _ => {
                let name = self.text(&call.name);
                let message = format!("`{name}` takes exactly one variable");
                Err(self.error_with(call.name.start, message, format!("write `{name}(x)`")))
            }
        }
    }
}
