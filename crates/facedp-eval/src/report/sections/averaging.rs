//! The gain from averaging several releases of one photo.

use facedp::Preset;

use super::series;
use crate::report::axis::Scale;
use crate::report::chart::{Chart, Label, Point};
use crate::report::style::name;
use crate::report::table::Table;
use crate::report::text::{count, maybe, number, short};
use crate::report::{figure, pick};
use crate::results::{AveragingRow, Results};

const CAPTION: &str = "PSNR (dB) of the mean squared error of one release, and of the average.";

pub(super) fn body(results: &Results) -> Option<String> {
    let rows = &results.averaging;
    if rows.is_empty() {
        return None;
    }
    let several = pick::sorted(rows.iter().map(|row| row.releases)).len() > 1;
    let mut charts = Vec::new();
    for epsilon in pick::numbers(rows.iter().map(|row| row.epsilon)) {
        for (keyed, noise) in [(false, "fresh noise"), (true, "one secret key")] {
            let of: Vec<&AveragingRow> = rows
                .iter()
                .filter(|row| row.keyed == keyed && pick::same(row.epsilon, epsilon))
                .collect();
            if !of.is_empty() {
                charts.push(chart(&of, format!("ε₀ {}, {noise}", short(epsilon))));
            }
        }
    }
    Some(format!(
        "<p>An attacker with several releases of one photo can average them. Fresh noise averages out: \
         n releases gain 10 log₁₀ n dB. Noise derived from a secret key and the photo does not: all \
         releases are equal.</p>\n{}{}",
        if several { figure::lines(&charts, &[], CAPTION) } else { String::new() },
        if several { table(rows).folded("All figures") } else { table(rows).html(CAPTION) },
    ))
}

fn chart(rows: &[&AveragingRow], title: String) -> Chart {
    let lines = Preset::ALL.into_iter().filter_map(|method| {
        let own = rows.iter().filter(|row| row.method == method);
        let points = own.filter_map(|row| {
            Some(Point { x: row.releases as f64, y: row.psnr_average?, interval: None })
        });
        series(method, points.collect())
    });
    Chart {
        title,
        x: Label { text: "releases", scale: Scale::Log },
        y: Label::linear("PSNR of the average (dB)"),
        series: lines.collect(),
        levels: Vec::new(),
        apart: 0.0,
    }
}

fn table(rows: &[AveragingRow]) -> Table {
    let head =
        ["method", "noise", "ε₀", "releases", "one", "average", "gain", "10 log₁₀ n", "chips"];
    let mut table = Table::new(2, head);
    for row in rows {
        let gain = row.psnr_average.zip(row.psnr_one).map(|(average, one)| average - one);
        table.row([
            name(row.method).to_owned(),
            if row.keyed { "one key" } else { "fresh" }.to_owned(),
            short(row.epsilon),
            row.releases.to_string(),
            maybe(row.psnr_one, 2),
            maybe(row.psnr_average, 2),
            maybe(gain, 2),
            number(10.0 * (row.releases as f64).log10(), 2),
            count(row.images),
        ]);
    }
    table
}
