//! Geometries as well-known text (OGC 06-103r4, section 7) as GeoJSON.

use std::fmt::Write;

/// The kinds of geometries: their names here and in GeoJSON, and how deep their lists of positions
/// are in each other.
const KINDS: [(&str, &str, usize); 6] = [
    ("POINT", "Point", 0),
    ("LINESTRING", "LineString", 1),
    ("MULTIPOINT", "MultiPoint", 1),
    ("POLYGON", "Polygon", 2),
    ("MULTILINESTRING", "MultiLineString", 2),
    ("MULTIPOLYGON", "MultiPolygon", 3),
];

/// Returns true if a text begins as a geometry does. No other form of one begins with a character.
pub(in crate::tables) fn is_wkt(text: &str) -> bool {
    text.trim_start().starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Converts a geometry, such as `POINT (8.55 47.46)`, longitude first. `SRID=4326;` may stand
/// before it; heights are dropped. O(length).
///
/// # Errors
///
/// What is wrong, as a phrase.
pub(in crate::tables) fn geojson_of(text: &str) -> Result<String, String> {
    let text = text.trim();
    let rest = match text.get(..5).filter(|start| start.eq_ignore_ascii_case("SRID=")) {
        Some(_) => {
            let (srid, rest) = text[5..].split_once(';').ok_or("a `;` is missing behind SRID")?;
            if srid.trim() != "4326" {
                return Err(format!("SRID {srid}: coordinates are degrees, SRID 4326"));
            }
            rest.trim_start()
        }
        None => text,
    };
    let end = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
    let name = rest[..end].to_ascii_uppercase();
    let Some((_, title, depth)) = KINDS.iter().find(|(existing, _, _)| *existing == name) else {
        let names = KINDS.map(|(name, _, _)| name).join(", ");
        return Err(format!("it begins with {name:?}, not with one of {names}"));
    };
    let mut reader = Reader { rest: rest[end..].trim_start() };
    for mark in ["ZM", "Z", "M"] {
        let start = reader.rest.get(..mark.len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case(mark)) {
            reader.rest = reader.rest[mark.len()..].trim_start();
            break;
        }
    }
    if reader.rest.eq_ignore_ascii_case("EMPTY") {
        return Err("it is empty".to_owned());
    }
    let mut json = format!("{{\"type\":\"{title}\",\"coordinates\":");
    match *depth {
        0 => {
            reader.accept('(')?;
            reader.position(&mut json)?;
            reader.accept(')')?;
        }
        depth => reader.list(depth, name == "MULTIPOINT", &mut json)?,
    }
    json.push('}');
    match reader.rest {
        "" => Ok(json),
        rest => Err(format!("{rest:?} stands behind its end")),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn accept(&mut self, mark: char) -> Result<(), String> {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest.trim_start();
                Ok(())
            }
            None => Err(format!("{mark:?} is expected before {:?}", self.rest)),
        }
    }

    /// A list of lists, `depth` levels of them, the innermost of positions, each possibly in
    /// brackets of its own. The depth is at most three.
    fn list(&mut self, depth: usize, is_bracketed: bool, json: &mut String) -> Result<(), String> {
        self.accept('(')?;
        json.push('[');
        loop {
            if depth > 1 {
                self.list(depth - 1, false, json)?;
            } else if is_bracketed && self.rest.starts_with('(') {
                self.accept('(')?;
                self.position(json)?;
                self.accept(')')?;
            } else {
                self.position(json)?;
            }
            if self.rest.starts_with(',') {
                self.accept(',')?;
                json.push(',');
                continue;
            }
            json.push(']');
            return self.accept(')');
        }
    }

    /// Two numbers; a height and a measure after them are left out.
    fn position(&mut self, json: &mut String) -> Result<(), String> {
        let end = self.rest.find([',', '(', ')']).unwrap_or(self.rest.len());
        let (own, rest) = self.rest.split_at(end);
        let numbers = own.split_ascii_whitespace().map(|text| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("{text:?} is no number"))
        });
        let numbers = numbers.collect::<Result<Vec<f64>, String>>()?;
        let [longitude, latitude, others @ ..] = numbers.as_slice() else {
            return Err(format!("{:?} is no position: a longitude and a latitude", own.trim()));
        };
        if others.len() > 2 {
            return Err(format!("{:?} has more than four numbers", own.trim()));
        }
        self.rest = rest;
        write!(json, "[{longitude},{latitude}]").expect("a string takes what is written to it");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: text => GeoJSON, or a part of the fault.
    #[test]
    fn geometries() {
        #[rustfmt::skip]
        let cases: &[(&str, Result<&str, &str>)] = &[
            ("POINT (8.55 47.46)", Ok(r#"{"type":"Point","coordinates":[8.55,47.46]}"#)),
            ("srid=4326; point z(8 47 400)", Ok(r#"{"type":"Point","coordinates":[8,47]}"#)),
            ("SRID=4326;Point Z (8 47 400)", Ok(r#"{"type":"Point","coordinates":[8,47]}"#)),
            ("LINESTRING(0 0,1 1)", Ok(r#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#)),
            ("MULTIPOINT ((0 0), (1 1))", Ok(r#"{"type":"MultiPoint","coordinates":[[0,0],[1,1]]}"#)),
            ("MULTIPOINT (0 0, 1 1)", Ok(r#"{"type":"MultiPoint","coordinates":[[0,0],[1,1]]}"#)),
            ("POLYGON ((0 0, 2 0, 2 2, 0 0))", Ok(r#"{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,0]]]}"#)),
            ("MULTIPOLYGON (((0 0, 2 0, 2 2, 0 0)))", Ok(r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[2,2],[0,0]]]]}"#)),
            ("POINT EMPTY", Err("empty")),
            ("POINT (8,55 47)", Err("no position")),
            ("POINT (8 47", Err("')' is expected")),
            ("POINT (8 47) x", Err("behind its end")),
            ("SRID=2056;POINT (8 47)", Err("SRID 2056")),
            ("CIRCLE (8 47)", Err("it begins with \"CIRCLE\"")),
        ];
        for (text, want) in cases {
            match (geojson_of(text), want) {
                (Ok(result), Ok(want)) => assert_eq!(result, *want, "{text}"),
                (Err(fault), Err(want)) => assert!(fault.contains(want), "{text}: {fault}"),
                (result, _) => panic!("{text}: {result:?}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z(), 0-9.;=é-]{0,40}") {
            if let Ok(json) = geojson_of(&text) {
                proptest::prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
            }
        }
    }
}
