//! Running the program and making small pictures for it.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use image::{GrayImage, Luma, Rgb, RgbImage};
use tempfile::TempDir;

/// What a run of the program left.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A method that needs no face, takes milliseconds and changes what it is given.
pub const NOISE: [&str; 2] = ["--method", "rdp-optimal"];
/// The default method in half of its time.
pub const QUICK: [&str; 2] = ["--steer-by", "dlib"];

/// Writes a key file, always the same for a `byte`: so is all that follows from it.
pub fn write_key(path: &Path, byte: u8) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("facedp-key-1:{}\n", format!("{byte:02x}").repeat(32))).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// A configuration folder with a key, for all runs: nobody's own is used, and none is made.
static CONFIGURATION: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    write_key(&folder.path().join("facedp/key"), 7);
    folder
});

/// `facedp` in a folder, to be run.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_facedp"));
    command.args(args).current_dir(folder);
    command.env("COLUMNS", "100").env("XDG_CONFIG_HOME", CONFIGURATION.path());
    command
}

/// Runs `facedp` in a folder.
pub fn facedp(folder: &Path, args: &[&str]) -> Outcome {
    let output = command(folder, args).output().unwrap();
    Outcome {
        code: output.status.code().expect("ended by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `facedp`, which must succeed, and parses the JSON lines it prints.
pub fn facedp_json(folder: &Path, args: &[&str]) -> Vec<serde_json::Value> {
    let outcome = facedp(folder, &[args, &["--json"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let stream = serde_json::Deserializer::from_str(&outcome.stdout);
    stream.into_iter().collect::<Result<_, _>>().unwrap()
}

/// A picture made by other programs: one of the engine's golden files.
pub fn photo(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../facedp-engine/tests/golden");
    Path::new(folder).join(name)
}

/// A grey level that varies smoothly, differently for each `variant`.
fn level(x: u32, y: u32, variant: u32) -> u8 {
    let (x, y, v) = (f64::from(x), f64::from(y), f64::from(variant));
    let wave = (x * (0.05 + 0.01 * v) + v).sin() + (y * (0.07 + 0.013 * v)).cos();
    (128.0 + 50.0 * wave) as u8
}

pub fn grey(side: u32, variant: u32) -> GrayImage {
    GrayImage::from_fn(side, side, |x, y| Luma([level(x, y, variant)]))
}

pub fn colour(width: u32, height: u32, variant: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb([level(x, y, variant), level(y, x, variant), level(x + y, y, variant)])
    })
}

/// A folder with pictures for all tests. Only `hopper.jpg` and `hopper.webp` show a face; others are for
/// `--aligned`.
///
/// ```text
/// hopper.{jpg,webp}  face.png  big.jpg  text.jpg  empty/
/// people/{Ada,Emmy,Grace,Lise}/N.png  one/Ada/N.png
/// ```
pub fn workshop() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    fs::copy(photo("base_420_q85.jpg"), at("hopper.jpg")).unwrap();
    fs::copy(photo("lossy_q80.webp"), at("hopper.webp")).unwrap();
    grey(128, 0).save(at("face.png")).unwrap();
    colour(300, 200, 1).save(at("big.jpg")).unwrap();
    fs::write(at("text.jpg"), "this is no picture").unwrap();
    fs::create_dir(at("empty")).unwrap();
    for variant in 0..12 {
        let name = ["Ada", "Emmy", "Grace", "Lise"][variant as usize % 4];
        grey(64, variant).save(at(&format!("people/{name}/{variant}.png"))).unwrap();
        grey(64, variant).save(at(&format!("one/Ada/{variant}.png"))).unwrap();
    }
    folder
}

/// A chunk of a PNG file, with its checksum.
pub fn png_chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let content = [name, body].concat();
    let mut crc = u32::MAX;
    for byte in &content {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & 0u32.wrapping_sub(crc & 1));
        }
    }
    [&(body.len() as u32).to_be_bytes(), content.as_slice(), &(!crc).to_be_bytes()].concat()
}

/// Every file and folder below a folder, by its path from there.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/"));
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}
