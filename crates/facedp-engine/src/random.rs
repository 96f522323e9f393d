//! Floating-point random numbers. No privacy claim rests on them.

use rand_core::CryptoRng;

/// Uniform in [0, 1).
pub(crate) fn uniform(random: &mut dyn CryptoRng) -> f32 {
    (random.next_u32() >> 8) as f32 / (1 << 24) as f32
}

/// Standard normal (Box-Muller).
pub(crate) fn normal(random: &mut dyn CryptoRng) -> f32 {
    let radius = (-2.0 * (1.0 - uniform(random)).ln()).sqrt();
    radius * (std::f32::consts::TAU * uniform(random)).cos()
}
