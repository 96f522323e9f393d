//! From words on the command line to values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use facedp::Epsilon;
use facedp_engine::{Faces, Format, MethodName};
use facedp_eval::attacks;

use super::Images;

/// A parser that lists the names in the help and hands them to the library.
pub fn names<T>(
    known: &[(&'static str, &'static [&'static str])],
) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err = facedp::Error> + Clone + Send + Sync + 'static,
{
    let value = |(name, aliases): &(&'static str, &'static [&'static str])| {
        PossibleValue::new(*name).aliases(*aliases)
    };
    PossibleValuesParser::new(known.iter().map(value)).try_map(|name| name.parse::<T>())
}

/// All methods, by name.
pub fn method_names() -> impl TypedValueParser<Value = MethodName> {
    MethodNames
}

/// Lists all methods in the help, and says which one a near miss may stand for.
#[derive(Clone)]
struct MethodNames;

impl TypedValueParser for MethodNames {
    type Value = MethodName;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<MethodName, clap::Error> {
        let name = value.to_string_lossy();
        if let Ok(method) = name.parse() {
            return Ok(method);
        }
        let known: Vec<String> = MethodName::all().iter().map(MethodName::to_string).collect();
        let option = argument.map_or_else(String::new, |argument| format!(" for '{argument}'"));
        let near = nearest(&name, &known)
            .map_or_else(String::new, |near| format!(": did you mean {near}?"));
        let all = known.join(", ");
        let message = format!("invalid value '{name}'{option}{near}\n  [possible values: {all}]");
        Err(command.clone().error(clap::error::ErrorKind::InvalidValue, message))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = MethodName::all().into_iter();
        Some(Box::new(all.map(|method| PossibleValue::new(method.to_string()))))
    }
}

/// The name that contains the word or differs from it in few letters; the shortest of several.
fn nearest<'a>(word: &str, names: &'a [String]) -> Option<&'a String> {
    let word = word.to_lowercase();
    let mut near: Vec<(usize, &String)> = names
        .iter()
        .map(|name| match word.len() >= 3 && name.contains(&word) {
            true => (0, name),
            false => (distance(&word, name), name),
        })
        .filter(|(far, name)| *far <= name.len() / 3)
        .collect();
    near.sort_by_key(|(far, name)| (*far, name.len()));
    near.first().map(|(_, name)| *name)
}

/// Letters to insert, delete, replace or swap with their neighbours between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// `on` or `off`.
pub fn switches() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// The format of results; none for each source's own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResultFormat(pub Option<Format>);

pub fn formats() -> impl TypedValueParser<Value = ResultFormat> {
    let name = |format: Format| format.to_string().to_ascii_lowercase();
    let known = Format::WRITTEN.into_iter().map(name).map(PossibleValue::new);
    let known = [PossibleValue::new("keep")].into_iter().chain(known);
    PossibleValuesParser::new(known).map(move |word| {
        ResultFormat(Format::WRITTEN.into_iter().find(|format| name(*format) == word))
    })
}

pub fn attack_names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(attacks::all().iter().map(|attack| attack.name()).collect::<Vec<_>>())
}

pub fn images(text: &str) -> Result<Images, String> {
    match text.parse() {
        _ if text == "all" => Ok(Images::All),
        Ok(n) if n > 0 => Ok(Images::AtMost(n)),
        _ => Err("neither a number above 0 nor all".to_owned()),
    }
}

pub fn faces(text: &str) -> Result<Faces, String> {
    match text {
        "all" => return Ok(Faces::All),
        "largest" => return Ok(Faces::Largest),
        _ => {}
    }
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let numbers: Option<std::collections::BTreeSet<usize>> = text.split(',').map(number).collect();
    let numbers = numbers.ok_or("neither all, largest nor numbers from 1 on, as in 1,3")?;
    Ok(Faces::Numbers(numbers.into_iter().collect()))
}

pub fn rectangle(text: &str) -> Result<[f32; 4], String> {
    let numbers: Vec<f32> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
    let parts = text.split(',').count();
    let four =
        <[f32; 4]>::try_from(numbers).ok().filter(|n| parts == 4 && n[2] > 0.0 && n[3] > 0.0);
    four.filter(|n| n.iter().all(|v| v.is_finite())).ok_or_else(|| {
        "not a box: left, top, width and height in pixels, as in 120,80,60,75".to_owned()
    })
}

pub fn epsilon(text: &str) -> Result<Epsilon, String> {
    Epsilon::new(number(text)?).map_err(|e| e.to_string())
}

pub fn geometric_p(text: &str) -> Result<f64, String> {
    let p = number(text)?;
    facedp::Geometric::new(p, 1).map(|_| p).map_err(|e| e.to_string())
}

pub fn share(text: &str) -> Result<f32, String> {
    let value = number(text)? as f32;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("not between 0 and 1".to_owned()) }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number".to_owned())
}

/// A name and a number.
pub fn assignment(text: &str) -> Result<(String, f64), String> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
    let parts = parts.filter(|(_, value): &(&str, f64)| value.is_finite());
    let (name, value) = parts.ok_or("a name and a number, as in smooth=1")?;
    Ok((name.to_owned(), value))
}
