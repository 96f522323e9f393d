//! Recognisers: embeddings of faces, and whether two embeddings belong to one person.

use crate::engine::{Network, Shape, Workspace};
use crate::error::{Error, Result};
use crate::picture::Chip;
use crate::rule::{Metric, Rule};
use crate::similarity::{Point, Similarity};

/// The five landmarks of a face: eyes, nose, corners of the mouth. Of each pair, the left one comes first
/// if the face is turned upright.
pub type Landmarks = [Point; 5];

/// A network that turns aligned faces into embeddings, with its [`Rule`].
///
/// The caller provides memory for running it: a [`Workspace`] per thread.
pub struct Recogniser {
    rule: Rule,
    body: Body,
}

enum Body {
    Own(Network),
    Foreign {
        network: Box<dyn Embed>,
        /// The length of its embeddings.
        numbers: usize,
    },
}

/// A foreign network, without a gradient.
pub trait Embed: Send + Sync {
    /// The embedding of a chip, or an error message. `values` come plane by plane, normalised by the
    /// [`Rule`].
    fn embed(&self, values: &[f32]) -> std::result::Result<Vec<f32>, String>;

    /// Identifies the network, for example by the SHA-256 of its file.
    fn digest(&self) -> &str {
        ""
    }
}

impl<F> Embed for F
where
    F: Fn(&[f32]) -> std::result::Result<Vec<f32>, String> + Send + Sync,
{
    fn embed(&self, values: &[f32]) -> std::result::Result<Vec<f32>, String> {
        self(values)
    }
}

impl Recogniser {
    // Unused in a program without built-in recognisers.
    #[allow(dead_code)]
    pub(crate) fn own(rule: Rule, network: Network) -> Self {
        Self { rule, body: Body::Own(network) }
    }

    /// A recogniser with a foreign network. It is run once, to reject a network that does not fit.
    pub fn foreign(rule: Rule, network: Box<dyn Embed>) -> Result<Self> {
        rule.validate()?;
        let side = rule.side;
        let pattern = (0..3 * side * side).map(|n| (n * 89 % 256) as f32).collect();
        let numbers = rule.embed(&*network, &Chip::new(side, pattern)?)?.len();
        Ok(Self { rule, body: Body::Foreign { network, numbers } })
    }

    pub fn name(&self) -> &str {
        &self.rule.name
    }

    /// Everything that the verdicts of a foreign network depend on, as one line of text: its digest
    /// and its rule. `None` for the built-in recognisers.
    pub fn fingerprint(&self) -> Option<String> {
        match &self.body {
            Body::Own(_) => None,
            Body::Foreign { network, .. } => Some(self.rule.fingerprint(network.digest())),
        }
    }

    /// The side of the chips, in pixels.
    pub fn side(&self) -> usize {
        self.rule.side
    }

    /// The largest distance at which two faces match.
    pub fn threshold(&self) -> f32 {
        self.rule.threshold
    }

    /// The transform from a picture with these landmarks to a chip. Use the same placement for an
    /// original and its protected copy: otherwise jitter of the landmarks counts as a change.
    pub fn placement(&self, landmarks: &Landmarks) -> Result<Similarity> {
        Similarity::fit(landmarks, &self.rule.template)
    }

    /// The embedding of an aligned face.
    pub fn embed(&self, chip: &Chip, work: &mut Workspace) -> Result<Vec<f32>> {
        match &self.body {
            Body::Own(network) => {
                self.forward(network, chip, work)?;
                Ok(network.output(work, 0))
            }
            Body::Foreign { network, numbers } => {
                let embedding = self.rule.embed(&**network, chip)?;
                if embedding.len() != *numbers {
                    let found = embedding.len();
                    let problem = format!("gave {found} numbers for a face, {numbers} before");
                    return Err(Error::Foreign { name: self.rule.name.clone(), problem });
                }
                Ok(embedding)
            }
        }
    }

