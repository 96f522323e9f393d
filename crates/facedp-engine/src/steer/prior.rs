//! What is publicly known of embeddings, and drawing somebody's from it.
//!
//! The prior is a Gaussian over the embeddings of all recognisers together, so that a draw is one
//! person to all of them, fitted to public faces of people who are in no test.

use facedp::Epsilon;
use facedp::noise::discrete_laplace;
use faer::{Mat, Side};
use rand_core::CryptoRng;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};

use super::chance::normal;
use crate::error::{Error, Result};

static FILE: &[u8] = include_bytes!("../../../../assets/prior.safetensors");

/// Numbers in an embedding.
const LENGTH: usize = 128;
/// The recognisers whose embeddings follow each other in a vector of the prior.
const ORDER: [&str; 2] = ["dlib", "sface"];
/// Directions that are kept.
const DIRECTIONS: usize = 96;
/// Steps of noise in one unit of an embedding.
const GRID: f64 = 1_048_576.0;
/// The share of values that lie outside of the box at each end.
const OUTSIDE: f64 = 0.005;

/// The prior.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    mean: Vec<f32>,
    /// Where clipped embeddings lie.
    low: Vec<f32>,
    high: Vec<f32>,
    /// Orthonormal, one after the other.
    directions: Vec<f32>,
    /// Standard deviations along them.
    spreads: Vec<f32>,
}

impl Prior {
    /// The one inside the program.
    pub fn embedded() -> Result<Self> {
        Self::from_bytes(FILE)
    }

    /// Reads a file that [`Prior::fit`] made.
    pub fn from_bytes(file: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::Prior { problem };
        let tensors = SafeTensors::deserialize(file).map_err(|e| wrong(e.to_string()))?;
        let get = |name: &str, length: usize| -> Result<Vec<f32>> {
            let tensor = tensors.tensor(name).map_err(|e| wrong(format!("{name}: {e}")))?;
            let values: Vec<f32> = match tensor.dtype() {
                Dtype::F32 => {
                    let words = tensor.data().as_chunks::<4>().0;
                    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
                }
                other => return Err(wrong(format!("{name}: {other:?} instead of F32"))),
            };
            if values.len() != length || values.iter().any(|v| !v.is_finite()) {
                return Err(wrong(format!("{name}: not {length} finite numbers")));
            }
            Ok(values)
        };
        let all = ORDER.len() * LENGTH;
        Ok(Self {
            mean: get("mean", all)?,
            low: get("low", all)?,
            high: get("high", all)?,
            directions: get("directions", DIRECTIONS * all)?,
            spreads: get("spreads", DIRECTIONS)?,
        })
    }

    /// Fits a prior to people's embeddings, one person each: first dlib's, then SFace's. Returns the
    /// file.
    pub fn fit(people: &[[Vec<f32>; 2]], source: &str) -> Result<Vec<u8>> {
        let all = ORDER.len() * LENGTH;
        let fits = |p: &[Vec<f32>; 2]| p.iter().all(|e| e.len() == LENGTH);
        if people.len() < 2 * all || !people.iter().all(fits) {
            let problem = format!("at least {} people are needed", 2 * all);
            return Err(Error::Prior { problem });
        }
        let rows: Vec<Vec<f64>> = people.iter().map(joined).collect();
        let n = rows.len() as f64;
        let mean: Vec<f64> =
            (0..all).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / n).collect();
        let centred = Mat::from_fn(rows.len(), all, |r, c| rows[r][c] - mean[c]);
        let covariance = centred.transpose() * &centred;
        let eigen = covariance
            .self_adjoint_eigen(Side::Lower)
            .map_err(|e| Error::Prior { problem: format!("no eigenvectors: {e:?}") })?;
        let (vectors, values) = (eigen.U(), eigen.S());
        let mut directions = Vec::with_capacity(DIRECTIONS * all);
        let mut spreads = Vec::with_capacity(DIRECTIONS);
        // Eigenvalues come in rising order.
        for column in (all - DIRECTIONS..all).rev() {
            spreads.push((values.column_vector()[column].max(0.0) / (n - 1.0)).sqrt());
            directions.extend((0..all).map(|row| vectors[(row, column)]));
        }
        let quantile = |at: f64| -> Vec<f64> {
            let one = |i: usize| {
                let mut column: Vec<f64> = rows.iter().map(|row| row[i]).collect();
                column.sort_by(f64::total_cmp);
                column[((n - 1.0) * at).round() as usize]
            };
            (0..all).map(one).collect()
        };
        let tensors = [
            ("mean", mean),
            ("low", quantile(OUTSIDE)),
            ("high", quantile(1.0 - OUTSIDE)),
            ("directions", directions),
            ("spreads", spreads),
        ];
        let bytes = tensors.map(|(name, values)| {
            let bytes: Vec<u8> = values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
            (name, values.len(), bytes)
        });
        let views = bytes.iter().map(|(name, length, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![*length], bytes);
            view.map(|view| (*name, view))
        });
        let wrong = |e: safetensors::SafeTensorError| Error::Prior { problem: e.to_string() };
        let views = views.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let about = [
            ("kind", "facedp embedding prior".to_owned()),
            ("source", source.to_owned()),
            ("people", people.len().to_string()),
        ];
        let about = about.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
        serialize(views, Some(about)).map_err(wrong)
    }

    /// Somebody's embeddings for these recognisers: a draw from what the prior says of `own` (the
    /// face's embeddings, in the order of `names`) after noise of budget `epsilon` has hidden it.
    ///
    /// `own` is clipped to the public box and gets Laplace noise; what follows sees only the result.
    /// With a small budget the draw says nothing of `own`; with a huge one it comes near it.
    pub(super) fn draw(
        &self,
        names: &[&str],
        own: &[Vec<f32>],
        epsilon: Epsilon,
        random: &mut dyn CryptoRng,
    ) -> Vec<Vec<f32>> {
        let all = self.mean.len();
        let mut known: Vec<Option<f64>> = vec![None; all];
        for (name, own) in names.iter().zip(own) {
            if let Some(place) = ORDER.iter().position(|n| n == name) {
                let at = place * LENGTH..(place + 1) * LENGTH;
                known[at].iter_mut().zip(normalised(place, own)).for_each(|(k, v)| *k = Some(v));
            }
        }
        let width = |i: usize| f64::from(self.high[i] - self.low[i]);
        let sensitivity: f64 = (0..all).filter(|i| known[*i].is_some()).map(width).sum();
        let scale = sensitivity / epsilon.get();
        let steps = (scale * GRID).ceil().clamp(1.0, 1e15) as u64;
        let off_mean: Vec<f64> = (0..all)
            .map(|i| {
                let Some(value) = known[i] else { return 0.0 };
                let (low, high) = (f64::from(self.low[i]), f64::from(self.high[i]));
                let clipped = (value.clamp(low, high) * GRID).round() as i128;
                let noisy = clipped + discrete_laplace(steps, random);
                noisy as f64 / GRID - f64::from(self.mean[i])
            })
            .collect();
        let variance = 2.0 * scale * scale;
        let mut drawn: Vec<f64> = self.mean.iter().map(|m| f64::from(*m)).collect();
        for (direction, spread) in self.directions.chunks_exact(all).zip(&self.spreads) {
            let spread = f64::from(*spread);
            let seen: f64 = direction.iter().zip(&off_mean).map(|(d, v)| f64::from(*d) * v).sum();
            let trust = spread * spread / (spread * spread + variance);
            let left = spread * (1.0 - trust).sqrt();
            let along = trust * seen + left * f64::from(normal(random));
            drawn.iter_mut().zip(direction).for_each(|(v, d)| *v += along * f64::from(*d));
        }
        let part = |name: &&str| {
            let place = ORDER.iter().position(|n| n == name).unwrap_or(0);
            drawn[place * LENGTH..(place + 1) * LENGTH].iter().map(|v| *v as f32).collect()
        };
        names.iter().map(part).collect()
    }
}

