//! Was there a power cut while the test wrote?

use super::{CutCycle, CutEnd};

/// Surroundings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Id of the start of the operating system.
    pub boot: Option<String>,
    /// Numbers that the kernel gave to the devices below the target when they appeared.
    pub disk: Option<String>,
    /// True if the card itself holds the mark of an orderly end.
    pub has_end_mark: bool,
}

/// Sign of a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutEvidence {
    /// The device disappeared while it was written.
    Gone,
    /// The log breaks off, and the operating system was started again, or this is another computer.
    Restarted,
    /// The log breaks off, and the device was attached again.
    Reattached,
}

/// Reason why there was no power cut, as far as can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCut {
    /// No write was acknowledged.
    NothingAcknowledged,
    /// The test ended in order.
    Ended,
    /// The test broke off, but computer and device were on all the time.
    StayedOn,
    /// The test broke off, and nothing is known of computer and device.
    Unknown,
}

/// Returns the sign of a power cut, or the reason why there was none.
///
/// # Errors
/// If no power cut can be seen.
pub fn evidence(cycle: &CutCycle, now: &Surroundings) -> Result<CutEvidence, NoCut> {
    let is_known = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some();
    let (before, end) = (&cycle.begin, cycle.end);
    if cycle.acknowledged == 0 {
        return Err(NoCut::NothingAcknowledged);
    }
    if matches!(end, Some(CutEnd::Stopped | CutEnd::Done)) || now.has_end_mark {
        return Err(NoCut::Ended);
    }
    if end == Some(CutEnd::Gone) {
        return Ok(CutEvidence::Gone);
    }
    match (
        is_known(&before.boot, &now.boot),
        is_known(&before.disk, &now.disk),
    ) {
        (true, _) if before.boot != now.boot => Ok(CutEvidence::Restarted),
        // The numbers of devices begin again with each start.
        (true, true) if before.disk != now.disk => Ok(CutEvidence::Reattached),
        (true, true) => Err(NoCut::StayedOn),
        _ => Err(NoCut::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power_cut::{CutBegin, CutLog, CutPlan, LogLine};

    /// A cycle with one acknowledged write on start `A`, device 5.
    fn cycle(end: Option<CutEnd>) -> CutCycle {
        let begin = CutBegin {
            plan: CutPlan::new(1, 8, 1),
            boot: Some("A".to_owned()),
            disk: Some("5".to_owned()),
            at: None,
        };
        let mut lines = vec![
            LogLine::Begin(begin),
            LogLine::Acknowledged {
                number: 1,
                at_ms: 3,
            },
        ];
        lines.extend(end.map(|end| LogLine::End { end, at_ms: 4 }));
        let text: String = lines.iter().map(LogLine::text).collect();
        CutLog::read(&text).cycles.remove(0)
    }

    fn now(boot: Option<&str>, disk: Option<&str>) -> Surroundings {
        Surroundings {
            boot: boot.map(str::to_owned),
            disk: disk.map(str::to_owned),
            has_end_mark: false,
        }
    }

    #[test]
    fn a_cut_is_seen_from_the_log_the_start_and_the_device() {
        use CutEvidence::{Gone, Reattached, Restarted};
        let (same, other) = (now(Some("A"), Some("5")), now(Some("B"), Some("5")));
        let attached = now(Some("A"), Some("9"));
        let nothing = now(None, None);
        for (end, now, expected) in [
            (None, &same, Err(NoCut::StayedOn)),
            (None, &other, Ok(Restarted)),
            (None, &attached, Ok(Reattached)),
            (None, &nothing, Err(NoCut::Unknown)),
            (None, &now(Some("A"), None), Err(NoCut::Unknown)),
            (Some(CutEnd::Gone), &same, Ok(Gone)),
            (Some(CutEnd::Gone), &nothing, Ok(Gone)),
            (Some(CutEnd::Errors), &same, Err(NoCut::StayedOn)),
            (Some(CutEnd::Errors), &attached, Ok(Reattached)),
            (Some(CutEnd::NoAnswer), &same, Err(NoCut::StayedOn)),
            (Some(CutEnd::NoAnswer), &other, Ok(Restarted)),
            (Some(CutEnd::Stopped), &other, Err(NoCut::Ended)),
            (Some(CutEnd::Done), &attached, Err(NoCut::Ended)),
        ] {
            assert_eq!(evidence(&cycle(end), now), expected, "{end:?} {now:?}");
        }
    }

    #[test]
    fn an_orderly_end_may_be_noted_on_the_card_alone() {
        let now = Surroundings {
            has_end_mark: true,
            ..now(Some("B"), None)
        };
        assert_eq!(evidence(&cycle(None), &now), Err(NoCut::Ended));
    }

    #[test]
    fn without_an_acknowledged_write_a_cut_shows_nothing() {
        let mut cycle = cycle(Some(CutEnd::Gone));
        cycle.acknowledged = 0;
        let now = now(Some("B"), None);
        assert_eq!(evidence(&cycle, &now), Err(NoCut::NothingAcknowledged));
    }
}
