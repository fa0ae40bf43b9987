//! Reads N-Quads (W3C, RDF 1.1 N-Quads): one statement a line, with subject, predicate and object.
//! Facets in parentheses, `*`, `uid(v)` and `val(v)` are extensions of the standard.

use crate::formats::nquads::escape::unescape;
use crate::formats::nquads::facet::parse_facets;
use crate::formats::nquads::scanner::{Scanned, Scanner};
use crate::formats::{Admitted, LineFault, NQuad, Predicate, Subject};
use crate::types::{ConvertError, Error, Position, Result, Value, ValueType, without_mark};
use std::borrow::Cow;

/// The facets of a shorter line are not reserved for before it is read.
const LONG_LINE: usize = 16 << 10;

/// Reads one line. Returns `None` when it is blank or a comment. White space around the statement,
/// a carriage return included, is ignored.
///
/// The result borrows from the line; memory is allocated for escapes and facets only.
///
/// # Errors
///
/// [`LineFault`] with the first byte that does not fit the grammar. Whether the text of a literal
/// is a value of its type is not checked here; [`literal_value`] does that.
pub fn parse_line(line: &str) -> std::result::Result<Option<NQuad<'_>>, LineFault> {
    Ok(statement(Scanner::new(line))?.map(|statement| statement.quad))
}

/// A statement of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileStatement<'a> {
    /// The statement.
    pub quad: NQuad<'a>,
    /// The name of its graph, as it is written, where that is no number.
    pub graph: Option<&'a str>,
}

/// Reads a line of a file that is loaded: as [`parse_line`], but nodes may be called by external
/// ids ([`Subject::Name`]), and graphs may have names.
///
/// # Errors
///
/// As [`parse_line`].
pub fn parse_file_line(line: &str) -> std::result::Result<Option<FileStatement<'_>>, LineFault> {
    statement(Scanner::new(line).with_names())
}

/// Returns the external id that is written as `name` between `<` and `>`: escapes are the
/// characters that they mean.
///
/// # Errors
///
/// [`LineFault`] with the byte of the name where an escape means no character.
pub fn name_text(name: &str) -> std::result::Result<Cow<'_, str>, LineFault> {
    if !name.contains('\\') {
        return Ok(Cow::Borrowed(name));
    }
    unescape(name).map(Cow::Owned).map_err(|(at, reason)| LineFault {
        column: u32::try_from(at).unwrap_or(u32::MAX),
        message: format!("`<{name}>` has a wrong escape: {reason}"),
    })
}

/// Reads an entire line: subject, predicate, object, at most a graph label, facets, the dot, at
/// most a comment.
fn statement(mut scanner: Scanner<'_>) -> Scanned<Option<FileStatement<'_>>> {
    if matches!(scanner.peek(), None | Some(b'#')) {
        return Ok(None);
    }
    let subject = scanner.subject()?;
    scanner.skip_blanks();
    let (predicate, mut lang) = scanner.predicate()?;
    scanner.skip_blanks();
    // With a `*` the object must be a `*`, so a typed literal is refused there.
    let starred = subject == Subject::Star || predicate == Predicate::Star;
    let at = Position { line: 1, column: u32::try_from(scanner.offset()).unwrap_or(u32::MAX) };
    let object = scanner.object(starred, &mut lang)?;
    scanner.skip_blanks();
    let graph = scanner.skip_label()?;
    let facets =
        if scanner.peek() == Some(b'(') { parse_facets(&mut scanner)? } else { Vec::new() };
    scanner.end()?;
    let quad = NQuad { subject, predicate, lang, object, facets, in_list: None, at };
    Ok(Some(FileStatement { quad, graph }))
}

/// Reads a text with one statement on each line into a list. The text may be a part of a larger
/// one, such as the body of a mutation: `start` is the position where it begins, and all positions
/// are those in the larger text. One that is no part may begin with a byte order mark.
///
/// # Errors
///
/// [`Error::Syntax`] with the position of the first fault; those of the list's
/// [`Admission`](crate::formats::Admission).
pub fn read_text_at<'t>(
    text: &'t str,
    start: Position,
    statements: &mut Admitted<'t, '_>,
) -> Result<()> {
    let mut reserved = 0;
    let is_part = start != Position { line: 1, column: 0 };
    let text = if is_part { text } else { without_mark(text) };
    for (index, line) in text.split('\n').enumerate() {
        let facets = facets_bytes(line);
        if reserved < facets {
            statements.admission().reserve(facets - reserved)?;
            reserved = facets;
        }
        match parse_line(line) {
            Ok(None) => {}
            Ok(Some(mut statement)) => {
                statement.at = position(start, index, statement.at.column);
                statements.push(statement)?;
            }
            Err(fault) => {
                return Err(Error::syntax(position(start, index, fault.column), fault.message));
            }
        }
    }
    Ok(())
}

