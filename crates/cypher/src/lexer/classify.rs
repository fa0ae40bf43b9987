//! The third pass: what each fragment means where it is. A word is a keyword only where the
//! language has one: `AND` and the clauses follow an operand, `ORDER` needs its `BY`, and after
//! `.`, `:` and `AS` is always a name. So `MATCH (end) RETURN end.order AS limit` needs no
//! backticks.

use super::brackets::{Brackets, check_nesting};
use super::fragment::{Fragment, Located};
use super::patterns::Patterns;
use super::scan::fragments;
use super::state::{Context, Spanned, State};
use super::words::Words;
use crate::error::Fault;
use crate::span::Span;
use crate::syntax::ast::Name;
use crate::syntax::token::{Sign, Token};
use rustc_hash::{FxHashMap, FxHashSet};

/// Splits a text into tokens.
///
/// # Errors
/// What no grammar could read: characters without a meaning, literals that are written wrongly,
/// brackets without the other one, and nesting that is too deep.
pub(crate) fn tokens(text: &str) -> Result<Vec<Spanned>, Fault> {
    let fragments = fragments(text)?;
    let brackets = Brackets::new(text, &fragments)?;
    let patterns = Patterns { text, fragments: &fragments, brackets: &brackets };
    let mut classifier = Classifier {
        state: State {
            patterns,
            index: 0,
            result: Vec::with_capacity(fragments.len()),
            contexts: Vec::new(),
            is_operand: false,
        },
        relationships: FxHashMap::default(),
        bars: FxHashSet::default(),
        is_key: false,
        is_behind_imports: false,
        list_types: 0,
    };
    while classifier.state.index < fragments.len() {
        classifier.step()?;
    }
    Ok(classifier.state.result)
}

/// The state of the pass.
struct Classifier<'a> {
    state: State<'a>,
    /// The tokens of relationships to come, by the index of their first fragment.
    relationships: FxHashMap<usize, (Token, usize)>,
    /// The indexes of the `|` before the results of comprehensions.
    bars: FxHashSet<usize>,
    /// Whether the next fragment may be the key of a map.
    is_key: bool,
    /// Whether the last token closes the names after `CALL`.
    is_behind_imports: bool,
    /// How many `LIST<` are open.
    list_types: usize,
}

