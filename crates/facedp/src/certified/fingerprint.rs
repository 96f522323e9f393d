//! The text from which the keyed noise of `certified` is derived.
//!
//! Any change to this text changes the noise under every key. A new format gets a new number at its
//! start.

use super::{Block, CELLS, CertifiedMethod, CertifiedPlan, Mechanism};

impl CertifiedPlan {
    /// Everything that decides the law of the noise, as one line of text.
    pub fn fingerprint(&self) -> String {
        text(&self.method, self.exponent, &self.blocks, self.model.hash())
    }
}

fn text(method: &CertifiedMethod, exponent: u32, blocks: &[Block], model: &str) -> String {
    let CertifiedMethod { epsilon, features, mechanism, shrink } = method;
    let mechanism = match mechanism {
        Mechanism::Best => "Best",
        Mechanism::Knorm => "Knorm",
        Mechanism::Staircase => "Staircase",
        Mechanism::Laplace => "Laplace",
    };
    let epsilon = epsilon.get();
    let blocks: Vec<String> = blocks.iter().map(block).collect();
    format!(
        "certified 2: {mechanism}, {features} features, epsilon {epsilon:?}, shrink {shrink}, \
         {CELLS} cells, 2^-{exponent}, {}, model {model}",
        blocks.join("; ")
    )
}

fn block(block: &Block) -> String {
    let features: Vec<String> = block.features.iter().map(usize::to_string).collect();
    let steps = block.first_step.map_or(String::new(), |first| format!(" first step {first}"));
    format!("[{}]: {}{steps}", features.join(", "), block.units)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::method::Epsilon;

    /// Every variant, as it was first written. These lines must never change.
    #[test]
    fn fingerprints_are_fixed() {
        let exponent = 32;
        let block = |features: &[usize], units| Block {
            features: features.to_vec(),
            units,
            exponent,
            first_step: (features.len() == 1).then_some(9),
        };
        let method = CertifiedMethod::new(Epsilon::new(0.2).unwrap(), 3);
        assert_eq!(
            text(&method, exponent, &[block(&[0, 2], 500), block(&[1], 7)], "c0ffee"),
            "certified 2: Best, 3 features, epsilon 0.2, shrink true, 65536 cells, 2^-32, \
             [0, 2]: 500; [1]: 7 first step 9, model c0ffee"
        );
        let method = CertifiedMethod {
            mechanism: Mechanism::Laplace,
            shrink: false,
            ..CertifiedMethod::new(Epsilon::new(1e6).unwrap(), 1)
        };
        assert_eq!(
            text(&method, 0, &[block(&[0], 1_000_000)], "c0ffee"),
            "certified 2: Laplace, 1 features, epsilon 1000000.0, shrink false, 65536 cells, 2^-0, \
             [0]: 1000000 first step 9, model c0ffee"
        );
        assert_eq!(
            text(&method, 0, &[], "c0ffee"),
            "certified 2: Laplace, 1 features, epsilon 1000000.0, shrink false, 65536 cells, 2^-0, \
             , model c0ffee"
        );
    }
}
