//! The networks against the libraries they come from: dlib, onnxruntime and OpenCV, on public-domain
//! pictures (`tools/make_network_golden.py`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp_nets::{Chip, Detector, Face, Picture, Recogniser, Rect, Workspace};
use serde::Deserialize;

fn golden(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

fn picture(name: &str) -> Picture {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let image = image::open(path).unwrap().to_rgb8();
    Picture::new(image.width() as usize, image.height() as usize, image.into_raw()).unwrap()
}

/// A picture of a chip as a chip.
fn chip(name: &str) -> Chip {
    let picture = picture(name);
    let planes = (0..3).flat_map(|c| picture.rgb().iter().skip(c).step_by(3));
    Chip::new(picture.width(), planes.map(|v| f32::from(*v)).collect()).unwrap()
}

#[derive(Deserialize)]
struct Descriptors {
    cases: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct Descriptor {
    picture: String,
    descriptor: Vec<f32>,
}

#[test]
fn dlib_embeddings_are_those_of_dlib() {
    let recogniser = Recogniser::dlib().unwrap();
    let mut work = Workspace::default();
    let Descriptors { cases } = serde_json::from_str(&golden("dlib.json")).unwrap();
    assert_eq!(cases.len(), 2);
    for case in &cases {
        let found = recogniser.embed(&chip(&case.picture), &mut work).unwrap();
        let pairs = found.iter().zip(&case.descriptor);
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{}: {worst:.1e}", case.picture);
        assert_eq!(found.len(), 128);
        assert!(worst <= 5e-3, "{}: {worst}", case.picture);
    }
    let distance = recogniser.distance(&cases[0].descriptor, &cases[1].descriptor);
    assert!(!recogniser.matches(distance), "two people at {distance}");
}

/// The recognisers that compare by cosine.
fn by_cosine() -> [Recogniser; 4] {
    [Recogniser::sface(), Recogniser::intel(), Recogniser::mobilefacenet(), Recogniser::facexzoo()]
        .map(Result::unwrap)
}

#[test]
fn embeddings_are_those_of_onnxruntime() {
    let mut work = Workspace::default();
    for recogniser in by_cosine() {
        let name = recogniser.name();
        let Descriptors { cases } = serde_json::from_str(&golden(&format!("{name}.json"))).unwrap();
        assert_eq!(cases.len(), 2);
        for case in &cases {
            let found = recogniser.embed(&chip(&case.picture), &mut work).unwrap();
            let distance = recogniser.distance(&found, &case.descriptor);
            println!("{name}, {}: 1 - cosine {distance:.1e}", case.picture);
            assert_eq!(found.len(), case.descriptor.len());
            assert!(distance <= 1e-4, "{name}, {}: {distance}", case.picture);
        }
        let distance = recogniser.distance(&cases[0].descriptor, &cases[1].descriptor);
        assert!(!recogniser.matches(distance), "{name}: two people at {distance}");
    }
}

#[derive(Deserialize)]
struct Detections {
    cases: Vec<Detection>,
}

#[derive(Deserialize)]
struct Detection {
    picture: String,
    faces: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(rename = "box")]
    rect: [f32; 4],
    landmarks: [[f32; 2]; 5],
    score: f32,
}

fn overlap(a: &Rect, [x, y, width, height]: [f32; 4]) -> f32 {
    let across = ((a.x + a.width).min(x + width) - a.x.max(x)).max(0.0);
    let down = ((a.y + a.height).min(y + height) - a.y.max(y)).max(0.0);
    across * down / (a.width * a.height + width * height - across * down)
}

/// One run of the network is what OpenCV does. The whole search finds the same faces; its landmarks are means of
/// several looks. Those of one run jitter: for 5 % of faces by more than 16 % of the distance of the eyes.
#[test]
fn detections_are_those_of_opencv() {
    let detector = Detector::new().unwrap();
    let mut work = Workspace::default();
    let Detections { cases } = serde_json::from_str(&golden("yunet.json")).unwrap();
    assert_eq!(cases.iter().map(|case| case.faces.len()).collect::<Vec<_>>(), [1, 1, 2]);
    for case in &cases {
        let found = detector.detect_once(&picture(&case.picture), 0.7, &mut work);
        let searched = detector.detect(&picture(&case.picture), 0.7, &mut work);
        assert_eq!(found.len(), case.faces.len(), "{}", case.picture);
        assert_eq!(searched.len(), case.faces.len(), "{}", case.picture);
        for expected in &case.faces {
            let same = |face: &&Face| overlap(&face.rect, expected.rect) >= 0.8;
            let face = searched.iter().find(same).expect("not found by the whole search");
            let apart = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
            let eyes = apart(expected.landmarks[0], expected.landmarks[1]);
            for (a, b) in face.landmarks.iter().zip(&expected.landmarks) {
                assert!(apart(*a, *b) < 0.16 * eyes, "{}: {a:?}, not {b:?}", case.picture);
            }
            let same = |face: &&Face| overlap(&face.rect, expected.rect) >= 0.95;
            let face = found.iter().find(same).expect("no such face");
            let apart = face.landmarks.iter().zip(&expected.landmarks);
            let worst = apart.map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).fold(0.0, f32::max);
            let iou = overlap(&face.rect, expected.rect);
            println!("{}: IoU {iou:.4}, landmarks {worst:.3} px", case.picture);
            assert!(worst <= 2.0, "landmarks {worst} px apart");
            assert!((face.score - expected.score).abs() < 0.01);
        }
    }
}

