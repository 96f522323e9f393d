//! Files with models: eigenfaces and the statistics of embeddings.
#![no_main]

use facedp::FeatureModel;
use facedp_engine::Prior;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    if let Ok(model) = FeatureModel::from_bytes(file) {
        assert!(model.features() > 0 && model.pixels() > 0);
    }
    let _ = Prior::from_bytes(file);
});
