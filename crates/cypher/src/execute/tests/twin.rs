//! A naive second executor of patterns: it assigns every relationship of the graph to every hop and
//! tests the result. Random patterns have the same bag of matches, whatever the order of the
//! executor's steps.

use super::context;
use super::memory_graph::MemoryGraph;
use crate::execute::execute;
use crate::parse;
use hexgraph_scalar::Map;
use proptest::prelude::*;
use serde_json::json;

type Edge = (u64, u64, usize);

#[derive(Debug, Clone)]
struct RandomGraph {
    /// The labels of each node, as bits, and its property.
    nodes: Vec<(u8, u64)>,
    edges: Vec<Edge>,
}

/// `(left)-[:type*1..max]->(right)` between two of four variables.
#[derive(Debug, Clone)]
struct RandomHop {
    left: usize,
    right: usize,
    /// 0 is to the right, 1 to the left, 2 both.
    direction: u8,
    type_id: Option<usize>,
}

#[derive(Debug, Clone)]
struct RandomPattern {
    hops: Vec<RandomHop>,
    label: Option<(usize, u8)>,
    property: Option<(usize, u64)>,
    /// Two variables that have the same property.
    equal: Option<(usize, usize)>,
    /// Whether the hops are clauses of their own.
    apart: bool,
}

const TYPES: [&str; 2] = ["S", "T"];
const LABELS: [&str; 2] = ["A", "B"];

fn graphs() -> impl Strategy<Value = RandomGraph> {
    (1..5_u64).prop_flat_map(|count| {
        let nodes = prop::collection::vec((0..4_u8, 0..3_u64), count as usize);
        let edges = prop::collection::btree_set((0..count, 0..count, 0..2_usize), 0..8);
        (nodes, edges)
            .prop_map(|(nodes, edges)| RandomGraph { nodes, edges: edges.into_iter().collect() })
    })
}

fn patterns() -> impl Strategy<Value = RandomPattern> {
    let hop = (0..4_usize, 0..4_usize, 0..3_u8, prop::option::of(0..2_usize)).prop_map(
        |(left, right, direction, type_id)| RandomHop { left, right, direction, type_id },
    );
    let pair = |most| prop::option::of((0..4_usize, 0..most));
    (prop::collection::vec(hop, 1..4), pair(2_u64), pair(3), pair(4), any::<bool>()).prop_map(
        |(hops, label, property, equal, apart)| {
            let has =
                |variable: usize| hops.iter().any(|it| it.left == variable || it.right == variable);
            let label = label.filter(|it| has(it.0)).map(|(at, bit)| (at, bit as u8));
            let property = property.filter(|it| has(it.0));
            let equal = equal.map(|(one, other)| (one, other as usize));
            let equal = equal.filter(|it| has(it.0) && has(it.1));
            RandomPattern { label, property, equal, apart, hops }
        },
    )
}

impl RandomGraph {
    fn memory(&self) -> MemoryGraph {
        let labels = |bits: u8| {
            (0..2).filter(move |bit| bits & 1 << bit != 0).map(|bit| LABELS[bit as usize])
        };
        let node = |(id, (bits, x)): (usize, &(u8, u64))| json!({"id": id, "labels": labels(*bits).collect::<Vec<_>>(), "props": {"x": x, "i": x}});
        let edge = |(src, dst, at): &Edge| json!({"src": src, "dst": dst, "type": TYPES[*at], "props": {}});
        MemoryGraph::new(&json!({
            "nodes": self.nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
        }))
    }
}

