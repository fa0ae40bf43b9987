//! Rules about fragments: their types exist and can occur, each is used, and none contains itself.

use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::{did_you_mean_one_of, near_names, stack};

use crate::request::grammar::document::{FragmentNode, InlineNode, SelectionNode, SpreadNode};
use crate::request::rules::is_composite;
use crate::request::rules::walker::Walker;

impl<'a, 't> Walker<'a, 't> {
    pub(super) fn check_inline(
        &mut self,
        parent: Option<&'a ExtendedType>,
        inline: &'a InlineNode<'t>,
    ) {
        if let Some(condition) = inline.condition {
            match self.definition(condition) {
                None => self.fault(inline.at, format!("Unknown type \"{condition}\".")),
                Some(definition) if !is_composite(definition) => {
                    let message =
                        format!("Fragment cannot condition on non composite type \"{condition}\".");
                    self.fault(inline.at, message);
                }
                Some(definition) => {
                    if let Some(parent) = parent.filter(|parent| !self.overlap(parent, definition))
                    {
                        let message = format!(
                            "Fragment cannot be spread here as objects of type \"{}\" can never be of type \
                             \"{condition}\".",
                            parent.name()
                        );
                        self.fault(inline.at, message);
                    }
                }
            }
        }
    }

    pub(super) fn check_spread(
        &mut self,
        parent: Option<&'a ExtendedType>,
        spread: &'a SpreadNode<'t>,
        fragment: Option<&'a FragmentNode<'t>>,
    ) {
        let Some(fragment) = fragment else {
            return self.fault(spread.at, format!("Unknown fragment \"{}\".", spread.name));
        };
        let (Some(parent), Some(inside)) = (parent, self.definition(fragment.condition)) else {
            return;
        };
        if is_composite(inside) && !self.overlap(parent, inside) {
            let message = format!(
                "Fragment \"{}\" cannot be spread here as objects of type \"{}\" can never be of type \"{}\".",
                spread.name,
                parent.name(),
                fragment.condition
            );
            self.fault(spread.at, message);
        }
    }

    /// Returns true if an object can be of both types. Where a type has no objects another rule
    /// reports it, and this one holds.
    fn overlap(&self, left: &ExtendedType, right: &ExtendedType) -> bool {
        if !is_composite(left) || left.name() == right.name() {
            return true;
        }
        let right = self.api.possible_types(right.name());
        self.api.possible_types(left.name()).iter().any(|name| right.contains(name))
    }

    pub(super) fn check_fragment(
        &mut self,
        number: usize,
        fragment: &'a FragmentNode<'t>,
        definition: Option<&'a ExtendedType>,
    ) {
        match definition {
            None => {
                let existing = self.api.schema.types.keys().map(|name| name.as_str());
                let near = did_you_mean_one_of(&near_names(fragment.condition, existing), false);
                self.fault(fragment.at, format!("Unknown type \"{}\".{near}", fragment.condition));
            }
            Some(definition) if !is_composite(definition) => {
                let message = format!(
                    "Fragment \"{}\" cannot condition on non composite type \"{}\".",
                    fragment.name, fragment.condition
                );
                self.fault(fragment.at, message);
            }
            Some(_) => {}
        }
        self.find_cycles(fragment, &mut Vec::new());
        // All operations were walked before, so the fragments that they use are recorded.
        if !self.used_fragments.contains(fragment.name) {
            self.fault(fragment.at, format!("Fragment \"{}\" is never used.", fragment.name));
        }
        if self.document.fragment(fragment.name).is_some_and(|(first, _)| first != number) {
            let message = format!("There can be only one fragment named \"{}\".", fragment.name);
            self.fault(fragment.at, message);
        }
    }

    /// Follows spreads depth first; a spread of a fragment on the path closes a cycle. The depth is
    /// the number of fragments, which is bounded by the depth of the walk: longer chains are
    /// refused there.
    fn find_cycles(&mut self, fragment: &'a FragmentNode<'t>, path: &mut Vec<&'t str>) {
        stack::require();
        if path.len() > CHAIN_MAX {
            let message = format!("fragments are nested deeper than {CHAIN_MAX} levels");
            return self.fault(fragment.at, message);
        }
        if !self.searched_fragments.insert(fragment.name) {
            return;
        }
        // Each fragment is searched once, so the search costs O(document) in all.
        path.push(fragment.name);
        let mut spreads = Vec::new();
        collect_spreads(self.document, &fragment.selections, &mut spreads);
        for spread in spreads {
            if let Some(start) = path.iter().position(|name| *name == spread.name) {
                let via = path[start + 1..].join(", ");
                let via = if via.is_empty() { via } else { format!(" via {via}") };
                let message =
                    format!("Cannot spread fragment \"{}\" within itself{via}.", spread.name);
                self.fault(spread.at, message);
            } else if let Some((_, next)) = self.document.fragment(spread.name) {
                self.find_cycles(next, path);
            }
        }
        path.pop();
    }
}

/// The longest chain of fragments that contain each other.
const CHAIN_MAX: usize = 200;

/// Collects the spreads below some selections, at any depth.
fn collect_spreads<'a, 't>(
    document: &'a crate::request::grammar::document::Document<'t>,
    selections: &'a [SelectionNode<'t>],
    spreads: &mut Vec<&'a SpreadNode<'t>>,
) {
    stack::require();
    for selection in selections {
        match selection {
            SelectionNode::Spread(spread) => spreads.push(spread),
            SelectionNode::Inline(inline) => collect_spreads(document, &inline.selections, spreads),
            SelectionNode::Field(id) => {
                collect_spreads(document, &document.field(*id).selections, spreads);
            }
        }
    }
}
