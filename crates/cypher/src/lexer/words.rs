//! Which words are keywords where.

use super::fragment::Fragment;
use super::state::{Context, State};
use crate::syntax::ast::QuantifierKind;
use crate::syntax::token::{Sign, Token};

/// The word at the position of the third pass.
pub(super) struct Words<'a, 'b> {
    pub at: &'a State<'b>,
}

impl Words<'_, '_> {
    /// Returns the keyword that begins here with the number of its fragments, or `None` for a name.
    pub(super) fn keyword(&self) -> Option<(Token, usize)> {
        let state = self.at;
        let span = state.patterns.fragments[state.index].span;
        let word = span.of(state.patterns.text);
        // The longest keyword is `allShortestPaths`.
        if word.len() > 16 || !word.is_ascii() {
            return None;
        }
        let word = word.to_ascii_uppercase();
        self.call(&word)
            .or_else(|| self.prefix(&word))
            .or_else(|| if state.is_operand { self.infix(&word) } else { None })
            .or_else(|| if self.may_begin_clause() { self.clause(&word) } else { None })
            .or_else(|| self.filter(&word))
    }

    /// Words that open a bracket.
    fn call(&self, word: &str) -> Option<(Token, usize)> {
        let index = self.at.index;
        let patterns = self.at.patterns;
        if self.at.is_operand && !matches!(word, "COUNT" | "EXISTS" | "COLLECT") {
            return None;
        }
        let opens_round = patterns.sign(index + 1) == Some(Sign::RoundOpen);
        let opens_subquery = patterns.sign(index + 1) == Some(Sign::BraceOpen)
            && !self.at.is_operand
            && !matches!(patterns.sign(index + 2), Some(Sign::Dot | Sign::BraceClose));
        let is_over =
            opens_round && patterns.is_name(index + 2) && patterns.is_word(index + 3, "in");
        let quantifier = |kind| is_over.then_some((Token::QuantifierOpen(kind), 2));
        match word {
            "ALL" => quantifier(QuantifierKind::All),
            "ANY" => quantifier(QuantifierKind::Any),
            "NONE" => quantifier(QuantifierKind::None),
            "SINGLE" => quantifier(QuantifierKind::Single),
            "REDUCE" => {
                let is_reduce = opens_round
                    && patterns.is_name(index + 2)
                    && patterns.sign(index + 3) == Some(Sign::Equal);
                is_reduce.then_some((Token::ReduceOpen, 2))
            }
            "SHORTESTPATH" => opens_round.then_some((Token::ShortestPathOpen(false), 2)),
            "ALLSHORTESTPATHS" => opens_round.then_some((Token::ShortestPathOpen(true), 2)),
            "EXISTS" => opens_subquery.then_some((Token::ExistsOpen, 2)),
            "COUNT" => opens_subquery.then_some((Token::CountOpen, 2)),
            "COLLECT" => opens_subquery.then_some((Token::CollectOpen, 2)),
            _ => None,
        }
    }

    /// Words before an operand.
    fn prefix(&self, word: &str) -> Option<(Token, usize)> {
        let last = self.at.last();
        let is = |index: usize, word: &str| self.at.patterns.is_word(self.at.index + index, word);
        let token = match word {
            "NULL" => Token::Null,
            "TRUE" => Token::True,
            "FALSE" => Token::False,
            "NOT" if self.at.is_operand && is(1, "null") => return Some((Token::NotNull, 2)),
            "NOT" => Token::Not,
            "CASE" => Token::Case,
            "WHEN" if last == Some(&Token::Case) => Token::When,
            "DISTINCT"
                if matches!(last, Some(Token::Return | Token::With | Token::FunctionOpen(_))) =>
            {
                Token::Distinct
            }
            "ANY" if is(1, "shortest") => {
                return Some((Token::AnyShortest, 2 + self.path_word(2)));
            }
            "ALL" if is(1, "shortest") => {
                return Some((Token::AllShortest, 2 + self.path_word(2)));
            }
            // Any path between two nodes is as good as a shortest one.
            "ANY" if self.is_path(1 + self.path_word(1)) => {
                return Some((Token::AnyShortest, 1 + self.path_word(1)));
            }
            "SHORTEST" => return self.shortest(),
            "EXPLAIN" if last.is_none() && self.is_word_next() => Token::Explain,
            "PROFILE" if last.is_none() && self.is_word_next() => Token::Profile,
            "LIST" if matches!(last, Some(Token::IsType(_) | Token::ListTypeOpen)) => {
                let opens = self.at.patterns.sign(self.at.index + 1) == Some(Sign::Less);
                return opens.then_some((Token::ListTypeOpen, 2));
            }
            _ => return None,
        };
        Some((token, 1))
    }

    /// Whether a path with a relationship begins at the distance.
    fn is_path(&self, distance: usize) -> bool {
        let index = self.at.index + distance;
        self.at.patterns.sign(index) == Some(Sign::RoundOpen)
            && self.at.patterns.relationship(index).is_some()
    }

    /// 1 where the word at the distance is `PATH` or `PATHS`, which may be left out.
    fn path_word(&self, distance: usize) -> usize {
        let is_path = |it| self.at.patterns.is_word(self.at.index + distance, it);
        usize::from(is_path("path") || is_path("paths"))
    }

    fn is_word_next(&self) -> bool {
        self.at.patterns.is_name(self.at.index + 1)
    }

