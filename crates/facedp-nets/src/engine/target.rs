//! Where an operation's backward step leaves its gradient.

/// The gradient of a node, as one of the nodes computed from it sees it.
pub(super) struct Target<'a> {
    /// Whether nothing has been written to it: the values are those of another node, to be replaced.
    pub first: bool,
    pub values: &'a mut [f32],
}

impl<'a> Target<'a> {
    /// Writes values, or adds them to what is there.
    #[inline(always)]
    pub(super) fn put(self, values: impl Iterator<Item = f32>) {
        put(self.values, self.first, values);
    }

    /// The values, ready to be added to.
    #[inline(always)]
    pub(super) fn zeroed(self) -> &'a mut [f32] {
        if self.first {
            self.values.fill(0.0);
        }
        self.values
    }
}

/// Writes values, or adds them to what is there.
#[inline(always)]
pub(super) fn put(target: &mut [f32], first: bool, values: impl Iterator<Item = f32>) {
    let pairs = target.iter_mut().zip(values);
    if first { pairs.for_each(|(t, v)| *t = v) } else { pairs.for_each(|(t, v)| *t += v) }
}
