//! The public prior of embeddings, from which the target person of `steered` is drawn.
//!
//! The prior is a Gaussian over the concatenated embeddings of all recognisers, so that a draw is the same
//! person for each of them. It was fitted to public faces of people who appear in no test.

use std::ops::Range;

use facedp::Epsilon;
use facedp::noise::discrete_laplace;
use facedp_linalg::{Mat, product, symmetric_eigen};
use rand_core::CryptoRng;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};

use crate::error::{Error, Result};
use crate::random::normal;

/// The recognisers in the order in which the prior concatenates their embeddings, with the lengths of these.
const ORDER: [(&str, usize); 5] =
    [("dlib", 128), ("facexzoo", 512), ("intel", 256), ("mobilefacenet", 128), ("sface", 128)];
/// Length of all embeddings together.
const ALL: usize = 1152;
/// Number of principal directions that are kept: nine tenths of the variance.
const DIRECTIONS: usize = 256;
/// Steps of discrete noise per unit of an embedding.
const GRID: f64 = 1_048_576.0;
/// Share of values below the clipping box, and above it.
const TAIL: f64 = 0.005;

/// A Gaussian over embeddings, and the box that embeddings are clipped to.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    mean: Vec<f32>,
    /// Lower corner of the clipping box.
    low: Vec<f32>,
    /// Upper corner of the clipping box.
    high: Vec<f32>,
    /// Orthonormal, row by row.
    directions: Vec<f32>,
    /// Standard deviations along the directions.
    spreads: Vec<f32>,
}

impl Prior {
    /// The prior that is built in.
    pub fn embedded() -> Result<Self> {
        Self::from_bytes(facedp_models::PRIOR)
    }

    /// Reads a file that [`Prior::fit`] wrote.
    pub fn from_bytes(file: &[u8]) -> Result<Self> {
        let wrong = |problem: String| Error::Prior { problem };
        let tensors = SafeTensors::deserialize(file).map_err(|e| wrong(e.to_string()))?;
        let get = |name: &str, length: usize| -> Result<Vec<f32>> {
            let tensor = tensors.tensor(name).map_err(|e| wrong(format!("{name}: {e}")))?;
            let values: Vec<f32> = match tensor.dtype() {
                Dtype::F32 => {
                    let values = tensor.data().as_chunks::<4>().0;
                    values.iter().map(|value| f32::from_le_bytes(*value)).collect()
                }
                other => return Err(wrong(format!("{name}: {other:?} instead of F32"))),
            };
            if values.len() != length || values.iter().any(|v| !v.is_finite()) {
                return Err(wrong(format!("{name}: not {length} finite numbers")));
            }
            Ok(values)
        };
        Ok(Self {
            mean: get("mean", ALL)?,
            low: get("low", ALL)?,
            high: get("high", ALL)?,
            directions: get("directions", DIRECTIONS * ALL)?,
            spreads: get("spreads", DIRECTIONS)?,
        })
    }

    /// The recognisers whose embeddings a prior holds, in its order.
    pub fn recognisers() -> impl Iterator<Item = &'static str> {
        ORDER.iter().map(|(name, _)| *name)
    }

    /// Fits a prior to the embeddings of people: for each person, one by each of [`Self::recognisers`].
    /// Returns the file.
    pub fn fit(people: &[Vec<Vec<f32>>], source: &str) -> Result<Vec<u8>> {
        let all = ALL;
        let complete =
            |p: &Vec<Vec<f32>>| p.iter().map(Vec::len).eq(ORDER.iter().map(|(_, length)| *length));
        let least = 4 * DIRECTIONS;
        if people.len() < least || !people.iter().all(complete) {
            let problem = format!("embeddings of at least {least} people are needed");
            return Err(Error::Prior { problem });
        }
        let rows: Vec<Vec<f64>> = people.iter().map(joined).collect();
        let n = rows.len() as f64;
        let mean: Vec<f64> =
            (0..all).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / n).collect();
        let centred = Mat::from_fn(rows.len(), all, |r, c| rows[r][c] - mean[c]);
        let covariance = product(centred.transpose(), centred.as_ref());
        let (values, vectors) = symmetric_eigen(covariance.as_ref())
            .ok_or_else(|| Error::Prior { problem: "no eigenvectors".to_owned() })?;
        let mut directions = Vec::with_capacity(DIRECTIONS * all);
        let mut spreads = Vec::with_capacity(DIRECTIONS);
        // Eigenvalues are in ascending order.
        for column in (all - DIRECTIONS..all).rev() {
            spreads.push((values[column].max(0.0) / (n - 1.0)).sqrt());
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
            ("low", quantile(TAIL)),
            ("high", quantile(1.0 - TAIL)),
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
        let metadata = [
            ("kind", "facedp embedding prior".to_owned()),
            ("source", source.to_owned()),
            ("people", people.len().to_string()),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value)).into_iter().collect();
        serialize(views, Some(metadata)).map_err(wrong)
    }

    /// Draws the embeddings of a person, one for each recogniser in `names`: from the posterior of the
    /// prior, given noisy `own` embeddings of the face.
    ///
    /// `own` is clipped to the public box and gets Laplace noise of budget `epsilon`; the draw depends on
    /// nothing else. With a small budget it is almost independent of `own`; with a huge one it is close.
    pub(crate) fn draw(
        &self,
        names: &[&str],
        own: &[Vec<f32>],
        epsilon: Epsilon,
        random: &mut dyn CryptoRng,
    ) -> Vec<Vec<f32>> {
        let all = self.mean.len();
        let mut observed: Vec<Option<f64>> = vec![None; all];
        for (name, own) in names.iter().zip(own) {
            let range = range(name);
            let values = observed[range].iter_mut().zip(normalised(name, own));
            values.for_each(|(observed, value)| *observed = Some(value));
        }
        let width = |i: usize| f64::from(self.high[i] - self.low[i]);
        let sensitivity: f64 = (0..all).filter(|i| observed[*i].is_some()).map(width).sum();
        let scale = sensitivity / epsilon.get();
        let steps = (scale * GRID).ceil().clamp(1.0, 1e15) as u64;
        let deviation: Vec<f64> = (0..all)
            .map(|i| {
                let Some(value) = observed[i] else { return 0.0 };
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
            let along_noisy: f64 =
                direction.iter().zip(&deviation).map(|(d, v)| f64::from(*d) * v).sum();
            let gain = spread * spread / (spread * spread + variance);
            let posterior_spread = spread * (1.0 - gain).sqrt();
            let along = gain * along_noisy + posterior_spread * f64::from(normal(random));
            drawn.iter_mut().zip(direction).for_each(|(v, d)| *v += along * f64::from(*d));
        }
        let part = |name: &&str| drawn[range(name)].iter().map(|v| *v as f32).collect();
        names.iter().map(part).collect()
    }
}

