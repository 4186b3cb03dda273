//! A loop device with somebody's data on it, and the jobs on it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cardmark_core::{Fill, fill_payload};
use cardmark_integrity::EndureEnd;
use cardmark_session::{
    CommandError, Consent, EndureRequest, LoanTerms, ProbeTerms, Session, TestRequest, TestResult,
    Tested, VerifyScope, VerifyTarget, WholeDevice, anatomy, endure, prepare, probe, to_endure,
    verify,
};
use cardmark_testkit::{FuseDir, LoopDevice};

use crate::world::{Ended, MIB, Person, World, consent, files, text};

const WHOLE: &str = "a test of the whole";
/// Number of bytes written or compared at once.
const PIECE: usize = 1 << 20;

/// A card in a reader, and a world for its jobs.
pub(crate) struct Card {
    pub(crate) device: LoopDevice,
    /// The filesystem with its content, which fails on demand.
    pub(crate) below: Option<FuseDir>,
    pub(crate) world: World,
    pub(crate) size_bytes: u64,
}

impl Card {
    pub(crate) fn new(size_bytes: u64) -> Self {
        let world = World::new();
        let image = world.path("image");
        let card = Self::on(&image, (world, None), size_bytes);
        card.insert(0);
        card
    }

    /// A card that holds nothing.
    pub(crate) fn sparse(size_bytes: u64) -> Self {
        let world = World::new();
        let image = world.path("image");
        Self::on(&image, (world, None), size_bytes)
    }

    /// A card that fails on demand.
    pub(crate) fn fragile(size_bytes: u64) -> Self {
        let world = World::new();
        let below = FuseDir::mount(world.scratch.path());
        let image = below.path().join("image");
        let card = Self::on(&image, (world, Some(below)), size_bytes);
        card.insert(0);
        card
    }

    fn on(image: &Path, (world, below): (World, Option<FuseDir>), size_bytes: u64) -> Self {
        File::create(image).unwrap().set_len(size_bytes).unwrap();
        Self {
            device: LoopDevice::attach(image, true),
            below,
            world,
            size_bytes,
        }
    }

    pub(crate) fn below(&self) -> &FuseDir {
        self.below.as_ref().unwrap()
    }

    pub(crate) fn name(&self) -> &str {
        text(self.device.path())
    }

    /// Puts another card into the reader, with other data.
    pub(crate) fn insert(&self, card: u64) {
        let mut piece = vec![0; PIECE];
        for offset in (0..self.size_bytes).step_by(PIECE) {
            let length = piece_at(offset, self.size_bytes);
            fill_payload(card + offset, &mut piece);
            self.write(offset, &piece[..length]);
        }
    }

