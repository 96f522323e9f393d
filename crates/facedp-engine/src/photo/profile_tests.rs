#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;

fn srgb() -> Vec<u8> {
    ColorProfile::new_srgb().encode().unwrap()
}

/// The profile with one more tag.
fn with_tag(profile: &[u8], name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let source = Source::read(profile).unwrap();
    let mut tags: Vec<([u8; 4], Vec<u8>)> =
        source.tags.iter().map(|(tag, data)| (*tag, data.to_vec())).collect();
    tags.retain(|(tag, _)| tag != name);
    tags.push((*name, data.to_vec()));
    assembled(profile[..HEADER].try_into().unwrap(), &tags)
}

fn kept(profile: &[u8]) -> (Vec<u8>, Vec<&'static str>) {
    match Profile::read(profile, true) {
        Profile::Kept(profile, more) => (profile, more),
        other => panic!("{other:?}"),
    }
}

fn contains(file: &[u8], part: &[u8]) -> bool {
    file.windows(part.len()).any(|window| window == part)
}

/// Both give the same colours.
#[test]
fn colours_stay_the_same() {
    for source in [srgb(), ColorProfile::new_display_p3().encode().unwrap()] {
        let (again, more) = kept(&source);
        assert!(more.is_empty() && kept(&again) == (again.clone(), vec![]));
        let colours: Vec<u8> =
            (0..=255).flat_map(|n: u8| [n, 255 - n, n.wrapping_mul(7)]).collect();
        let [before, after] = [&source, &again].map(|icc| {
            let (profile, target) =
                (ColorProfile::new_from_slice(icc).unwrap(), ColorProfile::new_bt2020());
            let (layout, options) = (Layout::Rgb, TransformOptions::default());
            let transform =
                profile.create_transform_8bit(layout, &target, layout, options).unwrap();
            let mut out = vec![0; colours.len()];
            transform.transform(&colours, &mut out).unwrap();
            out
        });
        assert_eq!(before, after);
    }
}

#[test]
fn nothing_else_survives() {
    let secret = b"\xff\xd8\xff\xe0secret";
    let (again, more) = kept(&[srgb().as_slice(), secret].concat());
    assert!(more == [AFTER] && !contains(&again, secret), "after the profile");
    let (again, more) = kept(&with_tag(&srgb(), b"JPEG", &[b"data\0\0\0\0", &secret[..]].concat()));
    assert!(more == [INSIDE] && !contains(&again, secret), "in a tag of its own");
    let mut gap = srgb();
    let size = (gap.len() as u32 + 20).to_be_bytes();
    gap.extend([&[0; 10], &secret[..]].concat());
    gap[..4].copy_from_slice(&size);
    let (again, more) = kept(&gap);
    assert!(more == [INSIDE] && !contains(&again, secret), "between tags");
    let long = "QUJD".repeat(60);
    let (again, more) =
        kept(&with_tag(&srgb(), b"cprt", &[b"text\0\0\0\0", long.as_bytes()].concat()));
    assert!(more == [INSIDE] && !contains(&again, long.as_bytes()), "in a text");
    let mut header = srgb();
    header[100..110].copy_from_slice(&[7; 10]);
    header[4..8].copy_from_slice(b"ABCD");
    assert!(!contains(&kept(&header).0, &[7; 10]) && !contains(&kept(&header).0, b"ABCD"));
    // A curve that falls is no curve but data.
    let mut data = b"curv\0\0\0\0\0\0\0\x05".to_vec();
    data.extend(secret);
    let curve = with_tag(&srgb(), b"rTRC", &data);
    assert_eq!(Profile::read(&curve, true), Profile::Tables);
    assert_eq!(Profile::read(&with_tag(&srgb(), b"A2B0", secret), true), Profile::Tables);
}

#[test]
fn what_is_no_profile_is_refused() {
    let short = srgb();
    let mut unsigned = srgb();
    unsigned[36..40].copy_from_slice(b"nope");
    for data in [&b"\xff\xd8\xff\xe0"[..], &[], &short[..200], &unsigned, &[0; 200]] {
        assert_eq!(Profile::read(data, true), Profile::Foreign);
    }
    assert_eq!(Profile::read(&short, false), Profile::OtherSpace);
}
