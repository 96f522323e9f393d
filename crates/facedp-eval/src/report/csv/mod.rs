//! All figures in one long table, one row per figure, so that any spreadsheet can filter it.
//!
//! Columns that do not apply to a figure are empty. So are values that do not exist: infinite PSNRs, and
//! expectations that depend on the photo.

mod row;

use crate::results::{About, Results};
use row::{Case, Rows, plain, plain_f32};

const HEAD: &str = "section,method,ranking,features,epsilon,psnr,recogniser,rule,threshold,attack,\
                    releases,keyed,figure,value,low,high,n";

pub(super) fn table(results: &Results) -> String {
    let mut rows = Rows(format!("{HEAD}\n"));
    about(&mut rows, &results.about, results.skipped.len());
    picture(&mut rows, results);
    recognition(&mut rows, results);
    attackers(&mut rows, results);
    audits(&mut rows, results);
    rows.0
}

fn about(rows: &mut Rows, about: &About, skipped: usize) {
    let case = Case::new("about");
    rows.count(&case, "seed", about.seed);
    for (figure, count) in [
        ("identities", about.identities),
        ("images", about.images),
        ("repeats", about.repeats),
        ("recognition_images", about.recognition_images),
        ("recognition_pairs", about.recognition_pairs),
        ("side", about.side),
        ("skipped", skipped),
    ] {
        rows.count(&case, figure, count as u64);
    }
    rows.number(&case, "geometric_p", Some(about.geometric_p));
}

fn picture(rows: &mut Rows, results: &Results) {
    for row in &results.quality {
        let case =
            Case::method("quality", row.method, row.ranking).budget(row.features, row.epsilon);
        rows.number(&case, "psnr_expected", row.psnr_expected);
        rows.number(&case, "psnr_mean_mse", row.psnr_mean_mse);
        rows.estimate(&case, "mse", &row.mse);
        rows.number(&case, "psnr_median", row.psnr_median);
        rows.number(&case, "psnr_paper_median", row.psnr_paper_median);
        rows.estimate(&case, "ssim", &row.ssim);
        rows.estimate(&case, "ssim_wang", &row.ssim_wang);
        rows.estimate(&case, "log10_variance", &row.log10_variance);
        rows.estimate(&case, "difference", &row.difference);
        rows.number(&case, "difference_of_means", Some(row.difference_of_means));
        rows.estimate(&case, "unchanged", &row.unchanged);
    }
    for row in &results.law {
        let case = Case::method("law", row.method, row.ranking).budget(row.features, row.epsilon);
        rows.count(&case, "draws", row.draws as u64);
        rows.number(&case, "expected", Some(row.expected));
        rows.number(&case, "mean", Some(row.mean));
        rows.number(&case, "standard_error", Some(row.standard_error));
        rows.number(&case, "z", Some(row.z));
        rows.number(&case, "difference", Some(row.difference));
    }
}

fn audits(rows: &mut Rows, results: &Results) {
    for audit in &results.audits {
        let case = Case { method: audit.method.clone(), ..Case::new("audit") };
        let case = case.budget(audit.features, audit.epsilon);
        rows.count(&case, "runs", audit.runs as u64);
        rows.number(&case, "epsilon_lower_bound", Some(audit.epsilon_lower_bound));
        rows.number(&case, "expected_bound", Some(audit.expected_bound));
        rows.number(&case, "delta_floor", audit.structural.map(|found| found.delta_floor));
        rows.count(&case, "refuted", u64::from(audit.refuted));
    }
}

fn recognition(rows: &mut Rows, results: &Results) {
    for row in &results.matcher {
        let case =
            Case::method("matcher", row.method, row.ranking).budget(row.features, row.epsilon);
        rows.estimate(&case, "miss", &row.miss);
        rows.number(&case, "theory", Some(row.theory));
    }
    for row in &results.recognisers {
        let case = Case { recogniser: row.recogniser.clone(), ..Case::new("recognisers") };
        rows.count(&case, "impostor_pairs", row.impostor_pairs as u64);
        let threshold = plain_f32(row.far_1e3_threshold);
        rows.row(&case, "far_1e3_threshold", &threshold, "", "", "");
        for (rule, estimate) in &row.clean_pair_fnr {
            let case = Case::recogniser("recognisers", &row.recogniser, rule);
            rows.estimate(&case, "clean_pair_fnr", estimate);
        }
    }
    for row in &results.recognition {
        let case = Case::recogniser("recognition", &row.recogniser, &row.rule)
            .noise(Some(row.method), Some(row.psnr));
        rows.estimate(&case, "self_fnr", &row.self_fnr);
        rows.estimate(&case, "pair_fnr", &row.pair_fnr);
        rows.estimate(&case, "self_fnr_detected", &row.self_fnr_detected);
        rows.estimate(&case, "pair_fnr_detected", &row.pair_fnr_detected);
        rows.estimate(&case, "undetected", &row.undetected);
        rows.estimate(&case, "clean_pair_fnr", &row.clean_pair_fnr);
    }
}

