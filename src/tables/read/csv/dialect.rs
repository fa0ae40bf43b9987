//! How a delimited text file is written.

use crate::tables::shape::options::NO_SEPARATOR;

/// The special characters of a delimited text file. All are ASCII, but for [`NO_SEPARATOR`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) struct Dialect {
    /// The byte between the fields of a record.
    pub separator: u8,
    /// The byte around a field that may hold separators and line breaks; `None` where quotes are
    /// literal.
    pub quote: Option<u8>,
    /// The byte that makes the next one literal: any one within quotes, a special character
    /// outside of them. Two quotes within quotes are always one literal quote.
    pub escape: Option<u8>,
    /// The byte that makes a line a comment where it is the first one.
    pub comment: Option<u8>,
    /// Whether that byte also begins a comment after the fields of a record, outside quotes.
    pub has_comments_in_lines: bool,
    /// Whether several separators in a row are one, as in columns that are aligned by blanks. A
    /// line may begin and end with them.
    pub merges_separators: bool,
    /// Whether an empty line is a record, as it is in a file of one column.
    pub retains_empty_lines: bool,
}

impl Dialect {
    /// What RFC 4180 describes, with another separator.
    pub(in crate::tables) fn separated_by(separator: u8) -> Dialect {
        Dialect {
            separator,
            quote: Some(b'"'),
            escape: None,
            comment: None,
            has_comments_in_lines: false,
            merges_separators: false,
            retains_empty_lines: false,
        }
    }

    /// The escape outside quotes: a quote that escapes quotes is literal there.
    pub(in crate::tables) fn escape_outside(&self) -> Option<u8> {
        self.escape.filter(|escape| self.quote != Some(*escape))
    }

    /// The number of bytes at the beginning of `behind`, the text after an escape outside quotes,
    /// that are literal by it: a special character, a line break, or none.
    pub(in crate::tables) fn escaped_len(&self, behind: &[u8]) -> usize {
        let signs = [Some(self.separator), self.quote, self.escape, self.comment];
        match behind {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            [sign, ..] => usize::from(signs.contains(&Some(*sign))),
            [] => 0,
        }
    }
}

/// The name of a separator in reports: `comma`, `tab`, or the character itself.
pub(in crate::tables) fn separator_name(separator: u8) -> String {
    match separator {
        b',' => "comma".to_owned(),
        b';' => "semicolon".to_owned(),
        b'\t' => "tab".to_owned(),
        b'|' => "bar".to_owned(),
        b' ' => "blank".to_owned(),
        NO_SEPARATOR => "no separator".to_owned(),
        other => format!("{:?}", char::from(other)),
    }
}
