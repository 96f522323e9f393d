//! Reading the weights of a network: f16 safetensors from `tools/convert_networks.py`.

use half::f16;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;

#[cfg(feature = "sface")]
use crate::engine::Dense;
use crate::engine::{Conv, Depthwise, Op, Stem, Unit, Window, widened};
use crate::error::{Error, Result};

pub(crate) struct Weights<'b> {
    network: &'static str,
    tensors: SafeTensors<'b>,
}

impl<'b> Weights<'b> {
    pub(crate) fn read(network: &'static str, file: &'b [u8]) -> Result<Self> {
        let tensors = SafeTensors::deserialize(file)
            .map_err(|e| Error::Weights { network, problem: e.to_string() })?;
        Ok(Self { network, tensors })
    }

    fn bad(&self, problem: String) -> Error {
        Error::Weights { network: self.network, problem }
    }

    /// A tensor as f32. Values must be finite.
    pub(crate) fn get(&self, name: &str) -> Result<Vec<f32>> {
        Ok(self.numbers(name)?.map(widened).collect())
    }

    /// A tensor as it is in the file. Values must be finite.
    fn halves(&self, name: &str) -> Result<Vec<f16>> {
        Ok(self.numbers(name)?.collect())
    }

    /// The numbers of a tensor. They must be finite.
    fn numbers(&self, name: &str) -> Result<impl Iterator<Item = f16> + use<'_, 'b>> {
        let view = self.tensors.tensor(name).map_err(|e| self.bad(format!("{name}: {e}")))?;
        if view.dtype() != Dtype::F16 {
            return Err(self.bad(format!("{name} is {:?} instead of F16", view.dtype())));
        }
        let numbers = view.data().as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes));
        if numbers.clone().any(|v| !v.is_finite()) {
            return Err(self.bad(format!("{name} holds values that are not finite")));
        }
        Ok(numbers)
    }

    /// A dense convolution of a picture from `NAME.weight` and `NAME.bias`.
    pub(crate) fn stem(&self, name: &str, window: Window) -> Result<Stem> {
        let (weights, bias) = self.pair(name)?;
        let conv = Stem::new(window, 3, &weights, &bias);
        conv.ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A dense convolution from `NAME.weight` and `NAME.bias`.
    pub(crate) fn conv(&self, name: &str, inputs: usize, window: Window) -> Result<Op> {
        let weights = self.halves(&format!("{name}.weight"))?;
        let bias = self.get(&format!("{name}.bias"))?;
        let conv = Conv::from_halves(window, inputs, &weights, &bias);
        conv.map(Op::Conv).ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A dense layer on all values of `area` pixels from `NAME.weight` and `NAME.bias`.
    #[cfg(feature = "sface")]
    pub(crate) fn dense(&self, name: &str, channels: usize, area: usize) -> Result<Op> {
        let weights = self.halves(&format!("{name}.weight"))?;
        let dense = Dense::new(channels, area, &weights, &self.get(&format!("{name}.bias"))?);
        dense.map(Op::Dense).ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A matrix without a bias from `NAME.weight`, as a 1x1 convolution.
    #[cfg(any(feature = "dlib", feature = "intel"))]
    pub(crate) fn matrix(&self, name: &str, inputs: usize) -> Result<Op> {
        let weights = self.halves(&format!("{name}.weight"))?;
        let bias = vec![0.0; weights.len() / inputs];
        let conv = Conv::from_halves(Window::new(1, 1, 0), inputs, &weights, &bias);
        conv.map(Op::Conv).ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A depthwise convolution from `NAME.weight` and `NAME.bias`.
    pub(crate) fn depthwise(&self, name: &str, window: Window) -> Result<Op> {
        let (weights, bias) = self.pair(name)?;
        let conv = Depthwise::new(window, &weights, &bias);
        conv.map(Op::Depthwise).ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A pointwise convolution from `NAME.pointwise`, then a depthwise one from `NAME.depthwise`.
    pub(crate) fn unit(&self, name: &str, inputs: usize) -> Result<Unit> {
        let (weights, bias) = self.pair(&format!("{name}.pointwise"))?;
        let point = Conv::new(Window::new(1, 1, 0), inputs, &weights, &bias);
        let (weights, bias) = self.pair(&format!("{name}.depthwise"))?;
        let depth = Depthwise::new(Window::new(3, 1, 1), &weights, &bias);
        let unit = point.zip(depth).and_then(|(point, depth)| Unit::new(point, depth));
        unit.ok_or_else(|| self.bad(format!("{name} has the wrong shape")))
    }

    /// A PReLU from `NAME.slope`.
    #[cfg(any(feature = "sface", feature = "facexzoo", feature = "intel"))]
    pub(crate) fn prelu(&self, name: &str) -> Result<Op> {
        Ok(Op::Prelu(self.get(&format!("{name}.slope"))?))
    }

    fn pair(&self, name: &str) -> Result<(Vec<f32>, Vec<f32>)> {
        Ok((self.get(&format!("{name}.weight"))?, self.get(&format!("{name}.bias"))?))
    }
}
