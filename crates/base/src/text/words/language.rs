//! The language a tag names, as far as the analysis has rules for it.

/// What an unknown, malformed or missing tag represents.
const FALLBACK: &str = "en";

/// The two-letter codes that name a language.
const TWO_LETTERS: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca \
    ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu \
    gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji jv jw ka kg ki kj kk \
    kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na \
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg \
    sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur \
    uz ve vi vo wa wo xh yi yo za zh zu";

/// The three-letter codes that name a language, a bit each, `aaa` first.
const THREE_LETTERS: &[u8; 26 * 26 * 26 / 8] = include_bytes!("language_codes.bin");

/// The base language of a BCP 47 tag (`en-US` gives `en`), by its shortest code; `en` when the
/// tag is empty, malformed or of no language that is registered. Languages for which the
/// analysis has no rules give the empty string.
pub(in crate::text) fn base(tag: &str) -> &'static str {
    // Nearly all calls are for these, so they go first.
    match tag {
        "" | "en" => return FALLBACK,
        _ => {}
    }
    if !is_well_formed(tag) {
        return FALLBACK;
    }
    let end = tag.find(['-', '_']).unwrap_or(tag.len());
    let code = tag[..end].to_ascii_lowercase();
    if is_registered(&code) { ruled(&code) } else { FALLBACK }
}

/// Whether a tag has the form of one: a language of 2 to 8 letters, then subtags of up to 8 letters
/// and digits.
pub(in crate::text) fn is_well_formed(tag: &str) -> bool {
    let mut subtags = tag.split(['-', '_']);
    let language = subtags.next().unwrap_or_default();
    let is_language = (2..=8).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut singleton = false;
    for subtag in subtags {
        if subtag.is_empty() || subtag.len() > 8 {
            return false;
        }
        if !subtag.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return false;
        }
        if singleton && subtag.len() == 1 {
            return false;
        }
        singleton = subtag.len() == 1;
    }
    is_language && !singleton
}

/// Whether a code, in lower case, names a language.
pub(in crate::text) fn is_registered(code: &str) -> bool {
    match code.as_bytes() {
        b"root" => true,
        &[_, _] => TWO_LETTERS.split(' ').any(|existing| existing == code),
        &[a, b, c] => {
            let digit = |letter: u8| usize::from(letter.saturating_sub(b'a')).min(25);
            let bit = (digit(a) * 26 + digit(b)) * 26 + digit(c);
            THREE_LETTERS[bit / 8] >> (bit % 8) & 1 == 1
        }
        _ => false,
    }
}

/// The shortest code of a language that has rules here, else nothing.
fn ruled(code: &str) -> &'static str {
    match code {
        "en" | "eng" | "und" | "root" => "en",
        "ar" | "ara" => "ar",
        "bg" | "bul" => "bg",
        "bo" | "bod" | "tib" => "bo",
        "ca" | "cat" => "ca",
        "ckb" => "ckb",
        "cs" | "ces" | "cze" => "cs",
        "da" | "dan" => "da",
        "de" | "deu" | "ger" => "de",
        "el" | "ell" | "gre" => "el",
        "es" | "spa" => "es",
        "eu" | "eus" | "baq" => "eu",
        "fa" | "fas" | "per" => "fa",
        "fi" | "fin" => "fi",
        "fr" | "fra" | "fre" => "fr",
        "ga" | "gle" => "ga",
        "gl" | "glg" => "gl",
        "hi" | "hin" => "hi",
        "hu" | "hun" => "hu",
        "hy" | "hye" | "arm" => "hy",
        "id" | "ind" | "in" => "id",
        "it" | "ita" => "it",
        "ja" | "jpn" => "ja",
        "km" | "khm" => "km",
        "ko" | "kor" => "ko",
        "kxm" => "kxm",
        "lo" | "lao" => "lo",
        "my" | "mya" | "bur" => "my",
        "nl" | "nld" | "dut" => "nl",
        "no" | "nor" => "no",
        "pt" | "por" => "pt",
        "ro" | "ron" | "rum" | "mo" | "mol" => "ro",
        "ru" | "rus" => "ru",
        "sv" | "swe" => "sv",
        "th" | "tha" => "th",
        "tr" | "tur" => "tr",
        "zh" | "zho" | "chi" => "zh",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_give_their_base_language() {
        for (tag, expected) in [
            ("", "en"),
            ("en-US", "en"),
            ("en_us", "en"),
            ("PT-br", "pt"),
            ("zh-Hans-CN", "zh"),
            ("deu", "de"),
            ("nb", ""),
            ("pl", ""),
            ("kxm", "kxm"),
            ("xx", "en"),
            ("cn", "en"),
            ("xxx_such_language", "en"),
            ("de-", "en"),
            ("de-u", "en"),
            ("de us", "en"),
            ("-de", "en"),
        ] {
            assert_eq!(base(tag), expected, "{tag}");
        }
        assert!(is_registered("sv") && !is_registered("xx"));
    }
}
