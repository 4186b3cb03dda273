//! A simulated board with one card: what happens to it, and what a look at it shows.

use cardmark_core::{
    DiskLook, FilesystemLook, Health, KernelFault, LogCount, LogLook, Look, PowerLook, Rng,
};
use cardmark_judge::Kept;

const DAY_S: u64 = 86_400;
/// Bytes after which a count of 32 bits begins again.
const WRAP_BYTES: u64 = 1 << 41;

/// An event that is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    AnotherCard,
    StoppedByKernel,
    RemountedReadOnly,
    StaysReadOnlyAfterStart,
    FailedWrites,
    FailedReads,
    CountedErrors,
    LoggedErrors,
    MediaErrors,
    DiskWarning,
    LifeOver,
    UnderVoltage,
}

impl Truth {
    pub(super) const ALL: [Self; 12] = [
        Self::AnotherCard,
        Self::StoppedByKernel,
        Self::RemountedReadOnly,
        Self::StaysReadOnlyAfterStart,
        Self::FailedWrites,
        Self::FailedReads,
        Self::CountedErrors,
        Self::LoggedErrors,
        Self::MediaErrors,
        Self::DiskWarning,
        Self::LifeOver,
        Self::UnderVoltage,
    ];

    /// Kinds of the events that a look must find.
    pub(super) fn kinds(self) -> &'static [cardmark_judge::EventKind] {
        use cardmark_judge::EventKind as Kind;
        match self {
            Self::AnotherCard => &[Kind::AnotherCard],
            Self::StoppedByKernel | Self::RemountedReadOnly | Self::StaysReadOnlyAfterStart => {
                &[Kind::ReadOnly]
            }
            Self::FailedWrites | Self::FailedReads => &[Kind::FailedOperations],
            Self::CountedErrors | Self::LoggedErrors => &[Kind::FilesystemErrors],
            Self::MediaErrors => &[Kind::MediaErrors],
            Self::DiskWarning => &[Kind::DiskWarning],
            Self::LifeOver => &[Kind::LifeOver],
            Self::UnderVoltage => &[Kind::UnderVoltage],
        }
    }
}

struct Line {
    sequence: u64,
    at_us: u64,
    fault: Option<KernelFault>,
}

/// A board, and the truth about it.
pub(super) struct Board {
    rng: Rng,
    /// Seconds since 1970, as they really are.
    now_s: u64,
    /// Difference of the board's clock, seconds; `None`: it is not set.
    clock_s: Option<i64>,
    has_rtc: bool,
    started_s: u64,
    starts_count: u64,
    wraps_count: u64,
    is_32_bit: bool,
    has_sequence: bool,
    /// 0: no log for this user.
    log_lines_most: u64,
    lines: Vec<Line>,
    next_line: u64,
    card: u64,
    is_emmc: bool,
    has_own_id: bool,
    sequence: u64,
    counted_bytes: u64,
    written_bytes: u64,
    written_at_look: u64,
    kept_written_bytes: u64,
    first_bytes: Option<u64>,
    /// ext4 with a readable count.
    has_lifetime: bool,
    lifetime_bytes: u64,
    session_bytes: u64,
    loses_power: bool,
    is_second_filesystem: bool,
    stated_writable: Option<bool>,
    is_read_only: bool,
    is_stopped: bool,
    errors_count: Option<u64>,
    health: Option<Health>,
    reads_power: bool,
    is_low: bool,
    bytes_per_day: u64,
    /// False for a board that runs through.
    restarts: bool,
    /// True if its disk always reports its health.
    answers: bool,
}

