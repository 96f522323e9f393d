//! Samples in memory are treated as the same samples in a PNG file are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use facedp_engine::{Control, Error, Format, Limits, Photo, Pixels, Request, Workspace};
use image::DynamicImage;
use support::{decode, noisy, two_faces};

fn picture(image: DynamicImage) -> (Pixels, Vec<u8>) {
    let mut file = std::io::Cursor::new(Vec::new());
    image.write_to(&mut file, image::ImageFormat::Png).unwrap();
    let (width, height) = (image.width() as usize, image.height() as usize);
    let channels = usize::from(image.color().channel_count());
    (Pixels { width, height, channels, samples: image.into_bytes() }, file.into_inner())
}

#[test]
fn pixels_give_the_samples_of_a_file() {
    let image = image::load_from_memory(&two_faces()).unwrap();
    let engine = noisy(Request { receipt: true, ..Request::default() });
    let work = &mut Workspace::default();
    for image in [
        DynamicImage::from(image.to_luma8()),
        DynamicImage::from(image.to_luma_alpha8()),
        DynamicImage::from(image.to_rgb8()),
        DynamicImage::from(image.to_rgba8()),
    ] {
        let (pixels, file) = picture(image);
        let given = pixels.clone();
        let ours = engine.protect_pixels(pixels, Control::default(), work).unwrap();
        let theirs = engine.protect(&file, work).unwrap();
        assert_ne!(ours.file, given.samples);
        assert_eq!(ours.faces, theirs.faces);
        assert_eq!(ours.format, Format::Png);
        assert!(ours.receipt.is_some());
        let result = Pixels { samples: ours.file, ..given };
        let result: Photo = result.into_photo(&Limits::default()).unwrap();
        assert_eq!(result.digest(), decode(&theirs.file).digest());
        let checked = engine.check_photos(&decode(&file), &result, work).unwrap();
        assert_eq!(checked, engine.check(&file, &theirs.file, work).unwrap());
    }
}

#[test]
fn what_is_no_picture_is_refused() {
    let limits = Limits::default();
    for (width, height, channels, samples) in
        [(0, 4, 3, 0), (2, 2, 3, 11), (2, 2, 5, 20), (2, 2, 0, 0), (usize::MAX, 2, 3, 12)]
    {
        let pixels = Pixels { width, height, channels, samples: vec![0; samples] };
        let refused = pixels.into_photo(&limits);
        assert!(matches!(refused, Err(Error::Pixels { .. })), "{width}x{height}x{channels}");
    }
    let small = Limits { pixels: 3, ..limits };
    let pixels = Pixels { width: 2, height: 2, channels: 1, samples: vec![0; 4] };
    assert!(matches!(pixels.into_photo(&small), Err(Error::TooManyPixels { .. })));
}

#[test]
fn pixels_have_no_format() {
    let pixels = || Pixels { width: 8, height: 8, channels: 1, samples: vec![0; 64] };
    let work = &mut Workspace::default();
    for (request, name) in [
        (Request { format: Some(Format::Jpeg), ..Request::default() }, "format"),
        (Request { jpeg_quality: Some(80), ..Request::default() }, "jpeg_quality"),
    ] {
        let refused = noisy(request).protect_pixels(pixels(), Control::default(), work);
        assert!(matches!(refused, Err(Error::Setting { setting, .. }) if setting == name));
    }
}
