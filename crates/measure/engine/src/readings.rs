//! Readings of the sensors over a run, in a bounded number.

use cardmark_core::{MOST_MESSAGES, SensorSample};

/// Maximum number of readings; when it is reached, neighbours are merged.
const MOST_READINGS: usize = 4096;

/// Readings of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    list: Vec<SensorSample>,
    /// Readings that lie together within this span are merged, nanoseconds.
    span_ns: u64,
    /// Number of kernel messages kept.
    messages_count: usize,
}

impl Readings {
    /// Adds a reading, in the order of time. Messages beyond the first [`MOST_MESSAGES`] of the run are only counted.
    pub(crate) fn add(&mut self, mut sample: SensorSample) {
        // A record holds milliseconds.
        sample.at_ns -= sample.at_ns % 1_000_000;
        let room = MOST_MESSAGES - self.messages_count;
        if sample.messages.len() > room {
            let more = (sample.messages.len() - room) as u64;
            sample.messages.truncate(room);
            sample.more_messages_count = Some(sample.more_messages_count.unwrap_or(0) + more);
        }
        self.messages_count += sample.messages.len();
        self.add_merging(sample);
        if self.list.len() == MOST_READINGS {
            // Twice the mean distance of half the number.
            let ends_ns = self.list.last().map_or(0, |last| last.at_ns);
            self.span_ns = (2 * self.span_ns).max(ends_ns / (MOST_READINGS as u64 / 4));
            for sample in std::mem::take(&mut self.list) {
                self.add_merging(sample);
            }
        }
    }

    fn add_merging(&mut self, sample: SensorSample) {
        let before_ns = match self.list[..] {
            [.., ref before, _] => before.at_ns,
            _ => 0,
        };
        match self.list.last_mut() {
            Some(last) if sample.at_ns.saturating_sub(before_ns) <= self.span_ns => {
                merge(last, sample);
            }
            _ => self.list.push(sample),
        }
    }

    /// Returns all readings.
    pub(crate) fn into_list(self) -> Vec<SensorSample> {
        self.list
    }
}

/// Merges a reading with the next one: the higher temperatures, the lower frequency, throttled if one was, sums of
/// counts, all messages.
fn merge(into: &mut SensorSample, next: SensorSample) {
    let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    };
    into.at_ns = next.at_ns;
    // `None` is less than any reading.
    into.temperature_millicelsius = into
        .temperature_millicelsius
        .max(next.temperature_millicelsius);
    into.device_temperature_millicelsius = into
        .device_temperature_millicelsius
        .max(next.device_temperature_millicelsius);
    let frequencies = [into.frequency_hz, next.frequency_hz];
    into.frequency_hz = frequencies.into_iter().flatten().min();
    into.throttled = into.throttled.max(next.throttled);
    into.stolen_ns = sum(into.stolen_ns, next.stolen_ns);
    for (name, count) in next.bus_errors {
        let total = into.bus_errors.entry(name).or_default();
        *total = total.saturating_add(count);
    }
    into.messages.extend(next.messages);
    into.more_messages_count = sum(into.more_messages_count, next.more_messages_count);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn sample(second: u64) -> SensorSample {
        SensorSample {
            at_ns: second * SECOND_NS,
            temperature_millicelsius: Some(if second == 12_345 { 80_000 } else { 40_000 }),
            throttled: Some(second == 23_456),
            stolen_ns: Some(7),
            bus_errors: [("data_crc".to_owned(), 1)].into(),
            ..SensorSample::default()
        }
    }

    #[test]
    fn a_day_of_readings_keeps_extremes_and_counts_in_few_readings() {
        let mut readings = Readings::default();
        let seconds = 86_400;
        (0..seconds).for_each(|second| readings.add(sample(second)));
        let list = readings.into_list();
        assert!(
            (MOST_READINGS / 4..MOST_READINGS).contains(&list.len()),
            "{}",
            list.len()
        );
        assert!(list.is_sorted_by(|a, b| a.at_ns < b.at_ns));
        let distances = list.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns);
        let longest_ns = distances.max().unwrap();
        assert!(longest_ns <= 90 * SECOND_NS, "{longest_ns}");
        let stolen: u64 = list.iter().filter_map(|sample| sample.stolen_ns).sum();
        assert_eq!(stolen, 7 * seconds);
        let errors: u64 = list
            .iter()
            .map(|sample| sample.bus_errors["data_crc"])
            .sum();
        assert_eq!(errors, seconds);
        let reading_of = |second| {
            let at_ns = second * SECOND_NS;
            list.iter().find(|sample| sample.at_ns >= at_ns).unwrap()
        };
        assert_eq!(reading_of(12_345).temperature_millicelsius, Some(80_000));
        assert_eq!(reading_of(23_456).throttled, Some(true));
        assert_eq!(list.iter().filter(|s| s.throttled == Some(true)).count(), 1);
    }

    #[test]
    fn a_storm_of_messages_is_counted_and_its_first_texts_are_kept() {
        let mut readings = Readings::default();
        for second in 0..10_000 {
            let messages = (0..100).map(|number| format!("{second} {number}"));
            readings.add(SensorSample {
                messages: messages.collect(),
                ..sample(second)
            });
        }
        let list = readings.into_list();
        let texts: Vec<&String> = list.iter().flat_map(|sample| &sample.messages).collect();
        assert_eq!(texts.len(), MOST_MESSAGES);
        assert_eq!(texts[0], "0 0");
        assert_eq!(texts[MOST_MESSAGES - 1], "2 55");
        let more: u64 = list
            .iter()
            .filter_map(|sample| sample.more_messages_count)
            .sum();
        assert_eq!(more, 1_000_000 - MOST_MESSAGES as u64);
    }

    #[test]
    fn few_readings_stay_as_they_are() {
        let mut readings = Readings::default();
        let all: Vec<_> = (0..1000).map(sample).collect();
        all.iter().for_each(|sample| readings.add(sample.clone()));
        assert_eq!(readings.into_list(), all);
    }
}
