//! Random numbers for views and draws, in floating point: nothing is claimed of them.

use rand_core::CryptoRng;

/// Uniform between 0 and 1.
pub(super) fn uniform(random: &mut dyn CryptoRng) -> f32 {
    (random.next_u32() >> 8) as f32 / (1 << 24) as f32
}

/// Normal with mean 0 and variance 1 (Box and Muller).
pub(super) fn normal(random: &mut dyn CryptoRng) -> f32 {
    let radius = (-2.0 * (1.0 - uniform(random)).ln()).sqrt();
    radius * (std::f32::consts::TAU * uniform(random)).cos()
}
