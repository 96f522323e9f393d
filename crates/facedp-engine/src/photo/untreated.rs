//! A photo before its treatment.

use std::cell::OnceCell;

use super::Photo;

/// A decoded photo that nothing has changed yet, and its digest, which is computed at most once: both keys and the
/// ledger ask for it.
pub(crate) struct Untreated {
    photo: Photo,
    digest: OnceCell<[u8; 32]>,
}

impl Untreated {
    pub(crate) fn new(photo: Photo) -> Self {
        Self { photo, digest: OnceCell::new() }
    }

    /// [`Photo::digest`].
    pub(crate) fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.photo.digest())
    }

    /// The photo, to be changed.
    pub(crate) fn into_photo(self) -> Photo {
        self.photo
    }
}