impl RandomPattern {
    fn text(&self) -> String {
        let hop = |(at, hop): (usize, &RandomHop)| {
            let (left, right) = [("-", "->"), ("<-", "-"), ("-", "-")][hop.direction as usize];
            let name = hop.type_id.map_or(String::new(), |it| format!(":{}", TYPES[it]));
            format!("(v{}){left}[r{at}{name}]{right}(v{})", hop.left, hop.right)
        };
        let hops: Vec<String> = self.hops.iter().enumerate().map(hop).collect();
        let mut text = format!("MATCH {}", hops.join(if self.apart { " MATCH " } else { ", " }));
        let mut conditions = Vec::new();
        conditions.extend(self.label.map(|(at, bit)| format!("v{at}:{}", LABELS[bit as usize])));
        conditions.extend(self.property.map(|(at, x)| format!("v{at}.i = {x}")));
        conditions.extend(self.equal.map(|(one, other)| format!("v{one}.x = v{other}.i")));
        if !conditions.is_empty() {
            text += &format!(" WHERE {}", conditions.join(" AND "));
        }
        let names = |prefix: &str, slots: Vec<usize>| {
            slots.iter().map(|at| format!("elementId({prefix}{at})")).collect::<Vec<_>>()
        };
        let mut columns = names("v", self.variables());
        columns.extend(names("r", (0..self.hops.len()).collect()));
        format!("{text} RETURN {}", columns.join(", "))
    }

    /// The variables that a hop has, in ascending order.
    fn variables(&self) -> Vec<usize> {
        let has = |at: &usize| self.hops.iter().any(|it| it.left == *at || it.right == *at);
        (0..4).filter(has).collect()
    }

    /// All matches, as the rows of the query.
    fn matches(&self, graph: &RandomGraph) -> Vec<String> {
        let mut rows = Vec::new();
        self.assign(graph, 0, &mut [None; 4], &mut Vec::new(), &mut rows);
        rows.sort();
        rows
    }

    fn assign(
        &self,
        graph: &RandomGraph,
        at: usize,
        nodes: &mut [Option<u64>; 4],
        used: &mut Vec<Edge>,
        rows: &mut Vec<String>,
    ) {
        let Some(hop) = self.hops.get(at) else {
            if self.holds(graph, nodes) {
                rows.push(self.row(nodes, used));
            }
            return;
        };
        for edge in &graph.edges {
            if hop.type_id.is_some_and(|it| it != edge.2) || !self.apart && used.contains(edge) {
                continue;
            }
            let (subject, object, _) = *edge;
            let mut pairs = vec![(subject, object), (object, subject)];
            match hop.direction {
                0 => pairs.truncate(1),
                1 => drop(pairs.remove(0)),
                _ => pairs.dedup(),
            }
            for (left, right) in pairs {
                let before = *nodes;
                let fits = [(hop.left, left), (hop.right, right)]
                    .into_iter()
                    .all(|(slot, id)| *nodes[slot].get_or_insert(id) == id);
                if fits {
                    used.push(*edge);
                    self.assign(graph, at + 1, nodes, used, rows);
                    used.pop();
                }
                *nodes = before;
            }
        }
    }

    fn holds(&self, graph: &RandomGraph, nodes: &[Option<u64>; 4]) -> bool {
        let data = |at: usize| graph.nodes[nodes[at].unwrap() as usize];
        self.label.is_none_or(|(at, bit)| data(at).0 & 1 << bit != 0)
            && self.property.is_none_or(|(at, x)| data(at).1 == x)
            && self.equal.is_none_or(|(one, other)| data(one).1 == data(other).1)
    }

    fn row(&self, nodes: &[Option<u64>; 4], used: &[Edge]) -> String {
        let mut cells: Vec<String> =
            self.variables().iter().map(|at| format!("{:#x}", nodes[*at].unwrap())).collect();
        cells.extend(used.iter().map(|(src, dst, at)| format!("{src:#x}-{}-{dst:#x}", TYPES[*at])));
        cells.join(" ")
    }
}

