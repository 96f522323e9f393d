//! Text that a terminal only shows: what it would obey, or what would look like another line, is escaped.
//!
//! Names of files can hold anything but a slash. One with a newline could add a line of its own to a report.

use std::fmt::Write;

/// Control characters, and characters that change the direction of text.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line, with escapes as JSON has them.
pub fn line(text: &str) -> String {
    escaped(text, |_| false)
}

/// Lines that are known to be separate; nothing in one of them begins another.
pub fn lines(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    lines.into_iter().map(|text| line(text.as_ref())).collect::<Vec<_>>().join("\n")
}

/// Text whose own line ends stay.
pub fn text(text: &str) -> String {
    escaped(text, |c| c == '\n')
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if stays(c) || !is_obeyed(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            // Never fails for a string.
            c => drop(write!(shown, "\\u{:04x}", u32::from(c))),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_obey_nothing() {
        assert_eq!(
            line("a\u{1b}]0;b\u{7}\nc\r\u{9b}2J"),
            "a\\u001b]0;b\\u0007\\nc\\u000d\\u009b2J"
        );
        assert_eq!(line("\u{202e}gpj.a"), "\\u202egpj.a");
        assert_eq!(line("Größe 写真 🎉"), "Größe 写真 🎉");
        assert_eq!(text("a\nb\u{8}"), "a\nb\\u0008");
        assert_eq!(lines(["a\nb", "c"]), "a\\nb\nc");
    }
}
