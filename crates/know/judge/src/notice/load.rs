//! Other programs on the host shortly before the run.

use cardmark_core::{Finding, FindingKind, HostLoad, Record, Severity};

/// Share of the processors' time for a finding, percent.
const BUSY_PERCENT: u64 = 50;
/// Rate on the target's disks for a finding, bytes per second.
const BUSY_BYTES_PER_S: u64 = 1_000_000;
/// The same, operations per second.
const BUSY_OPERATIONS_PER_S: u64 = 50;

pub(super) fn findings(record: &Record) -> Option<Finding> {
    let load = record.host.as_ref()?.load.as_ref()?;
    // The trials have shown it already.
    let is_shared = record.findings.iter().any(|finding| {
        finding.kind == FindingKind::SharedDevice && finding.severity == Severity::Warning
    });
    let disks = traffic(load).filter(|_| !is_shared);
    let parts: Vec<String> = [processors(load), disks].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let detail = format!(
            "shortly before the run, other programs {}",
            parts.join(", and ")
        );
        Finding::new(FindingKind::BusyHost, Severity::Note, detail)
            .advise("close other programs (`top` and `sudo iotop -oa` show them) and measure again")
    })
}

fn processors(load: &HostLoad) -> Option<String> {
    let others = u128::from(load.others_cpu_ns?) * 100;
    let percent = others.checked_div(u128::from(load.cpu_ns?))?;
    (percent >= u128::from(BUSY_PERCENT))
        .then(|| format!("used {percent} % of the processors' time"))
}

fn traffic(load: &HostLoad) -> Option<String> {
    let counters = load.device_counters?;
    let per_s = |count: u64| {
        let count = u128::from(count) * 1_000_000_000;
        count.checked_div(u128::from(load.span_ns))
    };
    let bytes = per_s(counters.read_bytes.saturating_add(counters.write_bytes))?;
    let operations = counters
        .read_operations_count
        .saturating_add(counters.write_operations_count);
    let operations = per_s(operations)?;
    let is_busy =
        bytes >= u128::from(BUSY_BYTES_PER_S) || operations >= u128::from(BUSY_OPERATIONS_PER_S);
    is_busy.then(|| {
        let megabytes = bytes as f64 / 1e6;
        format!(
            "moved {megabytes:.1} MB/s on the target's disk in {operations} operations per second"
        )
    })
}

#[cfg(test)]
mod tests {
    use cardmark_core::{DeviceCounters, Host, Origin, OriginKind, run_id_from_bytes};

    use super::*;

    fn record(others_cpu_ns: u64, bytes: u64, operations: u64) -> Record {
        let counters = DeviceCounters {
            read_bytes: bytes / 2,
            write_bytes: bytes - bytes / 2,
            read_operations_count: operations,
            ..DeviceCounters::default()
        };
        let load = HostLoad {
            span_ns: 500_000_000,
            cpu_ns: Some(2_000_000_000),
            others_cpu_ns: Some(others_cpu_ns),
            device_counters: Some(counters),
        };
        let mut record = Record::new(run_id_from_bytes([0; 16]), Origin::of(OriginKind::Measured));
        record.host = Some(Host {
            load: Some(load),
            ..Host::default()
        });
        record
    }

    fn told(record: &Record) -> Option<String> {
        findings(record).map(|finding| finding.detail)
    }

    #[test]
    fn a_busy_host_is_noticed_from_the_limits_on() {
        assert_eq!(told(&record(990_000_000, 499_999, 24)), None);
        let busy = told(&record(1_000_000_000, 0, 0)).unwrap();
        assert!(
            busy.ends_with("programs used 50 % of the processors' time"),
            "{busy}"
        );
        let bytes = told(&record(0, 500_000, 0)).unwrap();
        assert!(bytes.ends_with("moved 1.0 MB/s on the target's disk in 0 operations per second"));
        let operations = told(&record(0, 0, 25)).unwrap();
        assert!(
            operations.ends_with("in 50 operations per second"),
            "{operations}"
        );
        let mut unknown = record(1_000_000_000, 500_000, 25);
        unknown.host = Some(Host::default());
        assert_eq!(told(&unknown), None);
    }

    #[test]
    fn traffic_that_the_trials_have_shown_is_told_once() {
        let mut shared = record(0, 500_000, 25);
        let finding = |severity| Finding::new(FindingKind::SharedDevice, severity, "shared");
        shared.findings = vec![finding(Severity::Note)];
        assert!(told(&shared).is_some(), "a journal");
        shared.findings = vec![finding(Severity::Warning)];
        assert_eq!(told(&shared), None);
    }

    #[test]
    fn a_record_without_time_is_no_error() {
        let mut empty = record(1, 1, 1);
        if let Some(load) = empty.host.as_mut().and_then(|host| host.load.as_mut()) {
            (load.span_ns, load.cpu_ns) = (0, Some(0));
        }
        assert_eq!(told(&empty), None);
    }
}
