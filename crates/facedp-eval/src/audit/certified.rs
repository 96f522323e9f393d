//! Neighbours for `certified`. Its outputs are whole numbers, and its likelihood ratio is known exactly.

use facedp::certified::{Block, CELLS, Cells, CertifiedPlan};
use facedp_engine::{Key, Secret, keyed_randomness};
use rand_core::CryptoRng;

use super::pair::Pair;

/// Neighbours at the corners of the box, at the ends of single features, and from real faces.
pub(super) fn pairs<'a>(plan: &'a CertifiedPlan, real: &[[Vec<f64>; 2]]) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    let released: Vec<usize> = plan.blocks().iter().flat_map(|b| b.features().to_vec()).collect();
    let features = plan.method().features;
    let corner = |high: &dyn Fn(usize) -> bool| -> Vec<i64> {
        (0..features).map(|n| if high(n) { CELLS } else { 0 }).collect()
    };
    let spent = plan.spent();
    let corners = [corner(&|_| false), corner(&|_| true)];
    pairs.push(pair(plan, "opposite corners of the box", spent, corners));
    let odd = |n: usize| (n * 7919) >> 4 & 1 == 1;
    let mixed = [corner(&|n| !odd(n)), corner(&odd)];
    pairs.push(pair(plan, "two other corners", spent, mixed));
    // The first and the last feature of the first and the last block.
    let ends = |block: &Block| [block.features()[0], block.features()[block.features().len() - 1]];
    let mut singles: Vec<(usize, f64)> = [plan.blocks().first(), plan.blocks().last()]
        .into_iter()
        .flatten()
        .flat_map(|block| ends(block).map(|n| (n, block.epsilon())))
        .collect();
    singles.sort_by_key(|(n, _)| *n);
    singles.dedup_by_key(|(n, _)| *n);
    for (n, epsilon) in singles {
        let middle = |at: i64| (0..features).map(|i| if i == n { at } else { CELLS / 2 }).collect();
        let name = format!("feature {} alone", n + 1);
        pairs.push(pair(plan, &name, epsilon, [middle(0), middle(CELLS)]));
    }
    for (n, people) in real.iter().enumerate() {
        let cells =
            people.each_ref().map(|features| plan.grid().cells(features).numbers().to_vec());
        let name = format!("two people of the data, {}", n + 1);
        pairs.push(pair(plan, &name, spent, cells));
    }
    if let Some(first) = released.first() {
        pairs.push(twice(plan, *first));
    }
    pairs
}

/// A pair of neighbours with the likelihood ratio as a further statistic. The ratio is computed in whole
/// numbers: it has atoms at plus and minus epsilon, which rounding would split.
pub fn pair<'a>(
    plan: &'a CertifiedPlan,
    name: &str,
    claimed: f64,
    cells: [Vec<i64>; 2],
) -> Pair<'a> {
    let cut = cells
        .each_ref()
        .map(|cells| cells.iter().map(|c| (*c).clamp(0, CELLS)).collect::<Vec<_>>());
    let inputs = cut.each_ref().map(|cells| cells.iter().map(|c| *c as f64).collect());
    let cells = cells.map(Cells::new);
    let release = move |side: usize, random: &mut dyn CryptoRng| output(plan, &cells[side], random);
    let ratio = move |output: &[f64]| log_ratio(plan, output, &cut);
    Pair {
        name: name.to_owned(),
        claimed,
        inputs,
        release: Box::new(release),
        statistics: vec![("the likelihood ratio", Box::new(ratio))],
    }
}

/// Noisy cells as floating-point numbers, which represent them exactly. Features without a budget are 0.
fn output(plan: &CertifiedPlan, cells: &Cells, random: &mut dyn CryptoRng) -> Vec<f64> {
    // This cannot fail: the number of features is the plan's.
    let noisy = plan.mechanism(cells, random);
    let cells = noisy.as_ref().map(|noisy| noisy.cells()).unwrap_or_default();
    cells.iter().map(|cell| cell.unwrap_or(0) as f64).collect()
}

/// The logarithm of the likelihood ratio of the first input to the second, in units of
/// `2^-exponent / CELLS`.
fn log_ratio(plan: &CertifiedPlan, output: &[f64], inputs: &[Vec<i64>; 2]) -> f64 {
    let mut sum: i128 = 0;
    for block in plan.blocks() {
        let far = |input: &[i64]| {
            let each = block.features().iter().map(|&n| (output[n] as i64 - input[n]).abs());
            let far = i128::from(each.max().unwrap_or(0));
            let cells = i128::from(CELLS);
            match block.first_step() {
                // The level of the staircase.
                Some(first) => (far + cells - i128::from(first)) / cells * cells,
                None => far,
            }
        };
        sum += i128::from(block.units()) * (far(&inputs[1]) - far(&inputs[0]));
    }
    sum as f64
}

/// Two photos under one key that differ only in their features, in either order. If the noise were used
/// twice, it would cancel in the difference of the two releases.
fn twice(plan: &CertifiedPlan, feature: usize) -> Pair<'_> {
    let features = plan.method().features;
    let at = |cell: i64| -> Vec<i64> {
        (0..features).map(|n| if n == feature { cell } else { CELLS / 2 }).collect()
    };
    let photos = [Cells::new(at(0)), Cells::new(at(CELLS))];
    let apart =
        |by: i64| (0..features).map(|n| if n == feature { by as f64 } else { 0.0 }).collect();
    let release = move |side: usize, random: &mut dyn CryptoRng| {
        let mut key = [0; 32];
        random.fill_bytes(&mut key);
        let secret = Secret::Key(Key::from_bytes(key));
        let once = |cells: &Cells| match keyed_randomness(plan, &[0; 32], "outline", cells, &secret)
        {
            Ok(mut source) => output(plan, cells, &mut source),
            Err(_) => vec![0.0; features],
        };
        let (first, second) = (once(&photos[side]), once(&photos[1 - side]));
        second.iter().zip(first).map(|(b, a)| b - a).collect()
    };
    let block = plan.blocks().iter().find(|block| block.features().contains(&feature));
    Pair {
        name: "two photos under one key".to_owned(),
        claimed: 2.0 * block.map_or(0.0, Block::epsilon),
        inputs: [apart(CELLS), apart(-CELLS)],
        release: Box::new(release),
        statistics: Vec::new(),
    }
}