/// Slopes along random directions of chip values, by the gradient and by central differences.
///
/// Two thirds of the values move along the gradient's sign and one third against it, by 0.02 grey
/// levels each, which makes slopes large compared with rounding: weighted sums of embeddings are
/// accurate to about 1e-5, and differences to 1e-5 / 0.04, 0.1 % of the slopes. A longer step crosses
/// more kinks (relu, max): slopes differ by 8 % at 0.5, and by well under 1 % at 0.02.
#[test]
fn gradients_equal_finite_differences() {
    for recogniser in by_cosine().into_iter().chain([Recogniser::dlib().unwrap()]) {
        let name = match recogniser.side() {
            150 => "dlib_hopper.png",
            128 => "intel_hopper.png",
            _ => "sface_hopper.png",
        };
        let mut work = Workspace::default();
        let start = chip(name);
        // Both steps must stay between 0 and 255.
        let inner: Vec<f32> = start.values().iter().map(|v| v.clamp(1.0, 254.0)).collect();
        let at = Chip::new(start.side(), inner.clone()).unwrap();
        for seed in 0..3u32 {
            let weights = |embedding: &[f32]| -> Vec<f32> {
                (0..embedding.len() as u32).map(|i| ((i * (seed + 3)) as f32).sin()).collect()
            };
            let (_, gradient) = recogniser.gradient(&at, &mut work, weights).unwrap();
            let direction: Vec<f32> = gradient
                .iter()
                .enumerate()
                .map(|(i, g)| {
                    if (i as u32 * 7919 + seed).is_multiple_of(3) {
                        -g.signum()
                    } else {
                        g.signum()
                    }
                })
                .collect();
            let value = |t: f32, work: &mut Workspace| -> f64 {
                let moved = inner.iter().zip(&direction).map(|(v, d)| v + t * d).collect();
                let chip = Chip::new(at.side(), moved).unwrap();
                let embedding = recogniser.embed(&chip, work).unwrap();
                let weights = weights(&embedding);
                embedding.iter().zip(&weights).map(|(e, w)| f64::from(*e) * f64::from(*w)).sum()
            };
            let step = 0.02;
            let difference =
                (value(step, &mut work) - value(-step, &mut work)) / (2.0 * f64::from(step));
            let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(g * d)).sum();
            println!(
                "{} {seed}: gradient {slope:.5}, difference {difference:.5}",
                recogniser.name()
            );
            assert!((slope - difference).abs() < 0.02 * difference.abs());
        }
    }
}

/// Factors near 1 move an embedding a little; factors of 1 leave it alone.
#[test]
fn jittered_gradients_come_from_similar_networks() {
    let (recogniser, mut work) = (Recogniser::facexzoo().unwrap(), Workspace::default());
    let face = chip("sface_hopper.png");
    let ones = |embedding: &[f32]| vec![1.0; embedding.len()];
    let (own, gradient) = recogniser.gradient(&face, &mut work, ones).unwrap();
    let (same, _) = recogniser.jittered_gradient(&face, &mut work, || 1.0, ones).unwrap();
    // Processors that multiply numbers of 8 bits do so here.
    assert!(recogniser.distance(&own, &same) < 1e-4);
    let mut state = 1u32;
    let factor = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1.0 + 0.1 * (state as f32 / 2f32.powi(31) - 1.0)
    };
    let (near, slopes) = recogniser.jittered_gradient(&face, &mut work, factor, ones).unwrap();
    let distance = recogniser.distance(&own, &near);
    assert!((1e-4..0.5).contains(&distance), "{distance}");
    assert_ne!(gradient, slopes);
    assert_eq!(recogniser.gradient(&face, &mut work, ones).unwrap(), (own, gradient));
}

/// The golden picture of two faces, resized.
fn both_resized(width: u32) -> image::RgbImage {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/yunet_both.png");
    let picture = image::open(path).unwrap();
    picture.resize(width, u32::MAX, image::imageops::FilterType::Triangle).to_rgb8()
}

