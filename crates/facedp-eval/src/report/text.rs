//! Formatting of numbers and text for the page.

use crate::results::Estimate;

/// Placeholder for a missing number.
pub(super) const NONE: &str = "–";

/// Markup of a sentence as plain text.
pub(super) fn unmarked(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    let mut inside = false;
    for letter in markup.chars() {
        match letter {
            '<' => inside = true,
            '>' if inside => inside = false,
            letter if !inside => text.push(letter),
            _ => {}
        }
    }
    // Ampersands last: what was written as text stays text.
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .into_iter()
        .fold(text, |text, (escaped, letter)| text.replace(escaped, letter))
}

/// Escapes text for markup and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML does not allow the other control characters, not even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// A number with `digits` decimals; [`NONE`] if it is not finite.
pub(super) fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A number, or [`NONE`].
pub(super) fn maybe(value: Option<f64>, digits: usize) -> String {
    value.map_or(NONE.to_owned(), |value| number(value, digits))
}

/// A number without trailing zeros, for budgets, decibels and thresholds.
pub(super) fn short(value: f64) -> String {
    let text = number(value, 4);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number of any magnitude, to about four significant digits.
pub(super) fn figures(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        1e-3..1e6 => number(value, (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize),
        _ => format!("{value:.2e}"),
    }
}

/// A whole number in groups of three digits.
pub(super) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 release`, `2 releases`.
pub(super) fn counted(value: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let digits = if share > 0.0 && share < 0.0995 { 1 } else { 0 };
    format!("{} %", number(100.0 * share, digits))
}

/// The range of shares as percentages.
pub(super) fn percents(shares: impl Iterator<Item = f64>) -> String {
    span(shares, percent)
}

/// The range of numbers, each formatted by `write`; a single number if both ends read the same.
pub(super) fn span(values: impl Iterator<Item = f64>, write: impl Fn(f64) -> String) -> String {
    let ends = values.filter(|v| v.is_finite()).fold(None, |ends: Option<(f64, f64)>, v| {
        Some(ends.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    });
    let Some((low, high)) = ends else { return NONE.to_owned() };
    let (low, high) = (write(low), write(high));
    if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// ` (low to high)`, or nothing.
pub(super) fn interval(ends: Option<(f64, f64)>) -> String {
    ends.map_or(String::new(), |(low, high)| format!(" ({} to {})", short(low), short(high)))
}

/// A mean and its interval, for a cell.
pub(super) fn mean(estimate: &Estimate, digits: usize) -> String {
    let Estimate { value, low, high, n } = *estimate;
    if n == 0 {
        return NONE.to_owned();
    }
    with_interval(number(value, digits), number(low, digits), number(high, digits))
}

/// A rate in percent and its interval, for a cell.
pub(super) fn rate(estimate: &Estimate) -> String {
    let part = |share: f64| number(100.0 * share, 1);
    let Estimate { value, low, high, n } = *estimate;
    if n == 0 {
        return NONE.to_owned();
    }
    with_interval(part(value) + " %", part(low), part(high))
}

fn with_interval(value: String, low: String, high: String) -> String {
    if low == NONE || high == NONE {
        return value;
    }
    format!("{value}<span class=\"ci\">{low}–{high}</span>")
}

/// `a, b and c`.
pub(super) fn list(parts: &[String]) -> String {
    match parts {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        let safe = escape("<b title=\"x\" id='y'>R&D</b>\u{0}");
        assert_eq!(safe, "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;R&amp;D&lt;/b&gt;\u{fffd}");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(f64::NAN, 2), NONE);
        assert_eq!(number(f64::INFINITY, 2), NONE);
        assert_eq!(number(-0.001, 2), "0.00");
        assert_eq!(number(-1.5, 1), "−1.5");
        assert_eq!(short(0.2), "0.2");
        assert_eq!(short(40.0), "40");
        assert_eq!(figures(12345.6), "12346");
        assert_eq!(figures(0.012345), "0.01235");
        assert_eq!(figures(1.5e9), "1.50e9");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(percent(0.031), "3.1 %");
        assert_eq!(percents([0.0, 0.57].into_iter()), "0 to 57 %");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
