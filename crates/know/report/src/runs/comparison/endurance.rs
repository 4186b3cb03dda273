//! The endurance of two sides: volumes that makers state, and cards that others wrote until an error.

use cardmark_judge::{StatedPair, Tested};
use serde_json::{Value, json};

use crate::answer::AnswerBlock;
use crate::runs::durable::first_errors;
use crate::text::layout::joined;
use crate::text::promised::volume;
use crate::text::style::{Style, clean};
use crate::text::{amount, figure};

/// What is known of the endurance of two sides.
#[derive(Clone, Debug, Default)]
pub struct EnduranceOfBoth {
    /// Volumes that makers state.
    pub stated: Option<StatedPair>,
    /// Cards that others tested.
    pub tested: Option<[Tested; 2]>,
}

impl EnduranceOfBoth {
    /// Returns a sentence: makers' figures, or else tests; `None` without either.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let stated = self.stated.as_ref().map(stated_words);
        stated.or_else(|| self.tested.as_ref().map(tested_words))
    }

    /// Returns the answer where no rates can be compared; `None` without one.
    fn block(&self) -> Option<AnswerBlock> {
        Some(AnswerBlock {
            sentence: self.sentence()?,
            open: vec!["No rates of both sides to compare".to_owned()],
            ..AnswerBlock::default()
        })
    }

    /// Returns the text of this answer.
    #[must_use]
    pub fn text(&self, width: usize, style: Style) -> Option<String> {
        Some(joined(&[self.block()?.lines(width, style)]))
    }

    /// Returns the same for programs.
    #[must_use]
    pub fn json(&self, [base, other]: [&str; 2]) -> Option<Value> {
        let answer = self.block()?.json();
        Some(json!({
            "base": { "name": base, "runs": [] },
            "other": { "name": other, "runs": [] },
            "answer": answer,
            "endurance": self.data(),
        }))
    }

    /// Returns the figures for programs.
    #[must_use]
    pub fn data(&self) -> Value {
        json!({ "stated": self.stated, "tested": self.tested })
    }
}

fn stated_words(pair: &StatedPair) -> String {
    let [base, other] = pair.names.each_ref().map(|name| clean(name));
    let size = amount(pair.capacity_bytes);
    let mut sides = [
        (pair.volumes_bytes[0], base),
        (pair.volumes_bytes[1], other),
    ];
    sides.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let [(most, first), (least, second)] = sides;
    let volumes = [most, least].map(volume);
    if volumes[0] == volumes[1] {
        return format!(
            "{first} and {second} are made for as many writes: {} at {size}, makers' figures",
            volumes[0]
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let ratio = most as f64 / least.max(1) as f64;
    let most = match (volumes[0].split_once(' '), volumes[1].split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => number,
        _ => &volumes[0],
    };
    format!(
        "{first} is made for {} times the writes of {second}: {most} against {} at {size}, makers' figures",
        figure(ratio),
        volumes[1]
    )
}

fn tested_words(tested: &[Tested; 2]) -> String {
    let [one, other] = tested
        .each_ref()
        .map(|test| format!("{} {}", clean(&test.product), first_errors(test)));
    format!("Tested by others, fillings before the first error: {one}, {other}")
}
