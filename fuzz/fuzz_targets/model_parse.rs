//! No text makes the reader of models panic; an accepted model can be asked anything.
#![no_main]

use cardmark_sim::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(model) = Model::parse(text) else {
        return;
    };
    assert!(model.capacity_bytes() > 0);
    assert!(model.run_deviation() >= 0.0 && model.trial_deviation() >= 0.0);
});
