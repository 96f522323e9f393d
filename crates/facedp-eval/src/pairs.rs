//! Pairs of pictures in the format of LFW's `pairs.txt`.
//!
//! The first line holds the number of folds and the number of pairs of each kind per fold. The pairs
//! follow fold by fold: `NAME I J` for two pictures of one person, `NAME I OTHER J` for pictures of two
//! people. Picture I of NAME is `DATA/NAME/NAME_000I.jpg`.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub first: PathBuf,
    pub second: PathBuf,
    /// Whether both pictures show the same person.
    pub same: bool,
    /// Folds are counted from 0.
    pub fold: usize,
}

/// Reads a file of pairs. Errors name the line.
pub fn read(file: &Path, data: &Path) -> Result<Vec<Pair>> {
    let failed = |reason| Error::Io { path: file.to_owned(), reason };
    let text = std::fs::read_to_string(file).map_err(failed)?;
    if !data.is_dir() {
        return Err(Error::NotAFolder { path: data.to_owned() });
    }
    parse(&text, data).map_err(|problem| Error::Pairs { file: file.to_owned(), problem })
}

fn parse(text: &str, data: &Path) -> Result<Vec<Pair>, String> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let numbers = header.split_whitespace().map(|n| n.parse::<usize>());
    let numbers: Vec<usize> = numbers.collect::<Result<_, _>>().unwrap_or_default();
    let [folds, each] = numbers[..] else {
        let what = "expected the number of folds and the number of pairs, as in LFW's pairs.txt";
        return Err(format!("line 1: {what}"));
    };
    if folds < 2 || each == 0 {
        return Err("line 1: at least 2 folds of at least 1 pair are required".to_owned());
    }
    let mut pairs = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let picture = |name: &str, index: &str| {
            let index: u32 = index.parse().ok()?;
            Some(data.join(name).join(format!("{name}_{index:04}.jpg")))
        };
        let pair = match line.split_whitespace().collect::<Vec<_>>()[..] {
            [name, i, j] => picture(name, i).zip(picture(name, j)).zip(Some(true)),
            [name, i, other, j] => picture(name, i).zip(picture(other, j)).zip(Some(false)),
            _ => None,
        };
        let ((first, second), same) = pair.ok_or_else(|| {
            format!("line {}: `{line}`: expected `NAME I J` or `NAME I OTHER J`", number + 1)
        })?;
        pairs.push(Pair { first, second, same, fold: pairs.len() / (2 * each) });
    }
    let expected = folds.saturating_mul(each).saturating_mul(2);
    if pairs.len() != expected {
        return Err(format!("{} pairs; line 1 announces {expected}", pairs.len()));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_format_of_lfw() {
        let text = "2\t1\nAda\t1\t2\nAda\t1\tGrace\t3\nMary\t4\t5\nMary\t1\tAda\t2\n";
        let pairs = parse(text, Path::new("data")).unwrap();
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairs[1].second, Path::new("data/Grace/Grace_0003.jpg"));
        assert_eq!(
            pairs.iter().map(|p| (p.same, p.fold)).collect::<Vec<_>>(),
            [(true, 0), (false, 0), (true, 1), (false, 1)]
        );
        for bad in ["", "2", "2 1\nAda 1 2", "1 1\nAda 1 2\nAda 1 B 2", "2 1\nAda one 2\nA\nB\nC"] {
            assert!(parse(bad, Path::new("data")).is_err(), "{bad}");
        }
    }
}
