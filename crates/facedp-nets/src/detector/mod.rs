//! Finding faces in photos of any size, at any angle.
//!
//! The network finds faces that are turned by up to about 30 degrees, and places their landmarks as if they
//! were turned less. A photo is therefore searched upright and turned. Each place that may be a face is
//! turned upright by itself and looked at again: that look decides, and gives the landmarks.

mod evened;
mod face;
mod look;
mod pyramid;
mod run;
mod settle;
mod turned;
mod upright;

pub use face::{Face, Rect};

use crate::engine::{Network, Workspace};
use crate::error::Result;
use crate::networks::yunet;
use crate::picture::Picture;
use face::keep_best;
use pyramid::Pyramid;

pub struct Detector {
    network: Network,
}

/// Faces of a picture, and places that may be faces.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Detections {
    /// In descending order of score.
    pub faces: Vec<Face>,
    /// Places that look like faces but scored too little, in descending order of score.
    pub doubts: Vec<Face>,
}

impl Detector {
    /// Loads the embedded weights.
    pub fn new() -> Result<Self> {
        Ok(Self { network: yunet::network()? })
    }

    /// All faces with a score of at least `min_score`, in descending order of score.
    pub fn detect(&self, picture: &Picture, min_score: f32, work: &mut Workspace) -> Vec<Face> {
        self.search(picture, min_score, work).faces
    }

    /// Faces with a score of at least `min_score`, and places that may be faces.
    pub fn search(&self, picture: &Picture, min_score: f32, work: &mut Workspace) -> Detections {
        if picture.width() == 0 || picture.height() == 0 {
            return Detections::default();
        }
        let pyramid = Pyramid::new(picture);
        let mut found = self.search_pyramid(&pyramid, min_score, work);
        if let Some(evened) = evened::evened(&pyramid, &found.faces) {
            let Detections { mut faces, mut doubts } =
                self.search_pyramid(&Pyramid::new(&evened.picture), min_score, work);
            faces.iter_mut().chain(&mut doubts).for_each(|face| face.scale(evened.factor));
            found.add(faces, doubts);
        }
        found
    }

    fn search_pyramid(
        &self,
        pyramid: &Pyramid<'_>,
        min_score: f32,
        work: &mut Workspace,
    ) -> Detections {
        let upright = self.search_upright(pyramid, min_score, turned::WEAKEST, work);
        let upright = self.in_own_frames(pyramid, upright, work);
        let turned = self.search_turned(pyramid, upright.is_sure(), work);
        self.settle(pyramid, upright, turned, min_score, work)
    }

    /// Faces from one run of the network at the picture's own size, as OpenCV's `FaceDetectorYN` does.
    /// For small pictures only; [`Detector::detect`] handles all others.
    pub fn detect_once(&self, picture: &Picture, min: f32, work: &mut Workspace) -> Vec<Face> {
        self.detect_region(picture, (0..picture.width(), 0..picture.height()), min, work)
    }
}

impl Detections {
    /// Adds what another look at the same picture found.
    fn add(&mut self, faces: Vec<Face>, doubts: Vec<Face>) {
        let unknown = |known: &[Face], face: &Face| !known.iter().any(|other| other.is_same(face));
        let new: Vec<Face> = faces.into_iter().filter(|f| unknown(&self.faces, f)).collect();
        self.faces.extend(new);
        self.doubts.extend(doubts);
        self.faces = keep_best(std::mem::take(&mut self.faces));
        self.doubts.retain(|doubt| unknown(&self.faces, doubt));
        self.doubts = keep_best(std::mem::take(&mut self.doubts));
    }
}