/// The embedding of a recogniser among all; empty if the prior does not know it.
fn range(name: &str) -> Range<usize> {
    let mut start = 0;
    for (known, length) in ORDER {
        if known == name {
            return start..start + length;
        }
        start += length;
    }
    0..0
}

/// An embedding in the units of the prior. Only the direction counts, except for dlib.
fn normalised(name: &str, embedding: &[f32]) -> impl Iterator<Item = f64> {
    let size = embedding.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
    let size = if name != "dlib" && size > 0.0 { size } else { 1.0 };
    embedding.iter().map(move |v| f64::from(*v) / size)
}

fn joined(person: &Vec<Vec<f32>>) -> Vec<f64> {
    let parts = ORDER.iter().zip(person);
    parts.flat_map(|((name, _), embedding)| normalised(name, embedding)).collect()
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
        let at = |name: &str| -> Vec<f32> {
            range(name).map(|i| prior.low[i] + own * (prior.high[i] - prior.low[i])).collect()
        };
        let names: Vec<&str> = Prior::recognisers().collect();
        let own: Vec<Vec<f32>> = names.iter().map(|name| at(name)).collect();
        let epsilon = Epsilon::new(epsilon).unwrap();
        prior.draw(&names, &own, epsilon, &mut experiment(1, label))
    }

    /// With a small budget a draw hardly depends on the face: other faces with the same randomness give
    /// almost the same draw.
    #[test]
    fn small_budgets_hide_the_face() {
        let [one, other] = [draw(0.2, 0.2, "a"), draw(0.8, 0.2, "a")];
        for (one, other) in one.iter().zip(&other) {
            assert!(distance(one, other) < 0.05, "{}", distance(one, other));
        }
        // Other randomness gives a different person.
        let stranger = draw(0.2, 0.2, "b");
        assert!(distance(&one[0], &stranger[0]) > 0.4);
        assert!(distance(&one[4], &stranger[4]) > 0.7);
    }

    /// Draws are as far from the mean as the embeddings of people.
    #[test]
    fn draws_are_like_people() {
        let prior = Prior::embedded().unwrap();
        let drawn: Vec<_> = (0..50).map(|n| draw(0.5, 0.2, &n.to_string())).collect();
        for (part, name, expected) in [(0, "dlib", 0.56), (1, "facexzoo", 0.9), (4, "sface", 0.9)] {
            let mean = &prior.mean[range(name)];
            let far = drawn.iter().map(|d| distance(&d[part], mean)).sum::<f32>() / 50.0;
            assert!((far / expected - 1.0).abs() < 0.1, "{part}: {far}");
        }
    }

    #[test]
    fn bad_files_are_refused() {
        assert!(Prior::from_bytes(b"").is_err());
        assert!(
            Prior::from_bytes(&facedp_models::PRIOR[..facedp_models::PRIOR.len() - 4]).is_err()
        );
        assert!(Prior::fit(&[], "").is_err());
    }
}