/// Reads a text with one statement on each line; positions count from its start.
///
/// # Errors
///
/// [`Error::Syntax`] with the position of the first fault.
pub fn parse_text(text: &str) -> Result<Vec<NQuad<'_>>> {
    let mut statements = Admitted::new(&());
    read_text_at(text, Position { line: 1, column: 0 }, &mut statements)?;
    Ok(statements.into_quads())
}

/// The maximal bytes for the facets of a line during parsing, if they are many: `a=1,` has four
/// bytes and needs two hundred.
fn facets_bytes(line: &str) -> usize {
    if line.len() < LONG_LINE {
        return 0;
    }
    let commas = line.bytes().filter(|byte| *byte == b',').count();
    // A list has up to twice the capacity that it needs, and is copied while it grows.
    3 * commas * size_of::<(&str, Value)>()
}

/// The position of a column of the line `index` (from 0) of a text that begins at `start`.
fn position(start: Position, index: usize, column: u32) -> Position {
    let lines = u32::try_from(index).unwrap_or(u32::MAX);
    // Only the first line has preceding text on its line in the larger text.
    let before = if index == 0 { start.column } else { 0 };
    Position { line: start.line.saturating_add(lines), column: before.saturating_add(column) }
}

/// Reads the text of a literal as a value of its type. The text of a password is a hash, which is
/// what RDF contains.
///
/// # Errors
///
/// [`ConvertError`] when the text is no value of the type.
pub fn literal_value(
    text: &str,
    value_type: ValueType,
) -> std::result::Result<Value, ConvertError> {
    match value_type {
        ValueType::Default => Ok(Value::Default(text.to_string())),
        ValueType::String => Ok(Value::String(text.to_string())),
        ValueType::Password => Ok(Value::hashed_password(text)?),
        _ => Value::parse(text, value_type),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;
    use crate::formats::Object;
    use crate::types::Uid;

    fn read(line: &str) -> NQuad<'_> {
        parse_line(line).unwrap_or_else(|fault| panic!("{line}: {fault}")).expect(line)
    }

    fn plain<'a>(subject: Subject<'a>, predicate: &'a str, object: Object<'a>) -> NQuad<'a> {
        let predicate = Predicate::Name(predicate);
        NQuad {
            subject,
            predicate,
            lang: "",
            object,
            facets: Vec::new(),
            in_list: None,
            at: Position::default(),
        }
    }

    fn literal(text: &str, value_type: ValueType) -> Object<'_> {
        Object::Literal { text: Cow::Borrowed(text), value_type }
    }

    #[test]
    fn statements() {
        let default = ValueType::Default;
        #[rustfmt::skip]
        let cases = [
            ("<0x1> <p> <0x2> .", plain(Subject::Uid(1), "p", Object::Uid(2))),
            ("\t<1><p><0b11>.\r", plain(Subject::Uid(1), "p", Object::Uid(3))),
            ("<0xffffffffffffffff> <p> <017> . # c", plain(Subject::Uid(u64::MAX), "p", Object::Uid(15))),
            ("<0x00000000000000001> <p> <0X_1F> .", plain(Subject::Uid(1), "p", Object::Uid(31))),
            ("_:a.b <p> _:é-1 .", plain(Subject::Blank("a.b"), "p", Object::Blank("é-1"))),
            ("<_:a> <p> <_:b> .", plain(Subject::Blank("a"), "p", Object::Blank("b"))),
            ("uid ( v ) <p> val( x ).", plain(Subject::Var("v"), "p", Object::Val("x"))),
            ("<uid(v)> <p> <val(x)> .", plain(Subject::Var("v"), "p", Object::Val("x"))),
            ("uid(v)<p>uid(w) .", plain(Subject::Var("v"), "p", Object::Var("w"))),
            ("* <p> *.", plain(Subject::Star, "p", Object::Star)),
            ("_:a <p> \"v\".", plain(Subject::Blank("a"), "p", literal("v", default))),
            ("_:a <p> \"\" .", plain(Subject::Blank("a"), "p", literal("", default))),
            ("_:a <http://x.y/z#é> \"*\" <0x0> .", plain(Subject::Blank("a"), "http://x.y/z#é", literal("*", default))),
            ("_:a <p> \"v\" _:graph .", plain(Subject::Blank("a"), "p", literal("v", default))),
            ("_:a <p> \"1\"^^<http://www.w3.org/2001/XMLSchema#gYear> .", plain(Subject::Blank("a"), "p", literal("1", ValueType::DateTime))),
            ("_:a <p> \"[1]\"^^<xs:[]float32>.", plain(Subject::Blank("a"), "p", literal("[1]", ValueType::Vector))),
            ("_:a <p> \"{}\"^^<geo:geojson>.", plain(Subject::Blank("a"), "p", literal("{}", ValueType::Geo))),
        ];
        for (line, want) in cases {
            let read = read(line);
            assert_eq!(NQuad { at: Position::default(), ..read }, want, "{line}");
        }
        assert_eq!(read("_:a * * .").predicate, Predicate::Star);
        assert_eq!(read("_:a <name@en> * .").lang, "en");
        assert_eq!(read("_:a <name@en> \"x\"@de-AT .").lang, "de-AT");
        assert_eq!(read("_:a <name@> \"x\" .").predicate, Predicate::Name("name@"));
        let text: Cow<'_, str> = Cow::Owned("a\"\u{1F600}".to_string());
        let want = Object::Literal { text, value_type: default };
        assert_eq!(read(r#"_:a <p> "a\"\U0001F600" ."#).object, want);
        for line in ["", "  \t\r", "# all", "   #"] {
            assert_eq!(parse_line(line), Ok(None));
        }
    }

    #[test]
    fn nodes_of_files_may_have_names() {
        let read = |line| parse_file_line(line).map(|read| read.map(|it| (it.quad, it.graph)));
        let (quad, graph) =
            read("<alice> <knows> <http://x.y/caf\\u00e9#1> <http://g> (w=1) .").unwrap().unwrap();
        assert_eq!(quad.subject, Subject::Name("alice"));
        assert_eq!(quad.object, Object::Name("http://x.y/caf\\u00e9#1"));
        assert_eq!((quad.facets.len(), graph), (1, Some("http://g")));
        assert_eq!(name_text("http://x.y/caf\\u00e9#1").unwrap(), "http://x.y/café#1");
        assert!(name_text("\\ud800x").unwrap_err().message.contains("means nothing"));
        // What is a uid, a label or a variable stays one.
        let (quad, graph) = read("<0x1f> <p> <_:b> <3> .").unwrap().unwrap();
        assert_eq!((quad.subject, quad.object), (Subject::Uid(31), Object::Blank("b")));
        assert_eq!(graph, None);
        let (quad, _) = read("<uid(v)> <p> <val(x)> .").unwrap().unwrap();
        assert_eq!((quad.subject, quad.object), (Subject::Var("v"), Object::Val("x")));
        for (line, why) in [
            ("<0> <p> <1> .", "uids start at 1"),
            ("<18446744073709551616> <p> <1> .", "uids have 64 bits"),
            ("<1> <p> <0x10000000000000000> .", "uids have 64 bits"),
            ("<::> <p> <1> .", "is no name"),
            ("<a b> <p> <1> .", "between `<` and `>`"),
            ("<a> <p> bob .", "expected an object"),
        ] {
            let fault = read(line).unwrap_err().to_string();
            assert!(fault.contains(why), "{line}: {fault}");
        }
        // Only files have names.
        for line in ["<alice> <p> <1> .", "<1> <p> <bob> .", "<1> <p> <2> <http://g> ."] {
            assert!(parse_line(line).is_err(), "{line}");
        }
    }

    #[test]
    fn facets_are_ordered_by_key() {
        let facets = read(r#"<1> <p> <2> (w=0.5,b= true , a="x\ty", n=,i=0x10) ."#).facets;
        let want = [
            ("a", Value::String("x\ty".to_string())),
            ("b", Value::Bool(true)),
            ("i", Value::Int(16)),
            ("n", Value::String(String::new())),
            ("w", Value::Float(0.5)),
        ];
        assert_eq!(facets, want);
    }

    #[test]
    fn text_of_many_lines() {
        let text = "# start\r\n<1> <p> <2> .\r\n\r\n  <2> <p> \"x\" . # end\n";
        assert_eq!(parse_text(text).unwrap().len(), 2);
        let fault = parse_text("<1> <p> <2> .\n\n<1> <p> x .\n").unwrap_err().to_string();
        assert!(fault.starts_with("line 3 column 9: found `x`"), "{fault}");
    }

    fn shared(path: &str) -> Option<String> {
        let folder = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
            || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
            PathBuf::from,
        );
        let text = std::fs::read_to_string(folder.join(path)).ok();
        if text.is_none() {
            println!("skipped: no {path}");
        }
        text
    }

    /// Writes a subject or object id as Dgraph does; uids as numbers.
    fn node_text(label: &str) -> String {
        Uid::parse(label).map_or(label.to_string(), |uid| uid.to_string())
    }

    fn subject_text(subject: Subject<'_>) -> String {
        match subject {
            Subject::Uid(number) => Uid(number).to_string(),
            Subject::Blank(label) => format!("_:{label}"),
            Subject::Name(name) => name.to_string(),
            Subject::New(number) => format!("_:{number}"),
            Subject::Var(name) => format!("uid({name})"),
            Subject::Star => "_STAR_ALL".to_string(),
        }
    }

    /// The parts of a statement as Dgraph records them.
    fn recorded_parts(nquad: &Json) -> Vec<String> {
        let text = |key: &str| nquad[key].as_str().unwrap_or_default().to_string();
        let value = &nquad["object_value"];
        let shown = match &value["value"] {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut parts = vec![
            node_text(&text("subject")),
            text("predicate"),
            text("lang"),
            node_text(&text("object_id")),
            if value.is_null() { String::new() } else { format!("{} {shown}", value["type"]) },
        ];
        for facet in nquad["facets"].as_array().into_iter().flatten() {
            parts.push(format!("{} {} {}", facet["key"], facet["type"], facet["value_hex"]));
        }
        parts
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn our_parts(nquad: &NQuad<'_>) -> std::result::Result<Vec<String>, ConvertError> {
        let predicate = match nquad.predicate {
            Predicate::Name(name) => name,
            Predicate::Star => "_STAR_ALL",
        };
        let (id, value) = match &nquad.object {
            Object::Uid(number) => (Uid(*number).to_string(), String::new()),
            Object::Blank(label) => (format!("_:{label}"), String::new()),
            Object::Name(name) => (name.to_string(), String::new()),
            Object::Var(name) => (format!("uid({name})"), String::new()),
            Object::Val(name) => (format!("val({name})"), String::new()),
            Object::Star => (String::new(), "\"default\" _STAR_ALL".to_string()),
            Object::Literal { text, value_type } => {
                let shown = match literal_value(text, *value_type)? {
                    Value::Default(text) | Value::String(text) | Value::Password(text) => text,
                    Value::Int(number) => number.to_string(),
                    other => panic!("no such value is recorded: {other:?}"),
                };
                (String::new(), format!("\"{}\" {shown}", value_type.name()))
            }
            Object::New(_) | Object::Value(_) => panic!("no line has it: {:?}", nquad.object),
        };
        let subject = subject_text(nquad.subject);
        let mut parts = vec![subject, predicate.to_string(), nquad.lang.to_string(), id, value];
        for (key, value) in &nquad.facets {
            let (kind, bytes) = match value {
                Value::String(text) => ("STRING", text.clone().into_bytes()),
                Value::Int(number) => ("INT", number.to_le_bytes().to_vec()),
                Value::Float(number) => ("FLOAT", number.to_le_bytes().to_vec()),
                Value::Bool(truth) => ("BOOL", vec![u8::from(*truth)]),
                Value::DateTime(time) => ("DATETIME", time.to_binary()),
                other => panic!("no facet has this type: {other:?}"),
            };
            parts.push(format!("\"{key}\" \"{kind}\" \"{}\"", hex(&bytes)));
        }
        Ok(parts)
    }

    #[test]
    fn recorded_lines_agree() {
        let Some(lines) = shared("conformance/dql/rdf.jsonl") else { return };
        let mut wrong = Vec::new();
        for case in lines.lines() {
            let case: Json = serde_json::from_str(case).unwrap();
            let line = case["line"].as_str().unwrap();
            let ours = match parse_file_line(line) {
                // Dgraph has no names of graphs.
                Ok(Some(FileStatement { graph: Some(name), .. })) => Err(name.to_string()),
                Ok(Some(statement)) => {
                    our_parts(&statement.quad).map_err(|error| error.to_string())
                }
                Ok(None) => Err("RDF: harmless error, e.g. comment line".to_string()),
                Err(fault) => Err(fault.to_string()),
            };
            let same = match &ours {
                Ok(parts) => case["ok"] == true && *parts == recorded_parts(&case["nquad"]),
                Err(_) => case["ok"] == false,
            };
            if !same {
                wrong.push(format!("{}: {line}\n  ours {ours:?}\n  {}", case["id"], case["nquad"]));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "\\PC*") {
            let _ = parse_line(&line);
        }

        /// Fragments of statements in any order, with strange characters between them.
        #[test]
        fn any_fragments_are_read_or_refused(
            chunks in prop::collection::vec(
                prop::sample::select(vec![
                    "<", ">", "0x1f", "_:", "_:a", "é", "\"", "\\", "\\u00e9", "\\x", "@", "@en",
                    "^^", "<xs:int>", "12", "uid(", "val", ")", "(", "k=", ",", "*", ".", " ", "\t",
                    "#", "\r", "\u{0}", "<p> ", "<1> ", "<2> ", "\"v\"", "\u{2028}", "- ",
                ]),
                0..14,
            ),
        ) {
            let line = chunks.concat();
            if let Err(fault) = parse_line(&line) {
                prop_assert!(fault.column as usize <= line.len());
            }
            let _ = parse_text(&line);
        }

        #[test]
        fn quoted_text_comes_back(text in any::<String>()) {
            let escaped: String = text
                .chars()
                .map(|character| match character {
                    '"' | '\\' => format!("\\{character}"),
                    '\n' | '\r' => format!("\\x{:02x}", character as u32),
                    'a'..='f' => format!("\\U{:08x}", character as u32),
                    _ => character.to_string(),
                })
                .collect();
            let line = format!("<1> <p> \"{escaped}\" .");
            let Object::Literal { text: got, .. } = read(&line).object else { unreachable!() };
            prop_assert_eq!(got, text);
        }
    }
}
