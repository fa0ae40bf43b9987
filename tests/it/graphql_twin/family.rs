//! Random schemas. Fields of one name have one shape wherever they are, so that selections of
//! several types can meet.

use super::lit::{Lit, name, plain};
use super::schema::{Field, Kind, Many, Of, Scalar, Schema};
use super::words::{chance, one_of};
use fastrand::Rng;

/// The field that tells nodes apart.
pub const MARK: &str = "mark";

const KINDS: [Scalar; 9] = [
    Scalar::Int,
    Scalar::Int,
    Scalar::Int64,
    Scalar::Float,
    Scalar::Text,
    Scalar::Text,
    Scalar::Bool,
    Scalar::Time,
    Scalar::Mood,
];

/// What texts may be searched by, without what excludes each other.
const TEXT_WORDS: [&[&str]; 9] = [
    &["hash"],
    &["exact"],
    &["term"],
    &["regexp"],
    &["trigram", "exact"],
    &["hash", "term"],
    &["fulltext"],
    &["term", "exact", "fulltext"],
    &[],
];

const MOOD_WORDS: [&[&str]; 4] = [&[], &["hash"], &["exact"], &["hash", "regexp"]];

/// A schema.
pub fn schema(rng: &mut Rng) -> Schema {
    let mut schema = Schema::default();
    let interfaces = rng.usize(..3);
    for position in 0..interfaces {
        schema.kinds.push(kind(rng, format!("Ib{}", ["a", "b"][position]), true));
    }
    for position in 0..rng.usize(2..5) {
        let mut one = kind(rng, format!("T{}", ["a", "b", "c", "d"][position]), false);
        one.parents = (0..interfaces).filter(|_| chance(rng, 45)).collect();
        schema.kinds.push(one);
    }
    if chance(rng, 60) {
        let objects: Vec<usize> = schema.objects().collect();
        let mut members: Vec<usize> = objects.iter().copied().filter(|_| chance(rng, 60)).collect();
        if members.is_empty() {
            members.push(objects[0]);
        }
        schema.unions.push(("Pet".to_owned(), members));
    }
    for position in 0..schema.kinds.len() {
        add_ids(rng, &mut schema, position);
        add_values(rng, &mut schema, position);
    }
    for position in 0..schema.kinds.len() {
        for _ in 0..rng.usize(1..4) {
            add_edge(rng, &mut schema, position);
        }
    }
    schema
}

fn kind(rng: &mut Rng, name: String, is_interface: bool) -> Kind {
    let stored = chance(rng, 15).then(|| format!("store.{name}"));
    Kind { name, is_interface, parents: Vec::new(), own: Vec::new(), stored }
}

fn field(kind: &Kind, name: String, of: Of) -> Field {
    let predicate = format!("{}.{name}", kind.stored());
    Field {
        name,
        of,
        many: Many::One,
        is_required: false,
        unique: None,
        search: None,
        default_add: None,
        default_update: None,
        predicate,
        says_predicate: false,
        inverse: None,
        says_inverse: false,
    }
}

/// The ID, the fields with `@id`, and the mark.
fn add_ids(rng: &mut Rng, schema: &mut Schema, position: usize) {
    let inherits =
        schema.kinds[position].parents.iter().any(|parent| schema.id_field(*parent).is_some());
    let kind = &mut schema.kinds[position];
    if !inherits && chance(rng, 70) {
        let mut id = field(kind, "id".to_owned(), Of::Scalar(Scalar::Id));
        id.is_required = true;
        kind.own.push(id);
    }
    for name in ["code", "num", "big"] {
        if !chance(rng, if kind.is_interface { 40 } else { 25 }) {
            continue;
        }
        let scalar = match name {
            "code" => Scalar::Text,
            "num" => Scalar::Int,
            _ => Scalar::Int64,
        };
        let is_required = chance(rng, 40);
        let of_kind = if kind.is_interface { &kind.name[2..] } else { "" };
        let mark = if is_required { "R" } else { "" };
        let mut one = field(kind, format!("{name}{mark}{of_kind}"), Of::Scalar(scalar));
        one.is_required = is_required;
        one.unique = Some(kind.is_interface && chance(rng, 60));
        if scalar == Scalar::Text && chance(rng, 30) {
            one.search = Some((*one_of(rng, &TEXT_WORDS)).to_vec());
        }
        kind.own.push(one);
    }
    if !kind.is_interface {
        let mut mark = field(kind, MARK.to_owned(), Of::Scalar(Scalar::Int));
        mark.search = chance(rng, 50).then(Vec::new);
        kind.own.push(mark);
    }
}

fn add_values(rng: &mut Rng, schema: &mut Schema, position: usize) {
    let kind = &mut schema.kinds[position];
    for _ in 0..rng.usize(1..6) {
        let scalar = if chance(rng, 6) { Scalar::Point } else { *one_of(rng, &KINDS) };
        let may_be_list = !matches!(scalar, Scalar::Point | Scalar::Bool);
        let many = match rng.u32(..10) {
            0 if may_be_list => Many::Loose,
            1 if may_be_list => Many::Tight,
            _ => Many::One,
        };
        let is_required = chance(rng, 20);
        let mut one = field(kind, String::new(), Of::Scalar(scalar));
        (one.many, one.is_required) = (many, is_required);
        one.name = shape_name(kind, &format!("v{}", scalar.name()), &one);
        one.predicate = format!("{}.{}", kind.stored(), one.name);
        if chance(rng, 65) {
            one.search = Some(words(rng, scalar));
        }
        if many == Many::One && scalar != Scalar::Point {
            one.default_add = chance(rng, 15).then(|| default(rng, scalar));
            one.default_update = chance(rng, 10).then(|| default(rng, scalar));
        }
        kind.own.push(one);
    }
    if chance(rng, 15) {
        for tag in ["", "@en"] {
            let mut one = field(kind, String::new(), Of::Scalar(Scalar::Text));
            one.name = shape_name(kind, "word", &one);
            one.predicate = format!("word.{}{tag}", kind.name);
            one.says_predicate = true;
            one.search = Some(vec!["exact"]);
            kind.own.push(one);
        }
    }
}

