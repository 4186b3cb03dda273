//! Readings of sensors in columns, as a record holds them.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::SensorSample;
use crate::columns::{column, spread};

const NS_PER_MS: u64 = 1_000_000;

/// Readings of sensors in columns: element *n* of each list belongs to reading *n*, which stands for the time since
/// the reading before. A list is missing if it would hold nothing but `null`. Of a long run, neighbouring readings
/// are merged: the higher temperatures, the lower frequency, throttled if one was, sums of counts, all messages.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(crate) struct SensorColumns {
    /// Times of the readings since the start of the run, milliseconds.
    at_ms: Vec<u64>,
    /// Temperatures of the processor, thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    temperature_millicelsius: Vec<Option<i32>>,
    /// Temperatures of the device, thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    device_temperature_millicelsius: Vec<Option<i32>>,
    /// Frequencies of the first processor, hertz.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    frequency_hz: Vec<Option<u64>>,
    /// True where the board slowed itself down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    throttled: Vec<Option<bool>>,
    /// Processor time that others on the same physical machine took, nanoseconds, all processors together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stolen_ns: Vec<Option<u64>>,
    /// Errors that the host controller of the card counted, by the kernel's name, such as `data_crc`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    bus_errors: BTreeMap<String, Vec<Option<u64>>>,
    /// The first 256 messages of the kernel about the device in the run: the index of the reading, and the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 256)))]
    messages: Vec<(u32, String)>,
    /// Numbers of further messages, whose texts are not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more_messages_count: Vec<Option<u64>>,
}

impl From<&[SensorSample]> for SensorColumns {
    fn from(samples: &[SensorSample]) -> Self {
        let names = samples.iter().flat_map(|sample| sample.bus_errors.keys());
        let errors = |name: &String| column(samples, |sample| sample.bus_errors.get(name).copied());
        let messages = (0_u32..).zip(samples).flat_map(|(index, sample)| {
            let texts = sample.messages.iter().cloned();
            texts.map(move |text| (index, text))
        });
        Self {
            at_ms: samples
                .iter()
                .map(|sample| sample.at_ns / NS_PER_MS)
                .collect(),
            temperature_millicelsius: column(samples, |sample| sample.temperature_millicelsius),
            device_temperature_millicelsius: column(samples, |sample| {
                sample.device_temperature_millicelsius
            }),
            frequency_hz: column(samples, |sample| sample.frequency_hz),
            throttled: column(samples, |sample| sample.throttled),
            stolen_ns: column(samples, |sample| sample.stolen_ns),
            bus_errors: names.map(|name| (name.clone(), errors(name))).collect(),
            messages: messages.collect(),
            more_messages_count: column(samples, |sample| sample.more_messages_count),
        }
    }
}

impl SensorColumns {
    fn into_samples<E: Error>(self) -> Result<Vec<SensorSample>, E> {
        let at = |at_ms: u64| {
            let at_ns = at_ms.checked_mul(NS_PER_MS);
            let at_ns = at_ns.ok_or_else(|| E::custom("a reading after more than 500 years"))?;
            Ok(SensorSample {
                at_ns,
                ..SensorSample::default()
            })
        };
        let samples = self.at_ms.into_iter().map(at);
        let mut samples = samples.collect::<Result<Vec<SensorSample>, E>>()?;
        let all = &mut samples[..];
        spread(all, self.temperature_millicelsius, |to, value| {
            to.temperature_millicelsius = value;
        })?;
        spread(all, self.device_temperature_millicelsius, |to, value| {
            to.device_temperature_millicelsius = value;
        })?;
        spread(all, self.frequency_hz, |to, value| to.frequency_hz = value)?;
        spread(all, self.throttled, |to, value| to.throttled = value)?;
        spread(all, self.stolen_ns, |to, value| to.stolen_ns = value)?;
        spread(all, self.more_messages_count, |to, value| {
            to.more_messages_count = value;
        })?;
        for (name, counts) in self.bus_errors {
            spread(all, counts, |to, count| {
                to.bus_errors
                    .extend(count.map(|count| (name.clone(), count)));
            })?;
        }
        for (index, text) in self.messages {
            let sample = usize::try_from(index)
                .ok()
                .and_then(|at| samples.get_mut(at));
            let sample = sample.ok_or_else(|| E::custom(format!("no reading {index}")))?;
            sample.messages.push(text);
        }
        Ok(samples)
    }
}

pub(crate) fn serialize<S: Serializer>(
    samples: &[SensorSample],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    SensorColumns::from(samples).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<SensorSample>, D::Error> {
    SensorColumns::deserialize(deserializer)?.into_samples()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Origin, OriginKind, Record, SensorSample, parse_record, record_to_json};

    fn samples() -> Vec<SensorSample> {
        serde_json::from_value(json!([
            { "at_ns": 1_000_000 },
            { "at_ns": 2_000_000, "temperature_millicelsius": 40_000, "bus_errors": { "data_crc": 3 } },
            { "at_ns": 3_000_000, "temperature_millicelsius": 41_000, "throttled": true, "messages": ["a", "b"], "more_messages_count": 9 },
        ]))
        .unwrap()
    }

    fn document(sensors: &Value) -> String {
        let id = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        json!({"format": 1, "id": id, "origin": {"kind": "measured"}, "sensors": sensors})
            .to_string()
    }

    #[test]
    fn readings_are_columns_with_the_values_that_there_are() {
        let mut record = Record::new(uuid::Uuid::nil(), Origin::of(OriginKind::Measured));
        record.sensors = samples();
        let json: Value = serde_json::from_str(&record_to_json(&record).unwrap()).unwrap();
        let columns = json!({
            "at_ms": [1, 2, 3],
            "temperature_millicelsius": [null, 40_000, 41_000],
            "throttled": [null, null, true],
            "bus_errors": { "data_crc": [null, 3, null] },
            "messages": [[2, "a"], [2, "b"]],
            "more_messages_count": [null, null, 9],
        });
        assert_eq!(json["sensors"], columns);
        assert_eq!(
            parse_record(&document(&columns)).unwrap().sensors,
            samples()
        );
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        for wrong in [
            json!({ "at_ms": [1, 2], "throttled": [true] }),
            json!({ "at_ms": [1], "bus_errors": { "data_crc": [1, 2] } }),
            json!({ "at_ms": [1], "messages": [[1, "a"]] }),
            json!({ "throttled": [true] }),
            json!({ "at_ms": [9_007_199_254_740_991_u64] }),
        ] {
            assert!(parse_record(&document(&wrong)).is_err(), "{wrong}");
        }
    }
}