    /// Writes to the card as another program would, through the cache of the device.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) {
        let device = File::options().write(true).open(self.device.path());
        let device = device.unwrap();
        device.write_all_at(bytes, offset).unwrap();
        device.sync_all().unwrap();
    }

    pub(crate) fn content(&self) -> Vec<u8> {
        std::fs::read(self.device.file()).unwrap()
    }

    /// Returns whether it holds the data of that card in all of that range.
    pub(crate) fn holds(&self, card: u64, range: std::ops::Range<u64>) -> bool {
        let file = File::open(self.device.file()).unwrap();
        let (mut expected, mut found) = (vec![0; PIECE], vec![0; PIECE]);
        let end = range.end;
        range.step_by(PIECE).all(|offset| {
            let length = piece_at(offset, end);
            fill_payload(card + offset, &mut expected);
            file.read_exact_at(&mut found[..length], offset).unwrap();
            found[..length] == expected[..length]
        })
    }

    pub(crate) fn is_untouched(&self) -> bool {
        self.holds(0, 0..self.size_bytes)
    }

    /// The undo log.
    pub(crate) fn log(&self) -> PathBuf {
        let mut logs = files(&self.world.data.tests).into_iter();
        let is_log = |path: &PathBuf| path.extension().is_some_and(|end| end == "undo");
        logs.find(is_log).unwrap()
    }

    fn request<'a>(&self, consent: &'a Consent, restart: bool) -> TestRequest<'a> {
        TestRequest {
            seed: None,
            consent,
            restart,
        }
    }

    pub(crate) fn probing(
        &self,
        session: &Session<'_>,
        loan: &LoanTerms,
    ) -> Result<TestResult, CommandError> {
        let consent = consent(&self.device);
        let tested = Tested::to_write(self.name(), WHOLE)?;
        let terms = ProbeTerms {
            cache_bytes: Some(2 * MIB),
            wait_s: 0,
        };
        probe(
            session,
            &tested,
            &self.request(&consent, false),
            loan,
            terms,
        )
    }

    pub(crate) fn probe(&self, loan: &LoanTerms) -> Ended {
        self.world.job(|session| self.probing(session, loan))
    }

    pub(crate) fn anatomy(&self, loan: &LoanTerms, with_writes: bool) -> Ended {
        self.anatomy_with(Person::absent(), loan, with_writes)
    }

    pub(crate) fn anatomy_with(
        &self,
        person: &'static Person,
        loan: &LoanTerms,
        with_writes: bool,
    ) -> Ended {
        self.world.job_with(person, |session| {
            let consent = consent(&self.device);
            let tested = match with_writes {
                true => Tested::to_write(self.name(), WHOLE)?,
                false => Tested::to_read(self.name(), WHOLE)?,
            };
            let units = (with_writes, with_writes.then_some(2 * MIB));
            anatomy(
                session,
                &tested,
                &self.request(&consent, false),
                loan,
                units,
            )
        })
    }

    /// Kills a probe later and later until one has overwritten something.
    pub(crate) fn kill_probe(&self) {
        for n in (0..).map(|power| 1 << power) {
            let killed = self
                .world
                .kill(n, |session| self.probing(session, &LoanTerms::default()));
            assert!(killed, "no step after which something is overwritten");
            if !self.is_untouched() {
                return;
            }
        }
    }

    pub(crate) fn verify_with(
        &self,
        person: &'static Person,
        scope: &VerifyScope,
        restart: bool,
    ) -> Ended {
        self.verify_seeded(person, scope, (None, restart))
    }

    pub(crate) fn verify_seeded(
        &self,
        person: &'static Person,
        scope: &VerifyScope,
        (seed, restart): (Option<u64>, bool),
    ) -> Ended {
        self.world.job_with(person, |session| {
            let consent = consent(&self.device);
            let target = VerifyTarget::named(self.name())?;
            let request = TestRequest {
                seed,
                ..self.request(&consent, restart)
            };
            verify(session, self.name(), &target, &request, scope)
        })
    }

    pub(crate) fn verify(&self, scope: &VerifyScope) -> Ended {
        self.verify_with(Person::absent(), scope, false)
    }

    pub(crate) fn endure_with(
        &self,
        person: &'static Person,
        end: EndureEnd,
        after_days: Option<u32>,
    ) -> Ended {
        self.world.job_with(person, |session| {
            let consent = consent(&self.device);
            let tested = to_endure(self.name(), false, Some(&self.world.data))?;
            let request = EndureRequest {
                test: self.request(&consent, false),
                end,
                after_days,
            };
            endure(session, &tested, &request)
        })
    }

    /// Prepares the card; returns where it began, bytes, too.
    pub(crate) fn prepare_with(
        &self,
        person: &'static Person,
        fill: Fill,
        restart: bool,
    ) -> (Ended, Option<u64>) {
        let mut from_bytes = None;
        let ended = self.world.job_with(person, |session| {
            let device = WholeDevice::to_write(self.name(), WHOLE)?;
            let consent = consent(&self.device);
            let ended = prepare(session, self.name(), &device, (fill, restart), &consent)?;
            from_bytes = Some(ended.from_bytes);
            let (failure, exit) = (ended.failure(), cardmark_session::Exit::Done);
            drop(std::mem::ManuallyDrop::into_inner(ended.device));
            match failure.or(ended.history_error) {
                Some(error) => Err(error),
                None => Ok(exit),
            }
        });
        (ended, from_bytes)
    }
}

/// An end after that number of cycles.
pub(crate) fn cycles(count: u32) -> EndureEnd {
    EndureEnd {
        bad_share: 0.5,
        most_bytes: None,
        most_cycles: Some(count),
    }
}

/// Length of the piece at that offset of something that ends there.
fn piece_at(offset: u64, end: u64) -> usize {
    usize::try_from(end - offset).unwrap().min(PIECE)
}

/// Terms that keep the undo log in that folder.
pub(crate) fn in_folder(folder: &Path) -> LoanTerms {
    LoanTerms {
        save_to: Some(folder.to_owned()),
        ..LoanTerms::default()
    }
}
