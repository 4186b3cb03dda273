//! A simulated card and its ports.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use cardmark_core::{
    Board, DeviceCounters, DeviceInfo, Errno, Host, ReadBack, SensorSample, Workload,
};
use cardmark_engine::{Backend, Clock, Done, Op, Sensors};

use crate::body::draw_factor;
use crate::course::{CourseTruth, course_truth};
use crate::data::BoardData;
use crate::state::{State, first_trial};
use crate::truth::{Truth, truth_of};
use crate::{FtlCounts, Model};

struct Shared {
    now_ns: Cell<u64>,
    state: RefCell<State>,
}

/// One card of a model in one run, in virtual time from 0.
pub struct SimulatedCard {
    model: Model,
    run_factor: f64,
    seed: u64,
    shared: Rc<Shared>,
}

impl SimulatedCard {
    /// A card of this model. The seed draws everything that varies.
    pub fn new(model: &Model, seed: u64) -> Self {
        let state = State::new(model, seed);
        Self {
            model: model.clone(),
            run_factor: state.run_factor(),
            seed,
            shared: Rc::new(Shared {
                now_ns: Cell::new(0),
                state: RefCell::new(state),
            }),
        }
    }

    /// The engine's ports to this card. All of them share its time and state, however often this
    /// is called.
    pub fn ports(&self) -> (SimBackend, SimClock, SimSensors) {
        let shared = || Rc::clone(&self.shared);
        (
            SimBackend { shared: shared() },
            SimClock { shared: shared() },
            SimSensors { shared: shared() },
        )
    }

    /// Returns the truth of this run: the result of an endless measurement of a workload, the run's own factor
    /// included. `None` if the model is not stationary.
    pub fn truth(&self, workload: &Workload) -> Option<Truth> {
        truth_of(&self.model, workload, Some(self.seed)).map(|truth| truth.times(self.run_factor))
    }

    /// Returns the truth of one long series of sequential writes that is the run's first trial, the factors of
    /// run and trial included. `None` if heat or a fault changes the rate.
    pub fn course_truth(&self, block_bytes: u64) -> Option<CourseTruth> {
        let mut rng = first_trial(self.seed);
        let factor = self.run_factor * draw_factor(self.model.trial_deviation(), &mut rng);
        course_truth(&self.model, block_bytes, factor)
    }

    /// Returns the work of its translation layer so far, if it has one.
    pub fn ftl_counts(&self) -> Option<FtlCounts> {
        self.shared.state.borrow().ftl_counts()
    }

    /// Factor by which this run is faster than the model.
    pub fn run_factor(&self) -> f64 {
        self.run_factor
    }

    /// Bytes the card holds; operations that reach beyond fail with errno 5.
    pub fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The card as a record names it.
    pub fn device(&self) -> DeviceInfo {
        DeviceInfo {
            name: "sim".to_owned(),
            size_bytes: Some(self.capacity_bytes()),
            model: Some(self.model.name().to_owned()),
            removable: Some(true),
            reader: self.model.board().map(BoardData::reader),
            ..DeviceInfo::default()
        }
    }

    /// The simulated computer.
    pub fn board(&self) -> Board {
        let plain = || Board {
            model: Some("simulated board".to_owned()),
            memory_bytes: Some(4 << 30),
            cpu_count: Some(4),
            ..Board::default()
        };
        self.model.board().map_or_else(plain, BoardData::described)
    }

    /// The simulated system.
    pub fn host(&self) -> Host {
        Host {
            system: Some("simulated host".to_owned()),
            ..Host::default()
        }
    }
}

impl Model {
    /// Returns the truth of the model: that of a run whose factor is one. `None` if the model is not stationary
    /// or cannot run the workload.
    pub fn truth(&self, workload: &Workload) -> Option<Truth> {
        truth_of(self, workload, None)
    }
}

/// The card's storage.
pub struct SimBackend {
    shared: Rc<Shared>,
}

impl Backend for SimBackend {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        let now_ns = self.shared.now_ns.get();
        self.shared
            .now_ns
            .set(self.shared.state.borrow_mut().prepare(now_ns, workload)?);
        Ok(0)
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        self.shared
            .state
            .borrow_mut()
            .submit(self.shared.now_ns.get(), op);
    }

    #[inline]
    fn reap(&mut self) -> Done {
        let (now_ns, done) = self
            .shared
            .state
            .borrow_mut()
            .reap(self.shared.now_ns.get());
        self.shared.now_ns.set(now_ns);
        done
    }

    fn flush(&mut self) -> Result<(), Errno> {
        let now_ns = self.shared.now_ns.get();
        self.shared
            .now_ns
            .set(self.shared.state.borrow_mut().flush(now_ns)?);
        Ok(())
    }

    fn read_back(&mut self, offset: u64, bytes: u64) -> Result<Option<ReadBack>, Errno> {
        let now_ns = self.shared.now_ns.get();
        let mut state = self.shared.state.borrow_mut();
        state.refuse_if_gone(now_ns)?;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let (later_ns, found) = state.read_back(now_ns, offset, bytes);
        self.shared.now_ns.set(later_ns);
        Ok(Some(found))
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        Some(self.shared.state.borrow().counters())
    }
}

/// The card's virtual time.
pub struct SimClock {
    shared: Rc<Shared>,
}

impl Clock for SimClock {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        self.shared.now_ns.get()
    }

    fn rest(&mut self, span_ns: u64) {
        let now_ns = self.shared.now_ns.get();
        let later_ns = self.shared.state.borrow_mut().rest(now_ns, span_ns);
        self.shared.now_ns.set(later_ns);
    }
}

/// The simulated board's readings, one a second.
pub struct SimSensors {
    shared: Rc<Shared>,
}

impl Sensors for SimSensors {
    fn take(&mut self) -> Vec<SensorSample> {
        self.shared.state.borrow_mut().take_samples()
    }
}