impl Classifier<'_> {
    fn step(&mut self) -> Result<(), Fault> {
        if let Some((token, length)) = self.relationships.remove(&self.state.index) {
            match token {
                Token::RelationshipOpen(_) => self.state.contexts.push(Context::Relationship),
                Token::RelationshipClose(_) => self.close(),
                _ => {}
            }
            self.state.is_operand = false;
            self.push(token, length);
            return Ok(());
        }
        let Located { kind, span } = &self.state.patterns.fragments[self.state.index];
        let is_key = std::mem::take(&mut self.is_key);
        match kind {
            Fragment::Integer(value) => self.operand(Token::Integer(*value)),
            Fragment::Float(value) => self.operand(Token::Float(*value)),
            Fragment::String(value) => self.operand(Token::String(value.clone())),
            Fragment::Parameter(name) => self.operand(Token::Parameter(name.clone())),
            Fragment::Sign(sign) => self.sign(*sign, *span)?,
            Fragment::Quoted(name) => match self.function(is_key) {
                Some((name, length)) => self.open_function(Token::FunctionOpen(name), length),
                None => self.operand(Token::Name(name.clone())),
            },
            Fragment::Word => self.word(is_key, *span)?,
        }
        Ok(())
    }

    fn word(&mut self, is_key: bool, span: Span) -> Result<(), Fault> {
        let is_name = is_key || self.is_name_position();
        let keyword = if is_name { None } else { Words { at: &self.state }.keyword() };
        if let Some((token, length)) = keyword {
            match &token {
                Token::Case => {
                    self.state.contexts.push(Context::Case);
                    check_nesting(self.state.contexts.len(), span)?;
                }
                Token::End => self.close(),
                Token::Where => {
                    // What follows is a condition, in which `*` multiplies.
                    if let Some(last @ Context::Relationship) = self.state.contexts.last_mut() {
                        *last = Context::Brackets;
                    }
                }
                Token::ExistsOpen | Token::CountOpen | Token::CollectOpen => {
                    self.state.contexts.push(Context::Subquery);
                }
                Token::QuantifierOpen(_) | Token::ShortestPathOpen(_) => {
                    self.state.contexts.push(Context::Brackets);
                }
                Token::ListTypeOpen => self.list_types += 1,
                Token::ReduceOpen => {
                    self.state.contexts.push(Context::Brackets);
                    self.bars.extend(self.state.patterns.bar(self.state.index + 1));
                }
                _ => {}
            }
            self.state.is_operand = completes_operand(&token);
            self.push(token, length);
            return Ok(());
        }
        match self.function(is_key) {
            Some((name, length)) => self.open_function(Token::FunctionOpen(name), length),
            None => self.operand(Token::Name(span.of(self.state.patterns.text).into())),
        }
        Ok(())
    }

    /// Whether any word is a name here: after `.`, a label's `:`, `AS`, and the like.
    fn is_name_position(&self) -> bool {
        let is_dot = |token: &Token| *token == Token::Sign(Sign::Dot);
        match self.state.last() {
            Some(Token::As | Token::IsType(_) | Token::ListTypeOpen) => {
                // `IS :: LIST<...>` has a token of its own.
                !self.state.patterns.is_word(self.state.index, "list")
            }
            Some(Token::Sign(Sign::Colon)) => !self.is_map_colon(),
            Some(Token::Sign(Sign::Pipe | Sign::Ampersand | Sign::Bang)) => true,
            Some(token) => is_dot(token),
            None => false,
        }
    }

    /// Whether the last token, a colon, is after the key of a map.
    fn is_map_colon(&self) -> bool {
        let before = self.state.result.len().checked_sub(3).map(|it| &self.state.result[it].1);
        self.state.contexts.last() == Some(&Context::Map)
            && matches!(before, Some(Token::Sign(Sign::BraceOpen | Sign::Comma)))
    }

    /// The name of the function whose call begins here, with the number of its fragments.
    fn function(&self, is_key: bool) -> Option<(Name, usize)> {
        if is_key || self.state.last() == Some(&Token::Sign(Sign::Dot)) || self.is_label() {
            return None;
        }
        let (start, fragments) = (self.state.index, self.state.patterns.fragments);
        let mut end = start;
        while self.state.patterns.sign(end + 1) == Some(Sign::Dot)
            && self.state.patterns.is_name(end + 2)
        {
            end += 2;
        }
        if self.state.patterns.sign(end + 1) != Some(Sign::RoundOpen) {
            return None;
        }
        let parts = fragments[start..=end].iter().step_by(2).map(|part| match &part.kind {
            Fragment::Quoted(name) => name,
            _ => part.span.of(self.state.patterns.text),
        });
        let text = parts.collect::<Vec<_>>().join(".").into();
        let span = Span { start: fragments[start].span.start, end: fragments[end].span.end };
        Some((Name { text, span }, end + 2 - start))
    }

    /// Whether a label is read: `(n:Label (`.
    fn is_label(&self) -> bool {
        match self.state.last() {
            Some(Token::Sign(Sign::Colon)) => !self.is_map_colon(),
            Some(Token::Sign(Sign::Pipe | Sign::Ampersand | Sign::Bang)) => true,
            _ => false,
        }
    }

    fn open_function(&mut self, token: Token, length: usize) {
        self.state.contexts.push(Context::Brackets);
        self.state.is_operand = false;
        self.push(token, length);
    }

    fn sign(&mut self, sign: Sign, span: Span) -> Result<(), Fault> {
        let mut token = Token::Sign(sign);
        let is_behind_imports = std::mem::take(&mut self.is_behind_imports);
        let mut is_operand = false;
        match sign {
            Sign::RoundOpen => {
                let is_call = self.state.last() == Some(&Token::Call);
                self.state.contexts.push(if is_call {
                    Context::Imports
                } else {
                    Context::Brackets
                });
                if let Some(tokens) = self.state.patterns.relationship(self.state.index) {
                    let tokens =
                        tokens.into_iter().map(|(at, token, length)| (at, (token, length)));
                    self.relationships.extend(tokens);
                    token = Token::PatternOpen;
                }
            }
            Sign::SquareOpen => token = self.square_open(),
            Sign::BraceOpen => {
                let is_subquery = is_behind_imports || self.state.last() == Some(&Token::Call);
                self.state.contexts.push(if is_subquery {
                    Context::Subquery
                } else {
                    Context::Map
                });
                self.is_key = !is_subquery;
            }
            Sign::RoundClose | Sign::SquareClose | Sign::BraceClose => {
                self.is_behind_imports = self.state.contexts.last() == Some(&Context::Imports);
                self.close();
                is_operand = true;
            }
            Sign::Comma => self.is_key = self.state.contexts.last() == Some(&Context::Map),
            Sign::Pipe if self.bars.contains(&self.state.index) => token = Token::Bar,
            Sign::Star => is_operand = self.is_star(),
            Sign::DotDot => {
                is_operand = self.state.contexts.last() == Some(&Context::Relationship);
            }
            Sign::Percent => is_operand = self.is_label(),
            Sign::Greater if 0 < self.list_types => {
                self.list_types -= 1;
                is_operand = true;
            }
            _ => {}
        }
        check_nesting(self.state.contexts.len(), span)?;
        self.state.is_operand = is_operand;
        self.push(token, 1);
        Ok(())
    }

    fn square_open(&mut self) -> Token {
        let index = self.state.index;
        self.state.contexts.push(Context::Brackets);
        // An index into a value is no comprehension.
        if self.state.is_operand {
            return Token::Sign(Sign::SquareOpen);
        }
        let patterns = self.state.patterns;
        let begins_pattern = |at: usize| {
            patterns.sign(at) == Some(Sign::RoundOpen) && patterns.relationship(at).is_some()
        };
        let named = patterns.is_name(index + 1);
        if named && patterns.is_word(index + 2, "in") && !patterns.brackets.has_comma(index) {
            self.bars.extend(patterns.bar(index));
            Token::ComprehensionOpen
        } else if named
            && !patterns.brackets.has_comma(index)
            && patterns.sign(index + 2) == Some(Sign::Equal)
            && begins_pattern(index + 3)
        {
            self.bars.extend(patterns.bar(index));
            Token::PathComprehensionOpen
        } else {
            if begins_pattern(index + 1) {
                self.bars.extend(patterns.bar(index));
            }
            Token::Sign(Sign::SquareOpen)
        }
    }

    /// Whether the star here is no multiplication: `RETURN *`, `count(*)`, `[r*]`.
    fn is_star(&self) -> bool {
        self.state.contexts.last() == Some(&Context::Relationship)
            || matches!(
                self.state.last(),
                Some(
                    Token::Return
                        | Token::With
                        | Token::Distinct
                        | Token::Yield
                        | Token::FunctionOpen(_)
                        | Token::Sign(Sign::RoundOpen | Sign::Dot)
                )
            )
    }

    /// Leaves a pair of brackets, and each `CASE` in it that has no `END`.
    fn close(&mut self) {
        if self.state.contexts.pop() == Some(Context::Case)
            && self.state.patterns.sign(self.state.index).is_some()
        {
            while self.state.contexts.pop() == Some(Context::Case) {}
        }
    }

    fn operand(&mut self, token: Token) {
        self.state.is_operand = true;
        self.push(token, 1);
    }

    fn push(&mut self, token: Token, length: usize) {
        let fragments = &self.state.patterns.fragments[self.state.index..self.state.index + length];
        let (first, last) = (&fragments[0], &fragments[length - 1]);
        self.state.result.push((first.span.start as usize, token, last.span.end as usize));
        self.state.index += length;
    }
}

/// Whether a keyword completes an operand, so that an operator or a clause may follow.
fn completes_operand(token: &Token) -> bool {
    use Token::{Ascending, Descending, End, False, IsNull, NotNull, Null, Nulls, True};
    matches!(
        token,
        Null | True | False | End | IsNull(_) | NotNull | Ascending | Descending | Nulls(_)
    )
}
