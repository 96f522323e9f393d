//! The page as a whole.
#![allow(clippy::unwrap_used)]

use super::{Panel, html, sample};

const SECTIONS: [&str; 16] = [
    "summary",
    "about",
    "difference",
    "variance",
    "ssim",
    "psnr",
    "amplitude",
    "law",
    "matcher",
    "recognition",
    "attacks",
    "averaging",
    "gallery",
    "audits",
    "pictures",
    "skipped",
];

/// A page has no links, scripts or unformatted numbers, and closes its tags.
fn is_clean(page: &str) {
    let bare = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    let words = bare.split(|c: char| !c.is_alphanumeric());
    for word in words {
        assert!(!["http", "https", "NaN", "inf", "script"].contains(&word), "{word}");
    }
    assert!(!bare.contains("url(") && !bare.contains("@import"));
    for tag in ["section", "table", "svg", "figure", "details", "div", "g", "li", "p", "td", "span"]
    {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_complete_page() {
    let panels = [Panel { caption: "Original & releases".into(), png: vec![137, 80, 78, 71] }];
    let page = html(&sample::results(), &panels);
    for id in SECTIONS {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(!page.contains("Not part of this run"));
    assert!(page.contains("src=\"data:image/png;base64,iVBORw==\""));
    assert!(page.contains("Original &amp; releases") && page.contains("&lt;the middle&gt;"));
    assert!(page.contains("81.38 %") && page.contains("0.9955"));
    assert!(page.contains("23 pictures were skipped"));
    is_clean(&page);
    // To view the page: FACEDP_SAMPLE_REPORT=page.html cargo test a_complete_page
    if let Some(file) = std::env::var_os("FACEDP_SAMPLE_REPORT") {
        std::fs::write(file, page).unwrap();
    }
}

#[test]
fn sections_without_rows_say_so() {
    let page = html(&sample::nothing(), &[]);
    for id in SECTIONS {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert_eq!(page.matches("Not part of this run").count(), 13);
    is_clean(&page);
}

#[test]
fn missing_and_infinite_figures_make_a_page_too() {
    let mut results = sample::results();
    for row in &mut results.quality {
        row.psnr_mean_mse = None;
        row.psnr_expected = Some(f64::INFINITY);
        row.ssim.value = f64::NAN;
        row.log10_variance.low = f64::NEG_INFINITY;
        row.difference_of_means = f64::NAN;
    }
    for row in &mut results.recognition {
        row.pair_fnr.value = f64::NAN;
        row.rule.threshold = f32::INFINITY;
    }
    results.about.data = "my <faces>".to_owned();
    let page = html(&results, &[]);
    assert!(page.contains("my &lt;faces&gt;") && !page.contains("81.38 %"));
    is_clean(&page);
}