/// A name that no other field of the kind has, and that fields of another shape never get.
fn shape_name(kind: &Kind, base: &str, field: &Field) -> String {
    let many = match field.many {
        Many::One => "",
        Many::Loose => "s",
        Many::Tight => "ss",
    };
    let of_kind = if kind.is_interface { &kind.name[2..] } else { "" };
    let mark = if field.is_required { "R" } else { "" };
    let stem = format!("{base}{many}{mark}{of_kind}");
    let mut names = (0..).map(|count| match count {
        0 => stem.clone(),
        count => format!("{stem}{count}"),
    });
    names.find(|name| !kind.own.iter().any(|own| own.name == *name)).expect("they have no end")
}

fn words(rng: &mut Rng, scalar: Scalar) -> Vec<&'static str> {
    match scalar {
        Scalar::Text => one_of(rng, &TEXT_WORDS).to_vec(),
        Scalar::Mood => one_of(rng, &MOOD_WORDS).to_vec(),
        Scalar::Time if chance(rng, 70) => vec![*one_of(rng, &["year", "month", "day", "hour"])],
        _ => Vec::new(),
    }
}

fn default(rng: &mut Rng, scalar: Scalar) -> Lit {
    match scalar {
        Scalar::Mood => name("LOUD"),
        Scalar::Text => plain("given"),
        scalar => super::words::value(rng, scalar),
    }
}

fn add_edge(rng: &mut Rng, schema: &mut Schema, position: usize) {
    if !schema.unions.is_empty() && chance(rng, 20) {
        let (name, of) = (schema.unions[0].0.clone(), Of::Union(0));
        let one = edge(rng, &schema.kinds[position], &name, of);
        return schema.kinds[position].own.push(one);
    }
    let target = rng.usize(..schema.kinds.len());
    let name = schema.kinds[target].name.clone();
    let mut one = edge(rng, &schema.kinds[position], &name, Of::Kind(target));
    // What is required must come to an end.
    let is_nameless = schema.kinds[target].is_interface
        && schema.id_field(target).is_none()
        && schema.unique_fields(target).is_empty();
    one.is_required = (position > target && !is_nameless || one.is_list()) && chance(rng, 12);
    one.name = shape_name(&schema.kinds[position], &format!("to{name}"), &one);
    one.predicate = format!("{}.{}", schema.kinds[position].stored(), one.name);
    match rng.u32(..10) {
        0..5 => with_inverse(rng, schema, position, target, one),
        5 if !schema.kinds[position].is_interface && !schema.kinds[target].is_interface => {
            read_backwards(schema, position, target, one);
        }
        _ => schema.kinds[position].own.push(one),
    }
}

fn edge(rng: &mut Rng, kind: &Kind, name: &str, of: Of) -> Field {
    let mut one = field(kind, String::new(), of);
    one.many = *one_of(rng, &[Many::One, Many::One, Many::Loose, Many::Tight]);
    one.name = shape_name(kind, &format!("to{name}"), &one);
    one.predicate = format!("{}.{}", kind.stored(), one.name);
    one
}

/// The field, and one of its target that is the other end.
fn with_inverse(
    rng: &mut Rng,
    schema: &mut Schema,
    position: usize,
    target: usize,
    mut one: Field,
) {
    if position == target && chance(rng, 40) {
        one.inverse = Some(one.name.clone());
        one.says_inverse = true;
        return schema.kinds[position].own.push(one);
    }
    let own_name = schema.kinds[position].name.clone();
    // What comes later must not have the name of what is there.
    let reserved = one.name.clone();
    let mut other = edge(rng, &schema.kinds[target], &own_name, Of::Kind(position));
    if position == target && other.name == reserved {
        other.name += "z";
        other.predicate = format!("{}.{}", schema.kinds[target].stored(), other.name);
    }
    one.inverse = Some(other.name.clone());
    other.inverse = Some(one.name.clone());
    let who = rng.u32(..3);
    one.says_inverse = who != 1;
    other.says_inverse = who != 0;
    schema.kinds[position].own.push(one);
    schema.kinds[target].own.push(other);
}

/// The field, and one of its target that reads its edges backwards.
fn read_backwards(schema: &mut Schema, position: usize, target: usize, mut one: Field) {
    one.predicate = format!("edge.{}.{}", schema.kinds[position].name, one.name);
    one.says_predicate = true;
    let name = schema.kinds[position].name.clone();
    let mut other = field(&schema.kinds[target], String::new(), Of::Kind(position));
    other.many = Many::Loose;
    other.name = shape_name(&schema.kinds[target], &format!("back{name}"), &other);
    other.predicate = format!("~{}", one.predicate);
    other.says_predicate = true;
    schema.kinds[position].own.push(one);
    schema.kinds[target].own.push(other);
}
