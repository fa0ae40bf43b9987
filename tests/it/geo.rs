//! The geo functions find in the index what a look at every value finds, while values come and go,
//! and after a save.

use hexgraph::db::{Database, OpenOptions, QueryRequest, RequestContext};
use hexgraph::internals::geo::GeoQuery;
use hexgraph::types::Geometry;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Position = (f64, f64);

/// Where the geometries of one case lie: around a position, and how far apart.
#[derive(Debug, Clone, Copy)]
struct Region {
    middle: Position,
    size: f64,
}

/// Geometries with corners from -1 to 1, to be put into a region.
#[derive(Debug, Clone)]
enum Shape {
    Point(Position),
    Polygon(Vec<Position>),
    MultiPolygon(Vec<Vec<Position>>),
}

fn position() -> impl Strategy<Value = Position> {
    let axis = || prop_oneof![-1.0..1.0_f64, (-4..=4).prop_map(|step| f64::from(step) / 4.0)];
    (axis(), axis())
}

fn ring() -> impl Strategy<Value = Vec<Position>> {
    let square = (position(), position()).prop_map(|((west, south), (east, north))| {
        vec![(west, south), (east, south), (east, north), (west, north)]
    });
    prop_oneof![prop::collection::vec(position(), 3..9), square]
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        3 => position().prop_map(Shape::Point),
        2 => ring().prop_map(Shape::Polygon),
        1 => prop::collection::vec(ring(), 1..4).prop_map(Shape::MultiPolygon),
    ]
}

fn region() -> impl Strategy<Value = Region> {
    let middle = prop_oneof![
        (-180.0..180.0_f64, -90.0..90.0_f64),
        Just((0.0, 0.0)),
        Just((180.0, 10.0)),
        Just((30.0, 89.5)),
        Just((-45.0, -45.0)),
    ];
    let size = prop_oneof![Just(1.0), (-4.0..2.0_f64).prop_map(|scale| 10_f64.powf(scale))];
    (middle, size).prop_map(|(middle, size)| Region { middle, size })
}

impl Region {
    /// A point, which has to be a position on the globe.
    fn position(&self, position: Position) -> String {
        let (x, y) = self.at(position);
        format!("[{},{}]", x.clamp(-180.0, 180.0), y.clamp(-90.0, 90.0))
    }

    /// A corner, which may lie beyond a pole or the date line.
    fn corner(&self, position: Position) -> String {
        let (x, y) = self.at(position);
        format!("[{x},{y}]")
    }

    fn at(&self, (x, y): Position) -> Position {
        (self.middle.0 + x * self.size, self.middle.1 + y * self.size)
    }

    fn polygon(&self, ring: &[Position]) -> String {
        let corners = ring.iter().chain(&ring[..1]).map(|corner| self.corner(*corner));
        format!("[[{}]]", corners.collect::<Vec<_>>().join(","))
    }

    fn polygons(&self, rings: &[Vec<Position>]) -> String {
        let polygons = rings.iter().map(|ring| self.polygon(ring));
        format!("[{}]", polygons.collect::<Vec<_>>().join(","))
    }

    fn geometry(&self, shape: &Shape) -> String {
        let (name, coordinates) = match shape {
            Shape::Point(at) => ("Point", self.position(*at)),
            Shape::Polygon(ring) => ("Polygon", self.polygon(ring)),
            Shape::MultiPolygon(rings) => ("MultiPolygon", self.polygons(rings)),
        };
        format!("{{'type':'{name}','coordinates':{coordinates}}}")
    }

    /// The functions with a shape as their argument: the text of each, and its meaning.
    fn calls(&self, shape: &Shape) -> Vec<(String, GeoQuery)> {
        let argument = match shape {
            Shape::Point(at) => self.position(*at),
            Shape::Polygon(ring) => self.polygon(ring),
            Shape::MultiPolygon(rings) => self.polygons(rings),
        };
        let mut calls = vec![("contains", GeoQuery::contains(&argument).unwrap())];
        if let Shape::Point(_) = shape {
            // A degree is about 111 km.
            let metres = (55_000.0 * self.size).to_string();
            let near = GeoQuery::near(&argument, &metres).unwrap();
            let mut calls = vec![(format!("near(KEY, {argument}, {metres})"), near)];
            calls.push((
                format!("contains(KEY, {argument})"),
                GeoQuery::contains(&argument).unwrap(),
            ));
            return calls;
        }
        calls.push(("within", GeoQuery::within(&argument).unwrap()));
        calls.push(("intersects", GeoQuery::intersects(&argument).unwrap()));
        let text = |name: &str| format!("{name}(KEY, {argument})");
        calls.into_iter().map(|(name, query)| (text(name), query)).collect()
    }
}