    fn shortest(&self) -> Option<(Token, usize)> {
        let index = self.at.index;
        let Some(Fragment::Integer(count)) =
            self.at.patterns.fragments.get(index + 1).map(|it| &it.kind)
        else {
            return None;
        };
        let length = 2 + self.path_word(2);
        let groups =
            ["group", "groups"].iter().any(|it| self.at.patterns.is_word(index + length, it));
        Some((Token::Shortest(*count, groups), length + usize::from(groups)))
    }

    /// Words after an operand.
    fn infix(&self, word: &str) -> Option<(Token, usize)> {
        let is = |index: usize, word: &str| self.at.patterns.is_word(self.at.index + index, word);
        let is_double_colon =
            |index: usize| self.at.patterns.sign(self.at.index + index) == Some(Sign::DoubleColon);
        let is_case = self.at.contexts.last() == Some(&Context::Case);
        let token = match word {
            "AND" => Token::And,
            "OR" => Token::Or,
            "XOR" => Token::Xor,
            "IN" => Token::In,
            "CONTAINS" => Token::Contains,
            "STARTS" if is(1, "with") => return Some((Token::StartsWith, 2)),
            "ENDS" if is(1, "with") => return Some((Token::EndsWith, 2)),
            "IS" if is(1, "null") => return Some((Token::IsNull(false), 2)),
            "IS" if is(1, "not") && is(2, "null") => return Some((Token::IsNull(true), 3)),
            "IS" if is_double_colon(1) || is(1, "typed") => return Some((Token::IsType(false), 2)),
            "IS" if is(1, "not") && (is_double_colon(2) || is(2, "typed")) => {
                return Some((Token::IsType(true), 3));
            }
            "IS" if is(1, "labeled") => return Some((Token::Sign(Sign::Colon), 2)),
            "IS" if self.is_label_test() => Token::Sign(Sign::Colon),
            "AS" => Token::As,
            "YIELD" => Token::Yield,
            "WHEN" if is_case => Token::When,
            "THEN" if is_case => Token::Then,
            "ELSE" if is_case => Token::Else,
            "END" if is_case => Token::End,
            "NULLS" if is(1, "first") => return Some((Token::Nulls(true), 2)),
            "NULLS" if is(1, "last") => return Some((Token::Nulls(false), 2)),
            "ASC" | "ASCENDING" => Token::Ascending,
            "DESC" | "DESCENDING" => Token::Descending,
            _ => return None,
        };
        Some((token, 1))
    }

    /// Whether `IS` is between the variable of a node or relationship and its label: `(n IS
    /// Label)`.
    fn is_label_test(&self) -> bool {
        let before = self.at.result.len().checked_sub(2).map(|it| &self.at.result[it].1);
        matches!(
            before,
            Some(Token::Sign(Sign::RoundOpen) | Token::PatternOpen | Token::RelationshipOpen(_))
        ) && self.at.patterns.is_label_test(self.at.index)
    }

    /// Whether a clause may begin: after an operand, or where a query begins.
    fn may_begin_clause(&self) -> bool {
        self.at.is_operand
            || match self.at.last() {
                None
                | Some(
                    Token::Explain
                    | Token::Profile
                    | Token::Union(_)
                    | Token::ExistsOpen
                    | Token::CountOpen
                    | Token::CollectOpen,
                ) => true,
                Some(Token::Sign(Sign::BraceOpen)) => {
                    self.at.contexts.last() == Some(&Context::Subquery)
                }
                _ => false,
            }
    }

    /// Whether the word is before `name =`.
    fn is_let(&self) -> bool {
        let (index, patterns) = (self.at.index, self.at.patterns);
        patterns.is_name(index + 1) && patterns.sign(index + 2) == Some(Sign::Equal)
    }

    /// `WHERE` at the beginning of a node or relationship.
    fn filter(&self, word: &str) -> Option<(Token, usize)> {
        let opens = matches!(
            self.at.last(),
            Some(Token::PatternOpen | Token::RelationshipOpen(_) | Token::Sign(Sign::RoundOpen))
        );
        let is_filter = word == "WHERE" && opens && self.at.patterns.is_filter(self.at.index);
        is_filter.then_some((Token::Where, 1))
    }

    /// Words that begin a clause or a part of one.
    fn clause(&self, word: &str) -> Option<(Token, usize)> {
        let is = |index: usize, word: &str| self.at.patterns.is_word(self.at.index + index, word);
        let token = match word {
            "MATCH" => Token::Match,
            "OPTIONAL" if is(1, "match") => return Some((Token::OptionalMatch, 2)),
            "WHERE" => Token::Where,
            "WITH" => Token::With,
            "UNWIND" => Token::Unwind,
            "FOR" if self.at.patterns.is_name(self.at.index + 1) && is(2, "in") => Token::For,
            // GQL lets `WHERE` follow.
            "FILTER" => return Some((Token::Filter, 1 + usize::from(is(1, "where")))),
            "LET" if self.is_let() => Token::Let,
            "RETURN" => Token::Return,
            "ORDER" if is(1, "by") => return Some((Token::OrderBy, 2)),
            "SKIP" | "OFFSET" => Token::Skip,
            "LIMIT" => Token::Limit,
            "UNION" if is(1, "all") => return Some((Token::Union(true), 2)),
            "UNION" if is(1, "distinct") => return Some((Token::Union(false), 2)),
            "UNION" => Token::Union(false),
            "CALL" => Token::Call,
            _ => return None,
        };
        Some((token, 1))
    }
}
