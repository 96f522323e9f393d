//! Text that may be kept: short, printable, and no data in disguise.

/// Longest text of one field, in bytes.
pub(super) const MAX_TEXT: usize = 1000;
/// Longer words are data (base64, hexadecimal), unless they are addresses.
const MAX_WORD: usize = 60;
const MAX_ADDRESS: usize = 200;
/// Bytes of digits and of words that nobody writes, in all texts of a file together. Dates, addresses and names of
/// cameras stay below; a picture does not, however it is divided.
const MAX_ODD: usize = 300;
/// Such bytes of one value that are kept where the whole has too many.
const MAX_ODD_OF_VALUE: usize = 30;

/// Bytes of text that are kept of EXIF and XMP together, and of EXIF alone.
pub(super) const MAX_TOGETHER: usize = 2000;
pub(super) const MAX_EXIF: usize = 1000;

/// What is left of a number of bytes.
pub(super) struct Room(pub usize);

impl Room {
    /// Takes so many bytes if there are as many.
    pub fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

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

/// Whether a value may be kept beside others: a picture can be divided among many values, each of them short.
pub(super) struct Together {
    odd: usize,
}

impl Together {
    /// All values that would be kept.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        Self { odd: values.into_iter().map(odd).sum() }
    }

    /// Whether the parts of one value may be kept.
    pub fn allow<'a>(&self, value: impl IntoIterator<Item = &'a str>) -> bool {
        self.odd <= MAX_ODD || value.into_iter().map(odd).sum::<usize>() <= MAX_ODD_OF_VALUE
    }
}

/// Bytes of digits, and of words with digits or capital letters in them.
fn odd(text: &str) -> usize {
    let is_odd = |word: &&str| {
        let mut letters = word.chars().filter(|c| c.is_alphabetic());
        let first_is_small = letters.next().is_some_and(char::is_lowercase);
        let rest: Vec<char> = letters.collect();
        let small = rest.iter().all(|c| !c.is_uppercase());
        let capital = !first_is_small && rest.iter().all(|c| !c.is_lowercase());
        word.chars().any(char::is_numeric) || !(small || capital)
    };
    text.split(|c: char| !c.is_alphanumeric()).filter(is_odd).map(str::len).sum()
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

    #[test]
    fn values_are_judged_together() {
        let ordinary = [
            "2026-11-18T12:30:00+01:00",
            "Anna McDonald",
            "https://example.org/photos/52012345678",
        ];
        let all = Together::of(ordinary.into_iter().chain(["DSC_1234"; 5]));
        assert!(ordinary.iter().all(|text| all.allow([*text])));
        // Each is short enough to be the word of a person.
        let data = ["QUJDREVGR0hJSktMTU5P"; 40];
        let all = Together::of(data.into_iter().chain(ordinary));
        assert!(
            !all.allow(data) && all.allow(["A day at the sea"]) && all.allow(["Anna McDonald"])
        );
        let numbers = "255 216 255 224 ".repeat(50);
        assert!(!Together::of([numbers.as_str()]).allow([numbers.as_str()]));
    }
}
