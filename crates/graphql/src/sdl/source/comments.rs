//! Reads the comment lines that have a meaning: `# Dgraph.Authorization`, `# Dgraph.Allow-Origin`
//! and `# Dgraph.Secret`. They may occur anywhere.

use crate::model::Authorization;
use crate::sdl::rules::authorization_comment;
use crate::syntax::GraphqlError;

/// What the comment lines of a schema say.
#[derive(Debug, Default)]
pub(in crate::sdl) struct Comments {
    pub(in crate::sdl) authorization: Option<Authorization>,
    pub(in crate::sdl) allowed_origins: Vec<String>,
    pub(in crate::sdl) secrets: Vec<(String, String)>,
}

/// Reads the lines of a schema. O(text).
///
/// # Errors
///
/// The fault of the first line that can't be read.
pub(in crate::sdl) fn read(text: &str) -> Result<Comments, GraphqlError> {
    let mut comments = Comments::default();
    let mut authorization: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let Some(comment) = line.strip_prefix('#').map(str::trim) else { continue };
        if let Some(rest) = comment.strip_prefix("Dgraph.Authorization") {
            if authorization.replace(rest).is_some() {
                let message = format!(
                    "Dgraph.Authorization should be only be specified once in a schema, found \
                     second mention at line {number}"
                );
                return Err(GraphqlError::new(message));
            }
        } else if comment.starts_with("Dgraph.Allow-Origin") {
            let origin = origin(comment).ok_or_else(|| bad_origin(line))?;
            if !comments.allowed_origins.contains(&origin) {
                comments.allowed_origins.push(origin);
            }
        } else if comment.starts_with("Dgraph.Secret") {
            let (name, value) = secret(comment).ok_or_else(|| bad_secret(number))?;
            // The last line of a name counts.
            comments.secrets.retain(|(existing, _)| *existing != name);
            comments.secrets.push((name, value));
        }
    }
    // Read last, so that a second such line is reported before errors of the first.
    comments.authorization = authorization.map(authorization_comment::read).transpose()?;
    Ok(comments)
}

/// Reads the origin of a line; `None` when it has another form.
fn origin(comment: &str) -> Option<String> {
    let mut words = comment.split_whitespace().skip(1);
    let origin = serde_json::from_str(words.next()?).ok()?;
    words.next().is_none().then_some(origin)
}

fn bad_origin(line: &str) -> GraphqlError {
    GraphqlError::new(format!(
        "incorrect format for specifying Dgraph.Allow-Origin found for comment: `{line}`, it should \
         be `# Dgraph.Allow-Origin \"http://example.com\"`"
    ))
}

/// Reads `name "value"`; `None` for another form. Several blanks in the value count as one.
fn secret(comment: &str) -> Option<(String, String)> {
    let mut words = comment.split_whitespace().skip(1);
    let name = words.next()?.trim_matches('"').to_owned();
    let value = words.collect::<Vec<&str>>().join(" ");
    let inside = value.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('"')).then(|| (name, inside.to_owned()))
}

/// Makes the fault of a line with a secret, which is not quoted.
fn bad_secret(number: usize) -> GraphqlError {
    GraphqlError::new(format!(
        "incorrect format for specifying Dgraph secret found in the comment at line {number}, it should be \
         `# Dgraph.Secret key \"value\"`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_anywhere() {
        let text = "type A { f: Int }\n  #Dgraph.Allow-Origin \"http://a\"\n# Dgraph.Secret k \"v w\"\n\
                    # Dgraph.Allow-Origin   \"http://b\"\n# Dgraph.Allow-Origin \"http://a\"";
        let comments = read(text).expect("valid");
        assert_eq!(comments.allowed_origins, ["http://a", "http://b"]);
        assert_eq!(comments.secrets, [("k".to_owned(), "v w".to_owned())]);
        assert!(comments.authorization.is_none());
    }

    #[test]
    fn malformed_lines_are_reported() {
        for text in [
            "# Dgraph.Secret k hunter2",
            "# Dgraph.Secret hunter2",
            "# Dgraph.Secret k \"hunter2\" \"b\"",
        ] {
            let reported = read(&format!("\n{text}")).expect_err(text).message;
            assert!(reported.contains("in the comment at line 2, it should be"), "{reported}");
            assert!(!reported.contains("hunter2"), "{reported}");
        }
        for text in
            ["# Dgraph.Allow-Origin http://a", "# Dgraph.Allow-Origin \"http://a\" \"http://b\""]
        {
            assert!(read(text).expect_err(text).message.contains(text));
        }
        let line = "# Dgraph.Authorization H N HS256 \"k\"\n";
        let reported = read(&(line.to_owned() + line)).expect_err("twice").message;
        assert!(reported.ends_with("found second mention at line 2"), "{reported}");
    }
}
