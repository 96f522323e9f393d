//! Text that may be kept: short, printable, and no data in disguise.

/// Longest text of one field, in bytes.
pub(super) const MAX_TEXT: usize = 1000;
/// Longer words are data (base64, hexadecimal), unless they are addresses.
const MAX_WORD: usize = 60;
const MAX_ADDRESS: usize = 200;

/// Whether a text is what people write into fields. A picture in base64 is not.
pub(super) fn is_plain(text: &str) -> bool {
    let is_address = |word: &str| word.starts_with("http://") || word.starts_with("https://");
    let fits = |word: &str| match is_address(word) {
        true => word.len() <= MAX_ADDRESS,
        false => word.chars().count() <= MAX_WORD,
    };
    let printable = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    let words = || text.split_whitespace();
    // Lines of base64 are long words one after the other; sentences have short ones between them.
    let all_long = words().count() > 1 && words().all(|word| word.len() > MAX_WORD / 2);
    text.len() <= MAX_TEXT && text.chars().all(printable) && words().all(fits) && !all_long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_people_are_plain_and_data_is_not() {
        for text in
            ["", "A day at the sea", "Größe 1, 写真\nzweite Zeile", "https://example.org/a/b"]
        {
            assert!(is_plain(text), "{text}");
        }
        let line = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkr";
        for text in [line.repeat(2), [line; 5].join("\n"), "a ".repeat(501), "a\u{1b}[2J".into()] {
            assert!(!is_plain(&text), "{text}");
        }
    }
}
