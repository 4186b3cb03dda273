//! System calls that a program is refused, as an older kernel or another filesystem would.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Access refused to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// O_DIRECT, with `EINVAL`, as some filesystems do.
    DirectIo,
    /// Files without a name, with `EOPNOTSUPP`, as vfat and exFAT do.
    NamelessFile,
    /// `io_uring`, with `EPERM`, as hardened systems do.
    IoUring,
}

impl Refusal {
    /// Does this in a thread to which it is refused, and to every thread and program that it starts.
    ///
    /// # Panics
    /// If that panics.
    pub fn during<T: Send>(self, act: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.apply_to_thread();
                act()
            });
            thread.join().unwrap()
        })
    }

    /// Refuses it to the calling thread and every program it starts from now on.
    pub(crate) fn apply_to_thread(self) {
        let (call, conditions, errno) = match self {
            Self::DirectIo => (
                libc::SYS_fcntl,
                vec![
                    condition(1, SeccompCmpOp::Eq, bits(libc::F_SETFL)),
                    condition(2, masked(libc::O_DIRECT), bits(libc::O_DIRECT)),
                ],
                libc::EINVAL,
            ),
            Self::NamelessFile => (
                libc::SYS_openat,
                vec![condition(2, masked(libc::O_TMPFILE), bits(libc::O_TMPFILE))],
                libc::EOPNOTSUPP,
            ),
            Self::IoUring => (libc::SYS_io_uring_setup, Vec::new(), libc::EPERM),
        };
        let rules = if conditions.is_empty() {
            Vec::new()
        } else {
            vec![SeccompRule::new(conditions).unwrap()]
        };
        let filter = SeccompFilter::new(
            BTreeMap::from([(call, rules)]),
            SeccompAction::Allow,
            SeccompAction::Errno(errno.unsigned_abs()),
            std::env::consts::ARCH.try_into().unwrap(),
        )
        .unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&program).unwrap();
    }
}

fn bits(flag: libc::c_int) -> u64 {
    u64::from(flag.unsigned_abs())
}

fn masked(flag: libc::c_int) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(bits(flag))
}

fn condition(argument: u8, relation: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, relation, value).unwrap()
}