fn faces_in(picture: &image::RgbImage) -> Vec<Face> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let picture = Picture::new(width, height, picture.as_raw().clone()).unwrap();
    Detector::new().unwrap().detect(&picture, 0.7, &mut Workspace::default())
}

/// Sizes that one run of the network does not cover: the same two faces, 24 to 900 pixels high, at the
/// same places.
#[test]
fn faces_are_found_at_any_size() {
    let known = faces_in(&both_resized(390));
    assert_eq!(known.len(), 2);
    let height = known.iter().map(|f| f.rect.height).fold(f32::MAX, f32::min);
    for width in [(390.0 * 24.0 / height) as u32, 780, 1900, 4000] {
        let factor = width as f32 / 390.0;
        let found = faces_in(&both_resized(width));
        assert_eq!(found.len(), 2, "{width} pixels wide");
        for face in &known {
            let r = face.rect;
            let scaled = [r.x * factor, r.y * factor, r.width * factor, r.height * factor];
            let best = found.iter().map(|f| overlap(&f.rect, scaled)).fold(0.0, f32::max);
            assert!(best > 0.7, "{width} pixels wide: IoU {best}");
        }
    }
}

/// Small faces all over a picture of several tiles are each found once.
#[test]
fn faces_on_tile_borders_are_found_once() {
    let (two, mut wall) = (both_resized(195), image::RgbImage::new(2100, 1300));
    let (columns, rows) = (2100 / two.width(), 1300 / two.height());
    for (x, y) in (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y))) {
        image::imageops::replace(
            &mut wall,
            &two,
            i64::from(x * two.width()),
            i64::from(y * two.height()),
        );
    }
    assert_eq!(faces_in(&wall).len() as u32, 2 * columns * rows);
}

#[test]
fn pictures_without_faces_have_none() {
    let gradient =
        image::RgbImage::from_fn(640, 480, |x, y| image::Rgb([(x / 3) as u8, (y / 2) as u8, 90]));
    let checks = image::RgbImage::from_fn(900, 700, |x, y| {
        image::Rgb([if (x / 40 + y / 40) % 2 == 0 { 30 } else { 220 }; 3])
    });
    let circles = image::RgbImage::from_fn(800, 800, |x, y| {
        let (dx, dy) = (x as f32 % 200.0 - 100.0, y as f32 % 160.0 - 80.0);
        image::Rgb([(dx.hypot(dy) * 2.5) as u8, 160, 120])
    });
    for (name, picture) in [("gradient", gradient), ("checks", checks), ("circles", circles)] {
        assert!(faces_in(&picture).is_empty(), "{name}");
    }
}

#[test]
fn odd_pictures_give_no_faces_and_odd_chips_errors() {
    let detector = Detector::new().unwrap();
    let mut work = Workspace::default();
    for (width, height) in [(0, 0), (1, 1), (1, 500), (5, 3), (33, 31)] {
        let grey = Picture::new(width, height, vec![128; 3 * width * height]).unwrap();
        assert!(detector.detect(&grey, 0.7, &mut work).is_empty(), "{width}x{height}");
    }
    assert!(Picture::new(2, 2, vec![0; 11]).is_err());
    for value in [f32::NAN, f32::INFINITY, -1.0, 256.0] {
        assert!(Chip::new(112, vec![value; 3 * 112 * 112]).is_err());
    }
    let wrong = Chip::new(100, vec![0.0; 30_000]).unwrap();
    assert!(Recogniser::sface().unwrap().embed(&wrong, &mut work).is_err());
}

/// Two threads share each layer, and every value is computed as on one.
#[test]
fn two_threads_give_the_same_embeddings_and_gradients() {
    let (mut one, mut two) = (Workspace::default(), Workspace::default());
    two.use_two_threads(true);
    let all = [
        Recogniser::dlib(),
        Recogniser::sface(),
        Recogniser::intel(),
        Recogniser::mobilefacenet(),
        Recogniser::facexzoo(),
    ];
    for recogniser in all.map(Result::unwrap) {
        let side = recogniser.side();
        let values = (0..3 * side * side).map(|n| (n * 89 % 256) as f32).collect();
        let chip = Chip::new(side, values).unwrap();
        let run = |work: &mut Workspace| {
            let upstream = |e: &[f32]| e.iter().map(|v| v + 0.1).collect();
            let jittered = recogniser.jittered_gradient(&chip, work, || 1.01, upstream).unwrap();
            (jittered, recogniser.gradient(&chip, work, upstream).unwrap())
        };
        let (expected, found) = (run(&mut one), run(&mut two));
        assert!(expected == found, "{}", recogniser.name());
    }
}
