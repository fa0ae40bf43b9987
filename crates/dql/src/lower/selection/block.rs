//! Lowers root blocks.

use super::fields::FieldContext;
use super::modifiers::Modifiers;
use super::paging::Paging;
use crate::lexer::graphql_words;
use crate::lower::arguments::number;
use crate::lower::arguments::other_languages::argument_for;
use crate::lower::request::Lowering;
use crate::syntax::ast;
use crate::syntax::ast::{Argument, Suffix, Value};
use crate::syntax::token::Text;
use hexgraph_base::plan::{Block, BlockKind, Endpoint, Field, Function, ShortestPath, VarId};
use hexgraph_base::types::{Error, Result, nearest};
use std::sync::Arc;

/// The arguments of blocks.
pub(crate) const KEYS: [&str; 13] = [
    "func",
    "orderasc",
    "orderdesc",
    "first",
    "offset",
    "after",
    "from",
    "to",
    "numpaths",
    "minweight",
    "maxweight",
    "maxfrontiersize",
    "depth",
];

/// The range of [`KEYS`] that a `shortest` block uses.
const PATH_KEYS: std::ops::Range<usize> = 6..13;

/// The arguments of a block except for those of paging and order.
struct RootArguments {
    function: Option<Function>,
    path: ShortestPath,
    /// The keys seen so far, as bits in the order of [`KEYS`], to find repeated ones.
    seen: u16,
}

impl<'a> Lowering<'a> {
    pub(in crate::lower) fn block(&mut self, block: &'a ast::Block) -> Result<Block> {
        // What a block reads and defines determines the order in which blocks can run.
        self.reads.clear();
        self.defines.clear();
        if let Some(algorithm) = self.algorithm_of(block) {
            return self.algorithm_block(block, algorithm);
        }
        let at = block.name.start;
        let name = self.text(&block.name);
        let var = block.var.as_ref().map(|var| self.define(var));
        let or_misspelt =
            |error: Error, here: &Self| here.misspelt_algorithm(block).unwrap_or(error);
        let (arguments, paging) =
            self.root_arguments(block).map_err(|error| or_misspelt(error, self))?;
        let kind = self.kind(block, &arguments).map_err(|error| or_misspelt(error, self))?;
        if matches!(kind, BlockKind::Empty)
            && let Some(error) = self.no_algorithm(block)
        {
            return Err(error);
        }
        let mut modifiers = Modifiers::default();
        for directive in &block.directives {
            if let Suffix::Directive(at, directive) = directive {
                self.directive(*at, directive, true, &mut modifiers)?;
            }
        }
        let context = FieldContext {
            in_group: modifiers.group_by.is_some(),
            in_empty_block: matches!(kind, BlockKind::Empty),
            in_shortest: matches!(kind, BlockKind::Shortest(_)),
        };
        let fields = self.selection(block.body.as_deref().unwrap_or_default(), context)?;
        if modifiers.recurse.is_some() {
            self.check_recurse(at, &fields)?;
        }
        Ok(Block {
            name: name.to_owned(),
            at: self.source.position(at),
            kind,
            var,
            root: arguments.function,
            filter: modifiers.filter.flatten(),
            order: paging.order,
            page: paging.page,
            cascade: modifiers.cascade,
            normalize: modifiers.normalize,
            ignore_reflex: modifiers.ignore_reflex,
            recurse: modifiers.recurse,
            group_by: modifiers.group_by,
            fields,
            has_body: block.body.is_some(),
            is_aggregated: false,
            reads: sorted(&self.reads),
            defines: sorted(&self.defines),
        })
    }

    fn check_recurse(&self, at: u32, fields: &[Arc<Field>]) -> Result<()> {
        if fields.iter().any(|field| !field.fields.is_empty()) {
            let hint = "list all predicates in the selection of the block";
            return Err(self.error_with(at, "`@recurse` takes a selection of one level", hint));
        }
        Ok(())
    }

    fn kind(&self, block: &'a ast::Block, arguments: &RootArguments) -> Result<BlockKind> {
        let at = block.name.start;
        let name = self.text(&block.name);
        if name == "shortest" {
            return Ok(BlockKind::Shortest(arguments.path.clone()));
        }
        if arguments.path.from.is_some() || arguments.path.to.is_some() {
            let message = "only a `shortest` block has `from` and `to`";
            return Err(self.error_with(at, message, "name the block `shortest`"));
        }
        Ok(match (&arguments.function, name) {
            (None, _) if !block.arguments.is_empty() => {
                let message = format!("block `{name}` has arguments but no function");
                return Err(self.error_with(at, message, "add `func: ...`"));
            }
            (None, _) => BlockKind::Empty,
            (Some(_), "var") => BlockKind::Hidden,
            (Some(_), _) => BlockKind::Visible,
        })
    }

    /// Refuses a block that is a field of GraphQL, whose arguments are others.
    fn refuse_graphql(&self, block: &'a ast::Block) -> Result<()> {
        let name = self.text(&block.name);
        let is_function = |argument: &Argument| self.text(&argument.key) == "func";
        let is_field = graphql_words::is_field(name) && !block.arguments.is_empty();
        if !is_field || block.arguments.iter().any(is_function) {
            return Ok(());
        }
        let message = format!("block `{name}` has arguments but no function");
        Err(self.error_with(block.name.start, message, graphql_words::HINT))
    }

