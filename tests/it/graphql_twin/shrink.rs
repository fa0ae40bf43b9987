//! Makes a request smaller, as long as something stays wrong with it.

use super::lit::Lit;
use super::request::{Argument, Fragment, Part, Request, RequestedQuery};

/// The smallest request on the way for which `is_wrong` holds.
pub fn shrink(request: Request, is_wrong: impl Fn(&Request) -> bool) -> Request {
    let mut best = request;
    while let Some(less) = smaller(&best).into_iter().find(&is_wrong) {
        best = less;
    }
    best
}

/// Every request that is this one less one part; larger parts first.
fn smaller(request: &Request) -> Vec<Request> {
    let with = |roots| Request { roots, ..request.clone() };
    let fewer = less_one(&request.roots).filter(|roots| !roots.is_empty()).map(with);
    fewer.chain(replaced(&request.roots, smaller_field).map(with)).collect()
}

fn less_one<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..all.len()).map(move |position| {
        let mut fewer = all.to_vec();
        fewer.remove(position);
        fewer
    })
}

fn replaced<T: Clone>(all: &[T], smaller: impl Fn(&T) -> Vec<T>) -> impl Iterator<Item = Vec<T>> {
    (0..all.len()).flat_map(move |position| {
        let others = smaller(&all[position]).into_iter().map(|one| {
            let mut all = all.to_vec();
            all[position] = one;
            all
        });
        others.collect::<Vec<_>>()
    })
}

fn smaller_field(field: &RequestedQuery) -> Vec<RequestedQuery> {
    let mut all = Vec::new();
    if !field.below.is_empty() {
        let below = smaller_parts(&field.below).into_iter().filter(|below| !below.is_empty());
        all.extend(below.map(|below| RequestedQuery { below, ..field.clone() }));
    }
    if field.cascade.is_some() {
        all.push(RequestedQuery { cascade: None, ..field.clone() });
    }
    if !field.conditions.is_empty() {
        all.push(RequestedQuery { conditions: Vec::new(), ..field.clone() });
    }
    let fewer = less_one(&field.arguments);
    let less = replaced(&field.arguments, |argument| {
        let values = smaller_value(&argument.value).into_iter();
        let with = |value| Argument { value, ..argument.clone() };
        let mut all: Vec<_> = values.map(with).collect();
        if argument.is_variable {
            all.push(Argument { is_variable: false, ..argument.clone() });
        }
        all
    });
    let with = |arguments| RequestedQuery { arguments, ..field.clone() };
    all.extend(fewer.chain(less).map(with));
    all
}

fn smaller_parts(parts: &[Part]) -> Vec<Vec<Part>> {
    let mut all: Vec<Vec<Part>> = less_one(parts).collect();
    for (position, part) in parts.iter().enumerate() {
        // What a fragment without a type has can stand in its place.
        if let Part::Fragment(fragment @ Fragment { on: None, .. }) = part {
            let mut spread = parts.to_vec();
            spread.splice(position..=position, fragment.parts.clone());
            all.push(spread);
        }
    }
    all.extend(replaced(parts, |part| match part {
        Part::Field(field) => smaller_field(field).into_iter().map(Part::Field).collect(),
        Part::Fragment(fragment) => {
            let parts = smaller_parts(&fragment.parts).into_iter();
            let with = |parts| Fragment { parts, ..fragment.clone() };
            let parts = parts.filter(|parts| !parts.is_empty());
            parts.map(|parts| Part::Fragment(with(parts))).collect()
        }
    }));
    all
}

fn smaller_value(value: &Lit) -> Vec<Lit> {
    match value {
        Lit::List(items) => {
            let less = replaced(items, smaller_value).map(Lit::List);
            less_one(items).map(Lit::List).chain(less).collect()
        }
        Lit::Object(entries) => {
            let less = replaced(entries, |(name, value)| {
                let values = smaller_value(value).into_iter();
                values.map(|value| (name.clone(), value)).collect()
            });
            less_one(entries).chain(less).map(Lit::Object).collect()
        }
        _ => Vec::new(),
    }
}
