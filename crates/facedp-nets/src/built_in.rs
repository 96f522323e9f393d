//! The built-in recognisers: each network with its rule.
// A program with few recognisers leaves some of this unused.
#![cfg_attr(not(feature = "sface"), allow(dead_code, unused_imports))]

use crate::error::Result;
use crate::networks;
use crate::recogniser::{Landmarks, Recogniser};
use crate::rule::{Channels, Metric, Rule};

/// The positions of landmarks in chips of 112 pixels, as ArcFace and many others were trained.
const ARCFACE: Landmarks = [
    [38.2946, 51.6963],
    [73.5318, 51.5014],
    [56.0252, 71.7366],
    [41.5493, 92.3655],
    [70.7299, 92.2041],
];

impl Recogniser {
    /// dlib's ResNet v1 (the network of `face_recognition`): Euclidean distance, match up to 0.6.
    #[cfg(feature = "dlib")]
    pub fn dlib() -> Result<Self> {
        let rule = Rule {
            name: "dlib".to_owned(),
            side: 150,
            template: [[47.2, 45.3], [102.8, 45.6], [74.6, 77.5], [52.1, 102.1], [99.2, 102.2]],
            mean: [122.782, 117.001, 104.298],
            factor: 1.0 / 256.0,
            channels: Channels::Rgb,
            metric: Metric::Euclidean,
            threshold: 0.6,
        };
        Ok(Self::own(rule, networks::dlib::network()?))
    }

    /// SFace: cosine distance, match from a cosine of 0.363.
    #[cfg(feature = "sface")]
    pub fn sface() -> Result<Self> {
        let rule = Rule {
            name: "sface".to_owned(),
            side: 112,
            template: ARCFACE,
            mean: [127.5; 3],
            factor: 1.0 / 128.0,
            channels: Channels::Rgb,
            metric: Metric::Cosine,
            threshold: 1.0 - 0.363,
        };
        Ok(Self::own(rule, networks::sface::network()?))
    }

    /// Intel's face-reidentification-retail-0095: cosine distance. Its threshold, like those of the two
    /// below, accepts one in a thousand pairs of different people in LFW.
    #[cfg(feature = "intel")]
    pub fn intel() -> Result<Self> {
        let rule = Rule {
            name: "intel".to_owned(),
            side: 128,
            template: ARCFACE.map(|point| point.map(|v| v * 128.0 / 112.0)),
            // The network's own factors differ between colours. This is green's; the others are in the
            // weights.
            mean: [82.068_74, 67.657_14, 64.441_61],
            factor: 0.021_362_305,
            channels: Channels::Bgr,
            metric: Metric::Cosine,
            threshold: 0.6861,
        };
        Ok(Self::own(rule, networks::intel::network()?))
    }

    /// MobileFaceNet by foamliu: cosine distance.
    #[cfg(feature = "mobilefacenet")]
    pub fn mobilefacenet() -> Result<Self> {
        let rule = Rule {
            name: "mobilefacenet".to_owned(),
            side: 112,
            template: ARCFACE,
            mean: [0.485 * 255.0, 0.456 * 255.0, 0.406 * 255.0],
            // Green's; those of red and blue are in the weights.
            factor: 1.0 / (0.224 * 255.0),
            channels: Channels::Rgb,
            metric: Metric::Cosine,
            threshold: 0.6853,
        };
        Ok(Self::own(rule, networks::mobilefacenet::network()?))
    }

    /// FaceX-Zoo's MobileFaceNet, trained with MV-softmax: cosine distance.
    #[cfg(feature = "facexzoo")]
    pub fn facexzoo() -> Result<Self> {
        let rule = Rule {
            name: "facexzoo".to_owned(),
            side: 112,
            template: ARCFACE,
            mean: [127.5; 3],
            factor: 1.0 / 128.0,
            channels: Channels::Bgr,
            metric: Metric::Cosine,
            threshold: 0.7521,
        };
        Ok(Self::own(rule, networks::facexzoo::network()?))
    }
}
