//! The second pass: which bracket belongs to which, how deep they are nested, and what separates
//! what is directly inside of a pair.

use super::fragment::{Fragment, Located};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::token::Sign;
use hexgraph_base::types::{Position, stack};

/// The most levels of brackets, subqueries and `CASE`. It is fixed; messages call it `nesting_max`.
pub(super) const NESTING_MAX: usize = 200;

/// What dropping one level of brackets needs of the stack, in levels of `stack`.
const STACK_LEVELS: usize = 4;

/// The pairs of brackets of a text.
#[derive(Debug, Default)]
pub(super) struct Brackets {
    /// For each fragment that is a bracket, the index of the other one.
    partners: Vec<u32>,
    /// For the opening bracket of each pair with a comma directly inside of it.
    has_comma: Vec<bool>,
}

impl Brackets {
    /// Pairs the brackets of a text.
    ///
    /// # Errors
    /// A bracket without the other one, and too many levels.
    pub(super) fn new(text: &str, fragments: &[Located]) -> Result<Brackets, Fault> {
        let mut result = Brackets {
            partners: vec![u32::MAX; fragments.len()],
            has_comma: vec![false; fragments.len()],
        };
        let mut open: Vec<usize> = Vec::new();
        for (index, fragment) in fragments.iter().enumerate() {
            let Fragment::Sign(sign) = fragment.kind else { continue };
            match sign {
                Sign::RoundOpen | Sign::SquareOpen | Sign::BraceOpen => {
                    open.push(index);
                    check_nesting(open.len(), fragment.span)?;
                }
                Sign::RoundClose | Sign::SquareClose | Sign::BraceClose => {
                    let opened = open.pop();
                    let closes = |&it: &usize| closing(&fragments[it].kind) == Some(sign);
                    let Some(opened) = opened.filter(closes) else {
                        return Err(unopened(text, fragments, index, opened));
                    };
                    result.partners[opened] = index as u32;
                    result.partners[index] = opened as u32;
                }
                Sign::Comma => {
                    if let Some(&opened) = open.last() {
                        result.has_comma[opened] = true;
                    }
                }
                _ => {}
            }
        }
        match open.last() {
            None => Ok(result),
            Some(&opened) => {
                let span = fragments[opened].span;
                let message = format!("the `{}` is never closed", span.of(text));
                Err(Fault::new(Code::UnexpectedSyntax, span, message))
            }
        }
    }

    /// Returns the index of the other bracket of a pair.
    pub(super) fn partner(&self, index: usize) -> usize {
        self.partners[index] as usize
    }

    /// Returns true when there is a comma directly inside of the pair that `index` opens.
    pub(super) fn has_comma(&self, index: usize) -> bool {
        self.has_comma[index]
    }
}

/// Refuses text that is nested too deeply to be walked over.
pub(super) fn check_nesting(levels: usize, span: Span) -> Result<(), Fault> {
    if levels > NESTING_MAX {
        let message = format!("the query is nested more than nesting_max = {NESTING_MAX} levels");
        return Err(Fault::new(Code::Limit, span, message));
    }
    stack::check_levels(levels * STACK_LEVELS)
        .map_err(|error| Fault::new(Code::Limit, span, error.to_string()))
}

fn closing(kind: &Fragment) -> Option<Sign> {
    match kind {
        Fragment::Sign(Sign::RoundOpen) => Some(Sign::RoundClose),
        Fragment::Sign(Sign::SquareOpen) => Some(Sign::SquareClose),
        Fragment::Sign(Sign::BraceOpen) => Some(Sign::BraceClose),
        _ => None,
    }
}

fn unopened(text: &str, fragments: &[Located], index: usize, opened: Option<usize>) -> Fault {
    let span = fragments[index].span;
    let closes = span.of(text);
    match opened {
        None => Fault::new(Code::UnexpectedSyntax, span, format!("`{closes}` closes nothing")),
        Some(opened) => {
            let before = fragments[opened].span;
            let at = Position::of(text, before.start as usize);
            let open = before.of(text);
            let message = format!("`{closes}` does not close the `{open}` of {at}");
            Fault::new(Code::UnexpectedSyntax, span, message)
        }
    }
}