/// What is in the database, as plain as can be: the values of each node, of either predicate.
#[derive(Default)]
struct Model {
    single: BTreeMap<u64, String>,
    list: BTreeMap<u64, BTreeSet<String>>,
}

impl Model {
    fn set(&mut self, node: u64, geometry: String) {
        self.list.entry(node).or_default().insert(geometry.clone());
        self.single.insert(node, geometry);
    }

    fn nodes(&self, key: &str, query: &GeoQuery) -> Vec<u64> {
        let matches = |text: &String| query.matches(&Geometry::parse(text).unwrap());
        if key == "single" {
            let result = self.single.iter().filter(|(_, value)| matches(value));
            return result.map(|(node, _)| *node).collect();
        }
        let result = self.list.iter().filter(|(_, values)| values.iter().any(matches));
        result.map(|(node, _)| *node).collect()
    }
}

fn uids(db: &Database, text: &str) -> Vec<u64> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let (json, _) = db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let uid = |row: &serde_json::Value| {
        let hex = row["uid"].as_str().unwrap().trim_start_matches("0x");
        u64::from_str_radix(hex, 16).unwrap()
    };
    json["q"].as_array().unwrap().iter().map(uid).collect()
}

fn check(db: &Database, model: &Model, region: Region, requested: &[Shape]) {
    for (text, query) in requested.iter().flat_map(|shape| region.calls(shape)) {
        for key in ["single", "list"] {
            let call = text.replace("KEY", key);
            let expected = model.nodes(key, &query);
            assert_eq!(uids(db, &format!("{{ q(func: {call}) {{ uid }} }}")), expected, "{call}");
            let filtered = format!("{{ q(func: has({key})) @filter({call}) {{ uid }} }}");
            assert_eq!(uids(db, &filtered), expected, "{filtered}");
            let few = format!("{{ q(func: uid(1, 2, 3)) @filter({call}) {{ uid }} }}");
            let expected: Vec<u64> = expected.into_iter().filter(|uid| *uid < 4).collect();
            assert_eq!(uids(db, &few), expected, "{few}");
        }
    }
}

fn lines(node: u64, geometry: &str) -> String {
    ["single", "list"]
        .map(|key| format!("<{node}> <{key}> \"{geometry}\"^^<geo:geojson> .\n"))
        .concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_index_finds_what_is_there(
        region in region(),
        first in prop::collection::vec((1..20_u64, shape()), 0..20),
        then in prop::collection::vec((1..20_u64, shape()), 0..10),
        gone in prop::collection::vec(1..20_u64, 0..5),
        requested in prop::collection::vec(shape(), 1..6),
    ) {
        let db = Database::in_memory();
        db.alter("single: geo @index(geo) .\nlist: [geo] @index(geo) .").unwrap();
        let mut model = Model::default();
        for changes in [first, then] {
            let mut set = String::new();
            for (node, shape) in changes {
                let geometry = region.geometry(&shape);
                set += &lines(node, &geometry);
                model.set(node, geometry);
            }
            db.mutate(&set, "").unwrap();
            check(&db, &model, region, &requested);
        }
        let mut delete = String::new();
        for node in gone {
            delete += &format!("<{node}> <single> * .\n<{node}> <list> * .\n");
            model.single.remove(&node);
            model.list.remove(&node);
        }
        db.mutate("", &delete).unwrap();
        check(&db, &model, region, &requested);
        let folder = tempfile::tempdir().unwrap();
        db.save(&folder.path().join("saved")).unwrap();
        let opened = Database::open(&folder.path().join("saved"), OpenOptions::default()).unwrap();
        check(&opened, &model, region, &requested);
        db.alter("single: geo .\nlist: [geo] .").unwrap();
        db.alter("single: geo @index(geo) .\nlist: [geo] @index(geo) .").unwrap();
        check(&db, &model, region, &requested);
    }
}
