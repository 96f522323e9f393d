//! Pairs of pictures in the format of LFW's `pairs.txt`.
//!
//! The first line has the number of folds and of pairs of each kind in a fold; then come, fold by
//! fold, `NAME I J` for two pictures of one person and `NAME I OTHER J` for two people. Picture I of
//! NAME is `DATA/NAME/NAME_000I.jpg`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

/// Two pictures, and whether they show one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub first: PathBuf,
    pub second: PathBuf,
    pub same: bool,
    pub fold: usize,
}

/// Reads a file of pairs. Errors name the line.
pub fn read(file: &Path, data: &Path) -> Result<Vec<Pair>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    if !data.is_dir() {
        bail!("{}: not a folder of people", data.display());
    }
    parse(&text, data).with_context(|| format!("{}", file.display()))
}

fn parse(text: &str, data: &Path) -> Result<Vec<Pair>> {
    let mut lines = text.lines().enumerate();
    let header: Vec<&str> =
        lines.next().map(|(_, l)| l.split_whitespace().collect()).unwrap_or_default();
    let [folds, each] = header.as_slice() else {
        bail!("line 1: expected the numbers of folds and of pairs, as in LFW's pairs.txt");
    };
    let (folds, each): (usize, usize) =
        (folds.parse().context("line 1: folds")?, each.parse().context("line 1: pairs")?);
    if folds < 2 || each == 0 {
        bail!("line 1: at least 2 folds of at least 1 pair are needed");
    }
    let mut pairs = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("line {}: `{line}`", number + 1);
        let picture = |name: &str, index: &str| -> Result<PathBuf> {
            let index: u32 = index.parse().with_context(at)?;
            Ok(data.join(name).join(format!("{name}_{index:04}.jpg")))
        };
        let (first, second, same) = match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [name, i, j] => (picture(name, i)?, picture(name, j)?, true),
            [name, i, other, j] => (picture(name, i)?, picture(other, j)?, false),
            _ => return Err(anyhow!("expected `NAME I J` or `NAME I OTHER J`").context(at())),
        };
        pairs.push(Pair { first, second, same, fold: pairs.len() / (2 * each) });
    }
    if pairs.len() != 2 * folds * each {
        bail!("{} pairs instead of the {} that line 1 says", pairs.len(), 2 * folds * each);
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