/// An embedding as the prior has it: SFace's at length 1, since only its direction counts.
fn normalised(place: usize, embedding: &[f32]) -> impl Iterator<Item = f64> {
    let size = embedding.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
    let size = if ORDER[place] == "sface" && size > 0.0 { size } else { 1.0 };
    embedding.iter().map(move |v| f64::from(*v) / size)
}

fn joined(person: &[Vec<f32>; 2]) -> Vec<f64> {
    let parts = person.iter().enumerate();
    parts.flat_map(|(place, embedding)| normalised(place, embedding)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use facedp::noise::experiment;

    use super::*;

    fn distance(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
    }

    fn draw(own: f32, epsilon: f64, label: &str) -> Vec<Vec<f32>> {
        let prior = Prior::embedded().unwrap();
        let at = |share: f32| -> Vec<f32> {
            (0..LENGTH).map(|i| prior.low[i] + share * (prior.high[i] - prior.low[i])).collect()
        };
        let own = [at(own), at(own)];
        let epsilon = Epsilon::new(epsilon).unwrap();
        prior.draw(&["dlib", "sface"], &own, epsilon, &mut experiment(1, label))
    }

    /// With a small budget a draw hardly depends on the face; another face, the same randomness.
    #[test]
    fn small_budgets_hide_the_face() {
        let [one, other] = [draw(0.2, 0.2, "a"), draw(0.8, 0.2, "a")];
        for (one, other) in one.iter().zip(&other) {
            assert!(distance(one, other) < 0.05, "{}", distance(one, other));
        }
        // Other randomness is another person by far.
        let stranger = draw(0.2, 0.2, "b");
        assert!(distance(&one[0], &stranger[0]) > 0.4);
        assert!(distance(&one[1], &stranger[1]) > 0.7);
    }

    /// Draws lie where people do: about as far from the mean as these.
    #[test]
    fn draws_are_like_people() {
        let prior = Prior::embedded().unwrap();
        let drawn: Vec<_> = (0..50).map(|n| draw(0.5, 0.2, &n.to_string())).collect();
        for (part, expected) in [(0, 0.56), (1, 0.9)] {
            let mean = &prior.mean[part * LENGTH..(part + 1) * LENGTH];
            let far = drawn.iter().map(|d| distance(&d[part], mean)).sum::<f32>() / 50.0;
            assert!((far / expected - 1.0).abs() < 0.1, "{part}: {far}");
        }
    }

    #[test]
    fn bad_files_are_refused() {
        assert!(Prior::from_bytes(b"").is_err());
        assert!(Prior::from_bytes(&FILE[..FILE.len() - 4]).is_err());
        assert!(Prior::fit(&[], "").is_err());
    }
}