    /// The embedding, and the gradient of `sum(weights(embedding) * embedding)` with respect to the
    /// chip's values. The weights count as constants. Only built-in recognisers have a gradient.
    ///
    /// On processors with AVX512-BF16, the gradient (not the embedding) comes from rounded numbers: it differs by less
    /// than a hundredth of its length.
    pub fn gradient(
        &self,
        chip: &Chip,
        work: &mut Workspace,
        weights: impl FnOnce(&[f32]) -> Vec<f32>,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let network = self.network()?;
        self.forward(network, chip, work)?;
        self.finish(network, work, weights)
    }

    /// [`Recogniser::gradient`] of a slightly different network: `factor` is called once for each output
    /// channel of each convolution, dense layers included, and multiplies its weights but not its bias.
    /// The embedding is that of the different network. On processors with AVX512-BF16, both come from rounded numbers,
    /// and the gradient differs by about an eighth of its length.
    ///
    /// Steps that many such networks agree on are more likely to hold for recognisers that nobody asked.
    pub fn jittered_gradient(
        &self,
        chip: &Chip,
        work: &mut Workspace,
        mut factor: impl FnMut() -> f32,
        weights: impl FnOnce(&[f32]) -> Vec<f32>,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let network = self.network()?;
        self.rule.check(chip)?;
        let fill = |input: &mut [f32]| self.rule.fill(chip, input);
        network.forward_scaled(work, self.shape(), &mut factor, fill);
        self.finish(network, work, weights)
    }

    /// How many factors [`Recogniser::jittered_gradient`] asks for.
    pub fn factors(&self) -> usize {
        match &self.body {
            Body::Own(network) => network.factors(),
            Body::Foreign { .. } => 0,
        }
    }

    /// The network, if it has a gradient.
    fn network(&self) -> Result<&Network> {
        match &self.body {
            Body::Own(network) => Ok(network),
            Body::Foreign { .. } => Err(Error::NoGradient { name: self.rule.name.clone() }),
        }
    }

    /// The embedding and the gradient after a forward run.
    fn finish(
        &self,
        network: &Network,
        work: &mut Workspace,
        weights: impl FnOnce(&[f32]) -> Vec<f32>,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let embedding = network.output(work, 0);
        let upstream = weights(&embedding);
        if upstream.len() != embedding.len() {
            let (expected, found) = (embedding.len(), upstream.len());
            return Err(Error::GradientSize { expected, found });
        }
        let gradient = network.backward(work, 0, &upstream);
        Ok((embedding, self.rule.gradient(gradient)))
    }

    fn forward(&self, network: &Network, chip: &Chip, work: &mut Workspace) -> Result<()> {
        self.rule.check(chip)?;
        network.forward(work, self.shape(), |input| self.rule.fill(chip, input));
        Ok(())
    }

    /// The shape of the network's input.
    fn shape(&self) -> Shape {
        Shape::new(3, self.rule.side, self.rule.side)
    }

    pub fn distance(&self, a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self.rule.metric {
            Metric::Euclidean => a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt(),
            Metric::Cosine => {
                let size = (dot(a, a) * dot(b, b)).sqrt();
                if size > 0.0 { 1.0 - dot(a, b) / size } else { 1.0 }
            }
        }
    }

    /// The direction in which `a` approaches `b`: the gradient of minus half the squared distance with
    /// respect to `a`, of unit vectors if the metric is the cosine.
    pub fn pull(&self, a: &[f32], b: &[f32]) -> Vec<f32> {
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        match self.rule.metric {
            Metric::Euclidean => a.iter().zip(b).map(|(a, b)| b - a).collect(),
            Metric::Cosine => {
                let (size, other) = (dot(a, a).sqrt(), dot(b, b).sqrt());
                if size == 0.0 || other == 0.0 {
                    return vec![0.0; a.len()];
                }
                let cosine = dot(a, b) / (size * other);
                a.iter().zip(b).map(|(a, b)| (b / other - cosine * a / size) / size).collect()
            }
        }
    }

    /// Whether two faces at that distance count as one person.
    pub fn matches(&self, distance: f32) -> bool {
        distance <= self.rule.threshold
    }
}
