//! Statements whose parts a client gives one by one, as the text that mutations are read from.
//!
//! All that is checked of a statement is checked where texts are read. Only what would end a part
//! early, and so begin something that nobody wrote, is refused here.

use hexgraph_base::formats::{write_facets, write_literal};
use hexgraph_base::types::{Error, Result, ValueRef, ValueType};

/// Statements as N-Quads, one a line.
#[derive(Debug, Default)]
pub struct QuadText {
    text: Vec<u8>,
    count: usize,
}

/// A statement in parts.
#[derive(Debug, Clone, Copy)]
pub struct QuadParts<'a> {
    /// A uid, `_:name`, `uid(variable)` or `*`.
    pub subject: &'a str,
    /// The name of the predicate, or `*` for all.
    pub predicate: &'a str,
    /// What is on the other side.
    pub object: QuadObject<'a>,
    /// The language of a value; empty for none.
    pub lang: &'a str,
    /// Properties of the edge or value.
    pub facets: &'a [(&'a str, ValueRef<'a>)],
}

/// The other side of a statement.
#[derive(Debug, Clone, Copy)]
pub enum QuadObject<'a> {
    /// A uid, `_:name`, `uid(variable)` or `val(variable)`.
    Node(&'a str),
    /// A value.
    Value(ValueRef<'a>),
    /// Whatever is there.
    Star,
}

impl QuadText {
    /// Adds a statement. Costs its length.
    ///
    /// ```
    /// use hexgraph::db::{Database, QuadObject, QuadParts, QuadText};
    /// use hexgraph::types::ValueRef;
    ///
    /// let mut quads = QuadText::default();
    /// quads.push(&QuadParts {
    ///     subject: "_:ada",
    ///     predicate: "name",
    ///     object: QuadObject::Value(ValueRef::Default("Ada \"Countess\" Lovelace")),
    ///     lang: "en",
    ///     facets: &[],
    /// })?;
    /// assert_eq!(quads.into_text(), "<_:ada> <name> \"Ada \\\"Countess\\\" Lovelace\"@en .\n");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the number of the statement, for a part that can't be one in any text.
    pub fn push(&mut self, quad: &QuadParts<'_>) -> Result<()> {
        self.count += 1;
        self.push_name("subject", quad.subject)?;
        self.check_part("language", quad.lang, |c| c.is_alphanumeric() || c == '-' || c == ':')?;
        // In N-Quads only a literal has a language of its own; that of `*` is written at the
        // predicate, as in `<name@de> *`.
        let is_value = matches!(quad.object, QuadObject::Value(_));
        match (quad.predicate, quad.lang) {
            (name, lang) if !is_value && !lang.is_empty() && name != "*" => {
                self.push_name("predicate", &format!("{name}@{lang}"))?;
            }
            (name, _) => self.push_name("predicate", name)?,
        }
        match quad.object {
            QuadObject::Node(name) => self.push_name("object", name)?,
            QuadObject::Star => self.push_name("object", "*")?,
            QuadObject::Value(value) => {
                write_literal(value, quad.lang, ValueType::Default, &mut self.text);
            }
        }
        for (key, _) in quad.facets {
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"=,()\"".contains(c);
            self.check_part("facet", key, is_plain)?;
        }
        write_facets(quad.facets, &mut self.text);
        self.text.extend_from_slice(b" .\n");
        Ok(())
    }

    /// The statements: [`crate::db::Statements::NQuads`] takes them.
    ///
    /// ```
    /// use hexgraph::db::{Database, QuadObject, QuadParts, QuadText};
    ///
    /// let db = Database::in_memory();
    /// let mut quads = QuadText::default();
    /// let object = QuadObject::Node("0x2");
    /// let quad = QuadParts { subject: "0x1", predicate: "knows", object, lang: "", facets: &[] };
    /// quads.push(&quad)?;
    /// assert_eq!(db.mutate(&quads.into_text(), "")?.effect.edges_set, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn into_text(self) -> String {
        String::from_utf8(self.text).expect("it is written from texts")
    }

    /// Adds a name between brackets, and a blank.
    fn push_name(&mut self, part: &str, name: &str) -> Result<()> {
        if name == "*" {
            self.text.extend_from_slice(b"* ");
            return Ok(());
        }
        self.check_part(part, name, |c| !c.is_control() && !"<>".contains(c))?;
        self.text.push(b'<');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"> ");
        Ok(())
    }

    fn check_part(&self, part: &str, text: &str, fits: impl Fn(char) -> bool) -> Result<()> {
        match text.chars().find(|&c| !fits(c)) {
            None => Ok(()),
            Some(wrong) => {
                let count = self.count;
                let message = format!(
                    "statement {count}: `{}` is not allowed in the {part} `{}`",
                    wrong.escape_debug(),
                    text.escape_debug()
                );
                Err(Error::query(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::formats::{Object, parse_text};
    use proptest::prelude::*;

    fn parts<'a>(subject: &'a str, predicate: &'a str, object: QuadObject<'a>) -> QuadParts<'a> {
        QuadParts { subject, predicate, object, lang: "", facets: &[] }
    }

    #[test]
    fn statements_are_one_a_line() {
        let mut text = QuadText::default();
        let facets = [("since", ValueRef::Int(3)), ("weight", ValueRef::Float(1.0))];
        let quads = [
            QuadParts { facets: &facets, ..parts("_:a", "knows", QuadObject::Node("0x2")) },
            parts("uid(v)", "age", QuadObject::Value(ValueRef::Int(-5))),
            parts("0x1", "note", QuadObject::Value(ValueRef::Default("a\n\"b\" <c> ."))),
            QuadParts {
                lang: "en",
                ..parts("0x1", "n", QuadObject::Value(ValueRef::Default("x")))
            },
            QuadParts { lang: "en", ..parts("0x1", "n", QuadObject::Star) },
            parts("0x1", "*", QuadObject::Star),
        ];
        quads.iter().for_each(|quad| text.push(quad).unwrap());
        let want = [
            "<_:a> <knows> <0x2>  (since=3, weight=1.0) .",
            "<uid(v)> <age> \"-5\"^^<xs:int> .",
            "<0x1> <note> \"a\\n\\\"b\\\" <c> .\" .",
            "<0x1> <n> \"x\"@en .",
            "<0x1> <n@en> *  .",
            "<0x1> * *  .",
            "",
        ];
        assert_eq!(text.into_text(), want.join("\n"));
    }

    /// Texts that are likely to end a part, and some that are not.
    fn part() -> impl Strategy<Value = String> {
        let chunks = prop::sample::select(vec![
            "a", "0x1", "_:", "uid(", "val(", ")", "<", ">", "*", "@", "\"", "\\", "\n", "\r",
            "\t", " ", ".", "#", "^^", "(", "=", ",", "{", "}", "é", "\u{85}", "\u{2028}", "\0",
            "%", "~",
        ]);
        prop::collection::vec(chunks, 0..5).prop_map(|chunks| chunks.concat())
    }

    proptest! {
        /// Whatever the parts are, they make one statement or none: it is refused here, or where it
        /// is read.
        #[test]
        fn parts_are_one_statement_at_most(
            (subject, predicate, node, lang, key) in (part(), part(), part(), part(), part()),
            (text, kind) in (part(), 0..3_u8),
        ) {
            let facets = [(key.as_str(), ValueRef::String(&text))];
            let object = match kind {
                0 => QuadObject::Node(&node),
                1 => QuadObject::Star,
                _ => QuadObject::Value(ValueRef::Default(&text)),
            };
            let facets = if key.is_empty() { &[][..] } else { &facets };
            let quad = QuadParts { lang: &lang, facets, ..parts(&subject, &predicate, object) };
            let mut written = QuadText::default();
            if written.push(&quad).is_ok() {
                let written = written.into_text();
                prop_assert_eq!(written.matches('\n').count(), 1, "{}", written);
                if let Ok(read) = parse_text(&written) {
                    prop_assert_eq!(read.len(), 1, "{}", written);
                    if let Object::Literal { text: result, .. } = &read[0].object {
                        prop_assert_eq!(&**result, text.as_str());
                    }
                    for (result, value) in &read[0].facets {
                        prop_assert_eq!((*result, value.as_ref()), (key.as_str(), ValueRef::String(&text)));
                    }
                }
            }
        }
    }

    #[test]
    fn no_part_begins_another_statement() {
        let star = QuadObject::Star;
        let value = QuadObject::Value(ValueRef::Default("x"));
        let key = [("a=1) . ", ValueRef::Int(1))];
        for (quad, why) in [
            (
                parts("0x1> <p> * .\n<0x2", "p", star),
                "statement 1: `>` is not allowed in the subject",
            ),
            (parts("0x1", "p\n", star), "`\\n` is not allowed in the predicate `p\\n`"),
            (parts("0x1", "p", QuadObject::Node("<")), "is not allowed in the object `<`"),
            (
                QuadParts { lang: "en .", ..parts("0x1", "p", value) },
                "` ` is not allowed in the language",
            ),
            (
                QuadParts { facets: &key, ..parts("0x1", "p", star) },
                "`=` is not allowed in the facet",
            ),
        ] {
            let error = QuadText::default().push(&quad).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