fn rows_of(text: &str, graph: &MemoryGraph) -> Vec<String> {
    let params = Map::new(Vec::new()).unwrap();
    let table = execute(&parse(text).unwrap(), &params, graph, &context()).unwrap();
    let text = |row: &Vec<hexgraph_scalar::Value>| {
        row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = table.rows.iter().map(text).collect();
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn patterns_match_as_by_trying_everything(graph in graphs(), pattern in patterns()) {
        let text = pattern.text();
        prop_assert_eq!(rows_of(&text, &graph.memory()), pattern.matches(&graph), "{}", text);
    }

    /// Nodes by their uids are those that a scan has: of a value, of a list, of each row, and
    /// before a count.
    #[test]
    fn uids_find_what_a_scan_finds(
        graph in graphs(),
        uids in prop::collection::vec(0..7_u64, 1..5),
        form in 0..5_usize,
    ) {
        let texts: Vec<String> = uids.iter().map(|it| format!("'{it:#x}'")).collect();
        let (start, condition) = match form {
            0 => (String::new(), format!("id(a) = {}", uids[0])),
            1 => (String::new(), format!("{} = elementId(a)", texts[0])),
            2 => (String::new(), format!("id(a) IN {uids:?}")),
            3 => (String::new(), format!("elementId(a) IN [{}, null, 'x']", texts.join(", "))),
            _ => (format!("UNWIND {uids:?} AS u "), "id(a) = u".to_owned()),
        };
        let scanned = condition.replace("elementId(a)", "(elementId(a) + '')").replace("id(a)", "(id(a) + 0)");
        let memory = graph.memory().with_lists(u64::MAX, 64 << 20);
        for rest in ["RETURN id(a)", "MATCH (a)-[r]->(b) RETURN id(a), id(b)", "MATCH (a)-->(b) RETURN count(*)"] {
            let text = |condition: &str| format!("{start}MATCH (a) WHERE {condition} {rest}");
            prop_assert_eq!(rows_of(&text(&condition), &memory), rows_of(&text(&scanned), &memory), "{}", text(&condition));
        }
        let joined = |condition: &str| format!("MATCH (a)-->(b) WHERE {condition} RETURN count(*)");
        if start.is_empty() {
            prop_assert_eq!(rows_of(&joined(&condition), &memory), rows_of(&joined(&scanned), &memory));
        }
    }

    /// A walk of up to three relationships is the union of the walks of one, two and three.
    #[test]
    fn walks_are_hops_in_a_row(graph in graphs(), direction in 0..3_usize) {
        let memory = graph.memory();
        let (left, right) = [("-", "->"), ("<-", "-"), ("-", "-")][direction];
        let walks = rows_of(&format!("MATCH p = (a){left}[*1..3]{right}(b) RETURN p"), &memory);
        let hops: Vec<String> = (1..=3)
            .map(|length| {
                let inside: String = (1..length).map(|at| format!("{left}[]{right}(v{at})")).collect();
                format!("MATCH p = (a){inside}{left}[]{right}(b) RETURN p")
            })
            .collect();
        prop_assert_eq!(&walks, &rows_of(&hops.join(" UNION ALL "), &memory));
        let back = rows_of(
            &format!("MATCH (b) WITH b ORDER BY b MATCH p = (a){left}[*1..3]{right}(b) RETURN p"),
            &memory,
        );
        prop_assert_eq!(&walks, &back);
    }

    /// The shortest paths are the walks with the smallest length, for each two endpoints.
    #[test]
    fn shortest_paths_are_the_shortest_walks(graph in graphs(), count in 1..4_u64) {
        let memory = graph.memory();
        let lengths = |selector: &str| {
            rows_of(
                &format!("MATCH p = {selector} (a)-[*1..6]->(b) RETURN elementId(a), elementId(b), length(p)"),
                &memory,
            )
        };
        let all = "MATCH p = (a)-[*1..6]->(b) WITH a, b, length(p) AS l ORDER BY l";
        let expected = rows_of(
            &format!("{all} WITH a, b, collect(l)[..{count}] AS ls UNWIND ls AS l RETURN elementId(a), elementId(b), l"),
            &memory,
        );
        prop_assert_eq!(lengths(&format!("SHORTEST {count}")), expected);
        let groups = rows_of(
            &format!(
                "{all} WITH a, b, collect(l) AS all, collect(DISTINCT l)[..{count}] AS ls UNWIND all AS l \
                 WITH a, b, l, ls WHERE l IN ls RETURN elementId(a), elementId(b), l"
            ),
            &memory,
        );
        prop_assert_eq!(lengths(&format!("SHORTEST {count} GROUPS")), groups);
        let endpoints = rows_of(
            "MATCH (a), (b) MATCH p = ALL SHORTEST (a)-[*1..6]->(b) RETURN elementId(a), elementId(b), length(p)",
            &memory,
        );
        prop_assert_eq!(lengths("ALL SHORTEST"), endpoints);
    }
}