impl Board {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::for_part(seed, "board", 0);
        let mut one_in = |n: u64| rng.below(n) == 0;
        let is_disk = one_in(4);
        let has_lifetime = !one_in(3);
        let stated_writable = match (one_in(3), one_in(5)) {
            (true, _) => None,
            (false, true) => Some(false),
            (false, false) => Some(true),
        };
        let health = Health {
            used_percent: Some(10),
            media_errors_count: Some(0),
            ..Health::default()
        };
        let mut board = Self {
            now_s: 1_790_000_000,
            clock_s: Some(0),
            has_rtc: one_in(2),
            started_s: 1_790_000_000 - 100,
            starts_count: 1,
            wraps_count: 0,
            is_32_bit: one_in(2),
            has_sequence: !one_in(4),
            log_lines_most: if one_in(6) { 0 } else { 2000 },
            lines: Vec::new(),
            next_line: 0,
            card: seed * 1000,
            is_emmc: !is_disk && one_in(4),
            has_own_id: !one_in(8) || seed.is_multiple_of(12),
            sequence: 7,
            counted_bytes: 0,
            written_bytes: 0,
            written_at_look: 0,
            kept_written_bytes: 0,
            first_bytes: None,
            has_lifetime,
            lifetime_bytes: 3_000_000_000,
            session_bytes: 0,
            loses_power: one_in(2),
            is_second_filesystem: one_in(2),
            stated_writable,
            is_read_only: stated_writable == Some(false),
            is_stopped: false,
            errors_count: has_lifetime.then_some(0),
            health: (is_disk || one_in(3)).then_some(health),
            reads_power: one_in(2),
            is_low: false,
            bytes_per_day: match (is_disk, one_in(2)) {
                (true, _) => 1_200_000_000_000,
                (false, true) => 80_000_000_000,
                (false, false) => 900_000_000,
            },
            restarts: !one_in(2),
            answers: one_in(2),
            rng,
        };
        board.start_lines();
        board
    }

    /// Bytes really written since the first look.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_at_look - self.first_bytes.unwrap_or(0)
    }

    /// The same until the last look that was kept.
    pub(super) fn kept_written_bytes(&self) -> u64 {
        self.kept_written_bytes
    }

    pub(super) fn was_kept(&mut self) {
        self.kept_written_bytes = self.written_bytes();
    }

    pub(super) fn starts_count(&self) -> u64 {
        self.starts_count
    }

    pub(super) fn wraps_count(&self) -> u64 {
        self.wraps_count
    }

    /// True if nothing that is written can escape the looks.
    pub(super) fn shows_all(&self) -> bool {
        let fills_once = self.has_sequence && self.bytes_per_day < 100_000_000_000;
        self.has_lifetime && !self.loses_power && (!self.is_32_bit || fills_once)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.rng.below(n) == 0
    }

    fn start_lines(&mut self) {
        self.lines.clear();
        self.next_line = 0;
        self.line(None);
        self.next_line = 300;
    }

    /// More lines than the log holds.
    fn flood(&mut self) {
        self.lines.clear();
        self.next_line += 3000;
        self.line(None);
    }

    fn line(&mut self, fault: Option<KernelFault>) {
        let line = Line {
            sequence: self.next_line,
            at_us: (self.now_s - self.started_s) * 1_000_000,
            fault,
        };
        self.next_line += 1;
        self.lines.push(line);
        let most = usize::try_from(self.log_lines_most.max(1)).unwrap_or(1);
        if self.lines.len() > most {
            self.lines.remove(0);
        }
    }

    fn write(&mut self, bytes: u64) {
        let bytes = if self.is_read_only {
            0
        } else {
            bytes / 512 * 512
        };
        self.written_bytes += bytes;
        self.session_bytes += bytes;
        self.counted_bytes += bytes;
        if self.is_32_bit {
            self.wraps_count += self.counted_bytes / WRAP_BYTES;
            self.counted_bytes %= WRAP_BYTES;
        }
    }

    /// The system starts again, some time later.
    fn restart(&mut self) {
        // What the filesystem had not stored of its own count is lost with the power.
        let stored = match self.loses_power && self.one_in(2) {
            true => self.session_bytes / 2,
            false => self.session_bytes,
        };
        self.lifetime_bytes += stored;
        self.session_bytes = 0;
        let off_s = match self.rng.below(4) {
            0 => self.rng.below(10 * DAY_S),
            _ => 30,
        };
        self.now_s += off_s;
        self.started_s = self.now_s;
        self.starts_count += 1;
        self.counted_bytes = 0;
        self.sequence = 5 + self.rng.below(6);
        self.clock_s = match (self.has_rtc, self.rng.below(4)) {
            (true, _) => Some(0),
            // The clock goes on from the time of the shutdown, or an hour before.
            (false, 0) => Some(-i64::try_from(off_s + self.rng.below(3600)).unwrap_or(0)),
            (false, 1) => None,
            (false, _) => Some(0),
        };
        self.is_low = false;
        self.start_lines();
    }

    /// One piece of the time between two looks.
    fn some_time(&mut self) {
        let span_s = 600 + self.rng.below(20_000);
        self.now_s += span_s;
        let share = self.bytes_per_day / 1000 * span_s / DAY_S;
        let burst = self.rng.below(2000);
        self.write(share * burst);
        if self.one_in(10) {
            self.flood();
        }
        for _ in 0..self.rng.below(3) {
            let fault = match self.rng.below(100) {
                0 => Some(KernelFault::Link),
                1 => Some(KernelFault::Data),
                _ => None,
            };
            self.line(fault);
        }
        match self.rng.below(40) {
            0..=3 if self.restarts => self.restart(),
            // The clock is set from the network, or was wrong for a while.
            4 => self.clock_s = Some(0),
            5 => self.clock_s = Some(i64::try_from(self.rng.below(3 * DAY_S)).unwrap_or(0)),
            6 => self.clock_s = Some(86_400 * 9000),
            7 => self.clock_s = None,
            8 if self.stated_writable == Some(false) => self.is_read_only = !self.is_read_only,
            // The filesystem is checked.
            9 => self.errors_count = self.errors_count.map(|_| 0),
            10 => self.warn_of_heat(),
            _ => {}
        }
    }

    /// A warning that passes.
    fn warn_of_heat(&mut self) {
        if let Some(health) = &mut self.health {
            health.warnings = match health.warnings.is_empty() {
                true => vec!["temperature beyond its threshold".to_owned()],
                false => Vec::new(),
            };
            health.used_percent = health.used_percent.map(|used| (used + 1).min(100));
        }
    }

    /// Lets time pass, and looks.
    pub(super) fn next_look(&mut self, kept: Option<&Kept>) -> Look {
        for _ in 0..1 + self.rng.below(12) {
            self.some_time();
        }
        self.look(kept)
    }

    fn at_s(&self) -> Option<u64> {
        self.now_s.checked_add_signed(self.clock_s?)
    }

    fn boot_id(&self) -> String {
        format!("boot-{}", self.starts_count)
    }

    fn look(&mut self, kept: Option<&Kept>) -> Look {
        self.written_at_look = self.written_bytes;
        self.first_bytes.get_or_insert(self.written_bytes);
        Look {
            at_s: self.at_s(),
            uptime_s: Some(self.now_s - self.started_s),
            boot_id: Some(self.boot_id()),
            disks: vec![self.disk()],
            filesystems: self.filesystems(),
            log: self.log(kept),
            power: PowerLook {
                is_low: self.reads_power.then_some(false),
                was_low: match self.is_low {
                    true => Some(true),
                    false => self.reads_power.then_some(false),
                },
            },
        }
    }

    /// After a start the kernel may find the slots in another order.
    fn name(&self) -> String {
        format!("mmcblk{}", self.starts_count % 2)
    }

    fn disk(&mut self) -> DiskLook {
        let health = self.health.clone();
        let is_asked = self.answers || !self.one_in(10);
        DiskLook {
            name: self.name(),
            model: Some("SN32G".to_owned()),
            size_bytes: Some(32_000_000_000),
            id: self.has_own_id.then(|| format!("{:06x}", self.card)),
            is_own_id: self.has_own_id,
            is_emmc: self.is_emmc,
            sequence: self.has_sequence.then_some(self.sequence),
            counted_bytes: Some(self.counted_bytes),
            wraps_bytes: self.is_32_bit.then_some(WRAP_BYTES),
            health: health.filter(|_| is_asked),
        }
    }

    fn filesystems(&self) -> Vec<FilesystemLook> {
        let lifetime = (self.lifetime_bytes + self.session_bytes) / 1024 * 1024;
        let root = FilesystemLook {
            device: "mmcblk0p2".to_owned(),
            id: self.has_lifetime.then(|| "0f-root".to_owned()),
            kind: "ext4".to_owned(),
            point: "/".to_owned(),
            is_read_only: self.is_read_only,
            is_stopped: self.is_stopped,
            stated_writable: self.stated_writable,
            errors_count: self.errors_count,
            first_error_s: None,
            last_error_s: None,
            lifetime_bytes: self.has_lifetime.then_some(lifetime),
        };
        let boot = FilesystemLook {
            device: "mmcblk0p1".to_owned(),
            kind: "vfat".to_owned(),
            point: "/boot/firmware".to_owned(),
            stated_writable: Some(true),
            ..FilesystemLook::default()
        };
        let boot = self.is_second_filesystem.then_some(boot);
        [root].into_iter().chain(boot).collect()
    }

    /// The log as the reader of the host counts it.
    fn log(&self, kept: Option<&Kept>) -> LogLook {
        if self.log_lines_most == 0 {
            return LogLook::default();
        }
        let from = kept.and_then(|kept| kept.log_from(Some(&self.boot_id())));
        let new = self
            .lines
            .iter()
            .filter(|line| line.sequence >= from.unwrap_or(0));
        let mut counts: Vec<LogCount> = Vec::new();
        for line in new {
            let Some(fault) = line.fault else { continue };
            match counts.iter_mut().find(|count| count.fault == fault) {
                Some(count) => {
                    count.count += 1;
                    count.last_us = line.at_us;
                }
                None => counts.push(LogCount {
                    of: self.name(),
                    fault,
                    is_before: false,
                    count: 1,
                    first_us: line.at_us,
                    last_us: line.at_us,
                }),
            }
        }
        LogLook {
            oldest: self.lines.first().map(|line| line.sequence),
            next: Some(self.next_line),
            counts,
        }
    }

    /// Lets an event happen now, and looks. The board gets what is needed to see it.
    pub(super) fn happens(&mut self, truth: Truth, kept: Option<&Kept>) -> Look {
        self.log_lines_most = self.log_lines_most.max(2000);
        self.answers = true;
        let health = self.health.get_or_insert_with(Health::default);
        match truth {
            Truth::AnotherCard => {
                self.has_own_id = true;
                self.card += 1;
                self.sequence += 1;
                self.counted_bytes = 0;
            }
            Truth::StoppedByKernel => {
                self.stated_writable = None;
                (self.is_read_only, self.is_stopped) = (true, true);
            }
            Truth::RemountedReadOnly => {
                self.stated_writable = Some(true);
                self.is_read_only = true;
            }
            Truth::StaysReadOnlyAfterStart => {
                self.stated_writable = Some(true);
                self.restart();
                self.is_read_only = true;
            }
            Truth::FailedWrites => self.line(Some(KernelFault::Write)),
            Truth::FailedReads => {
                self.line(Some(KernelFault::Read));
                self.line(Some(KernelFault::Operation));
            }
            Truth::CountedErrors => self.errors_count = Some(self.errors_count.unwrap_or(0) + 2),
            Truth::LoggedErrors => {
                self.errors_count = None;
                self.line(Some(KernelFault::Filesystem));
            }
            Truth::MediaErrors => {
                health.media_errors_count = Some(health.media_errors_count.unwrap_or(0) + 1);
            }
            Truth::DiskWarning => health.warnings = vec!["read-only".to_owned()],
            Truth::LifeOver => health.used_percent = Some(110),
            Truth::UnderVoltage => self.is_low = true,
        }
        self.look(kept)
    }
}