fn attackers(rows: &mut Rows, results: &Results) {
    for row in &results.attacks {
        let case =
            Case::recogniser("attacks", &row.recogniser, &row.rule).noise(row.method, row.psnr);
        let case = Case { attack: row.attack.clone(), ..case };
        rows.estimate(&case, "self_fnr", &row.self_fnr);
        rows.estimate(&case, "pair_fnr", &row.pair_fnr);
        rows.estimate(&case, "self_distance", &row.self_distance);
    }
    for row in &results.averaging {
        let case = Case {
            method: row.method.to_string(),
            epsilon: plain(row.epsilon),
            releases: row.releases.to_string(),
            keyed: row.keyed.to_string(),
            ..Case::new("averaging")
        };
        let images = row.images.to_string();
        for (figure, value) in [("psnr_one", row.psnr_one), ("psnr_average", row.psnr_average)] {
            rows.row(&case, figure, &value.map_or(String::new(), plain), "", "", &images);
        }
    }
    for row in &results.gallery {
        let case =
            Case::recogniser("gallery", &row.recogniser, &row.rule).noise(row.method, row.psnr);
        rows.estimate(&case, "pair_fnr", &row.pair_fnr);
        rows.estimate(&case, "rank_1", &row.rank_1);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use facedp::Preset;

    use super::*;
    use crate::report::sample;

    /// An independent reader of RFC 4180.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut inside) = (vec![], vec![], String::new(), false);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if inside && letters.peek() == Some(&'"') => cell.extend(letters.next()),
                '"' => inside = !inside,
                ',' if !inside => row.push(std::mem::take(&mut cell)),
                '\n' if !inside => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                other => cell.push(other),
            }
        }
        assert!(row.is_empty() && cell.is_empty() && !inside);
        rows
    }

    #[test]
    fn every_figure_has_a_row_that_reads_back() {
        let mut results = sample::results();
        results.attacks[0].attack = "=blur, \"soft\"\nthen JPEG".to_owned();
        let rows = parse(&table(&results));
        let clean: usize = results.recognisers.iter().map(|r| 2 + r.clean_pair_fnr.len()).sum();
        let figures = 9
            + 11 * results.quality.len()
            + 6 * results.law.len()
            + 2 * results.matcher.len()
            + clean
            + 6 * results.recognition.len()
            + 3 * results.attacks.len()
            + 2 * results.averaging.len()
            + 2 * results.gallery.len()
            + 5 * results.audits.len();
        assert_eq!(rows.len(), 1 + figures);
        assert_eq!(rows[0].join(","), HEAD);
        assert!(rows.iter().all(|row| row.len() == 17));
        let column = |name: &str| rows[0].iter().position(|cell| cell == name).unwrap();
        let ssim = rows.iter().find(|row| row[column("figure")] == "ssim").unwrap();
        let first = &results.quality[0];
        assert_eq!(ssim[column("value")].parse(), Ok(first.ssim.value));
        assert_eq!(ssim[column("high")].parse(), Ok(first.ssim.high));
        assert_eq!(ssim[column("method")].parse::<Preset>().unwrap(), first.method);
        let attack = rows.iter().find(|row| row[0] == "attacks").unwrap();
        assert_eq!(attack[column("attack")], "'=blur, \"soft\"\nthen JPEG");
    }

    #[test]
    fn values_that_do_not_exist_are_empty() {
        assert_eq!(plain(f64::NAN), "");
        assert_eq!(plain(f64::INFINITY), "");
        assert_eq!(plain_f32(0.975), "0.975");
    }
}
