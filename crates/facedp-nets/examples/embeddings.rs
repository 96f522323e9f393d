//! Embeddings of chips, one JSON array per line: `embeddings NAME FILE`. The file holds chips back to back,
//! each pixel as three bytes: red, green, blue.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp_nets::{Chip, Recogniser, Workspace};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, file] = arguments.as_slice() else { panic!("usage: embeddings NAME FILE") };
    let recogniser = match name.as_str() {
        "dlib" => Recogniser::dlib(),
        "sface" => Recogniser::sface(),
        "intel" => Recogniser::intel(),
        "mobilefacenet" => Recogniser::mobilefacenet(),
        "facexzoo" => Recogniser::facexzoo(),
        _ => panic!("no recogniser {name}"),
    };
    let (recogniser, mut work) = (recogniser.unwrap(), Workspace::default());
    let side = recogniser.side();
    for pixels in std::fs::read(file).unwrap().chunks_exact(3 * side * side) {
        let planes = (0..3).flat_map(|c| pixels.iter().skip(c).step_by(3));
        let chip = Chip::new(side, planes.map(|v| f32::from(*v)).collect()).unwrap();
        let embedding = recogniser.embed(&chip, &mut work).unwrap();
        println!("{}", serde_json::to_string(&embedding).unwrap());
    }
}
