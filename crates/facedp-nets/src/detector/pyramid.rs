//! A picture at several sizes, each half of the previous one.

use std::borrow::Cow;

use crate::picture::Picture;
use crate::similarity::Similarity;

/// Halving ends at a size whose longer side is at most this.
const SMALLEST: usize = 64;

/// A picture and its smaller copies, which all searches share.
pub(super) struct Pyramid<'p> {
    /// The picture itself comes first. There is always one.
    sizes: Vec<Cow<'p, Picture>>,
}

impl<'p> Pyramid<'p> {
    pub(super) fn new(picture: &'p Picture) -> Self {
        let mut sizes = vec![Cow::Borrowed(picture)];
        while let Some(last) = sizes.last()
            && last.width().max(last.height()) > SMALLEST
            && last.width().min(last.height()) >= 2
        {
            let half = last.halved();
            sizes.push(Cow::Owned(half));
        }
        Self { sizes }
    }

    pub(super) fn sizes(&self) -> impl Iterator<Item = &Picture> {
        self.sizes.iter().map(Cow::as_ref)
    }

    pub(super) fn full(&self) -> &Picture {
        &self.sizes[0]
    }

    /// The picture under a transform, black outside. A pixel is computed from the size at which it covers
    /// at most two pixels: otherwise fine patterns would show as coarse ones.
    pub(super) fn placed(&self, placement: &Similarity, width: usize, height: usize) -> Picture {
        let (mut at, mut placement) = (0, *placement);
        while placement.scale() < 0.5 && at + 1 < self.sizes.len() {
            (at, placement) = (at + 1, placement.for_half_size());
        }
        self.sizes[at].placed(&placement, width, height)
    }
}