    fn root_arguments(&mut self, block: &'a ast::Block) -> Result<(RootArguments, Paging)> {
        self.refuse_graphql(block)?;
        let path = ShortestPath {
            from: None,
            to: None,
            paths: 1,
            depth: None,
            weight_min: None,
            weight_max: None,
            frontier_max: None,
        };
        let mut arguments = RootArguments { function: None, path, seen: 0 };
        let mut paging = Paging::default();
        for argument in &block.arguments {
            if !self.paging(argument, &mut paging)? {
                let is_shortest = self.text(&block.name) == "shortest";
                self.root_argument(argument, is_shortest, &mut arguments)?;
            }
        }
        Ok((arguments, paging))
    }

    fn root_argument(
        &mut self,
        argument: &'a Argument,
        is_shortest: bool,
        arguments: &mut RootArguments,
    ) -> Result<()> {
        let Argument { key, value } = argument;
        let key_text = self.text(key);
        let path = &mut arguments.path;
        match key_text {
            "func" => arguments.function = Some(self.root_function(argument)?),
            "from" => path.from = Some(self.endpoint(argument)?),
            "to" => path.to = Some(self.endpoint(argument)?),
            "numpaths" => path.paths = self.count(argument)?,
            "depth" => path.depth = Some(self.count(argument)?),
            "maxfrontiersize" => path.frontier_max = Some(self.count(argument)?),
            "minweight" => path.weight_min = Some(self.weight(key.start, value)?),
            "maxweight" => path.weight_max = Some(self.weight(key.start, value)?),
            _ => {
                return Err(self.unknown_argument(key, is_shortest));
            }
        }
        // The match above has refused what is not among `KEYS`.
        let bit = 1 << KEYS.iter().position(|existing| *existing == key_text).unwrap_or_default();
        if arguments.seen & bit != 0 {
            return Err(self.repeated(argument));
        }
        arguments.seen |= bit;
        Ok(())
    }

    fn unknown_argument(&self, key: &'a Text, is_shortest: bool) -> Error {
        let text = self.text(key);
        let (block, keys, expected) = match is_shortest {
            true => (
                "a `shortest` block",
                &KEYS[PATH_KEYS],
                "from, to, numpaths, depth, minweight, maxweight or maxfrontiersize",
            ),
            false => ("a block", &KEYS[..], "func, first, offset, after, orderasc or orderdesc"),
        };
        let end = match text.to_ascii_lowercase().as_str() {
            "start" | "source" | "src" if is_shortest => Some("from"),
            "end" | "target" | "dst" | "destination" if is_shortest => Some("to"),
            _ => nearest(text, keys.iter().copied()),
        };
        let hint = match (end, argument_for(text)) {
            (None, Some(written)) if !is_shortest => written.to_owned(),
            (Some(existing), _) => format!("did you mean `{existing}`?"),
            (None, _) => format!("expected {expected}"),
        };
        self.error_with(key.start, format!("`{text}` is no argument of {block}"), hint)
    }

    fn root_function(&mut self, argument: &'a Argument) -> Result<Function> {
        match &argument.value {
            Value::Call(call) => self.root_call(call),
            _ => {
                let message = "`func:` without a function";
                let hint = "write a function: `func: has(name)`";
                Err(self.error_with(argument.key.start, message, hint))
            }
        }
    }

    fn endpoint(&mut self, argument: &'a Argument) -> Result<Endpoint> {
        let at = argument.key.start;
        let hint = "expected a uid or `uid(x)`";
        let text = match &argument.value {
            Value::Word(text, None) | Value::Quoted(text) => text,
            Value::Call(call) if self.text(&call.name).eq_ignore_ascii_case("uid") => {
                match &call.arguments[..] {
                    [Value::Word(text, None)] => match number::uint(self.text(text)) {
                        // `uid(0x1)` names a node, `uid(x)` a variable.
                        Some(uid) => return Ok(Endpoint::Uid(uid)),
                        None => return Ok(Endpoint::Var(self.read(text))),
                    },
                    _ => return Err(self.error_with(at, "a path has one node at each end", hint)),
                }
            }
            _ => return Err(self.error_with(at, "found no uid at the end of a path", hint)),
        };
        let uid = number::uint(self.text(text));
        let message = || format!("`{}` is no uid", self.text(text));
        uid.map(Endpoint::Uid).ok_or_else(|| self.error_with(at, message(), hint))
    }

    fn count(&self, argument: &'a Argument) -> Result<i64> {
        let text = self.scalar(argument.key.start, &argument.value)?;
        let number = number::uint(text).and_then(|number| i64::try_from(number).ok());
        let key = self.text(&argument.key);
        let message = || format!("`{key}: {text}` is not an integer from 0 on");
        let hint = || format!("write `{key}: 3`");
        number.ok_or_else(|| self.error_with(argument.key.start, message(), hint()))
    }

    fn weight(&self, at: u32, value: &'a Value) -> Result<f64> {
        let text = self.scalar(at, value)?;
        text.parse().map_err(|_| {
            self.error_with(at, format!("`{text}` is no number"), "a weight is a number")
        })
    }
}

/// Returns the variables in ascending order, each once.
pub(super) fn sorted(variables: &[VarId]) -> Vec<VarId> {
    let mut variables = variables.to_vec();
    variables.sort_unstable();
    variables.dedup();
    variables
}
