//! EXIF, XMP and ICC blocks in a good JPEG, kept as far as they are safe. Nothing of a result may be left out when the
//! result is treated again.
#![no_main]

mod fixed;

use std::sync::LazyLock;

use facedp_engine::{Engine, MethodName, Request, Resources, Secret, Workspace};
use libfuzzer_sys::fuzz_target;

// Small ones: what is in the blocks matters.
static GREY: &[u8] = include_bytes!("../seeds/grey.jpg");
static COLOUR: &[u8] = include_bytes!("../seeds/colour.jpg");

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let resources = Resources::new(Secret::Seed(1)).expect("resources");
    let request = Request { keep_metadata: true, ..Request::new(MethodName::None) };
    Engine::new(request, resources).expect("engine")
});

const KINDS: [(u8, &[u8]); 4] = [
    (0xe1, b"Exif\0\0"),
    (0xe1, b"http://ns.adobe.com/xap/1.0/\0"),
    (0xe2, b"ICC_PROFILE\0\x01\x01"),
    (0xed, b"Photoshop 3.0\0"),
];

fuzz_target!(|data: &[u8]| {
    fixed::executes(data);
    let Some((kind, block)) = data.split_first() else { return };
    let (marker, head) = KINDS[usize::from(kind & 3)];
    let base = if kind & 4 == 0 { COLOUR } else { GREY };
    let block = &block[..block.len().min(60_000)];
    let length = (2 + head.len() + block.len()) as u16;
    let segment = [&[0xff, marker], &length.to_be_bytes()[..], head, block].concat();
    let file = [&base[..2], &segment, &base[2..]].concat();
    let mut work = Workspace::default();
    if let Ok(result) = ENGINE.protect(&file, &mut work) {
        let again = ENGINE.protect(&result.file, &mut work).expect("a result can be treated");
        assert!(again.stripped.is_empty(), "{:?} was left in a result", again.stripped);
    }
});
