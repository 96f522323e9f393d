//! Components of a change of colour.

/// A component of a change, in the YCbCr space of ITU-R BT.601.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Luma,
    Cb,
    Cr,
}

impl Component {
    pub(crate) const ALL: [Self; 3] = [Self::Luma, Self::Cb, Self::Cr];

    /// Change of red, green and blue per unit of the component.
    pub(crate) fn rgb_weights(self) -> [f32; 3] {
        match self {
            Component::Luma => [1.0; 3],
            Component::Cb => [0.0, -0.344_136, 1.772],
            Component::Cr => [1.402, -0.714_136, 0.0],
        }
    }
}
