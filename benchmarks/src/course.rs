//! The engine on a course of the rate that no model of the simulator has, in virtual time.

use std::cell::RefCell;
use std::rc::Rc;

use cardmark_core::{
    DeviceCounters, Errno, Origin, OriginKind, Record, SensorSample, Suite, Workload,
    simulated_run_id,
};
use cardmark_engine::{
    Backend, Clock, Done, Event, Observer, Op, OpKind, Ports, Pulse, Request, Sensors, TargetRoom,
    execute, make_plan, record,
};

/// Storage whose rate follows a course.
pub trait Course {
    /// Writes a block at this offset; time passes.
    fn write(&mut self, offset: u64, bytes: u64);

    /// Makes everything durable; time may pass.
    fn flush(&mut self) {}

    /// Rests for this time, seconds.
    fn rest(&mut self, span_s: f64);

    /// Returns the time in seconds.
    fn now_s(&self) -> f64;
}

struct Disk<C>(Rc<RefCell<C>>, Vec<Op>);

impl<C: Course> Backend for Disk<C> {
    fn prepare(&mut self, _: &Workload) -> Result<u64, Errno> {
        Ok(0)
    }

    fn submit(&mut self, op: Op) {
        self.1.push(op);
    }

    fn reap(&mut self) -> Done {
        let op = self.1.remove(0);
        if op.kind == OpKind::Write {
            self.0.borrow_mut().write(op.offset, u64::from(op.bytes));
        }
        Done {
            slot: op.slot,
            outcome: Ok(op.bytes),
        }
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.0.borrow_mut().flush();
        Ok(())
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        None
    }
}

struct Time<C>(Rc<RefCell<C>>);

impl<C: Course> Clock for Time<C> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some hours in nanoseconds"
    )]
    fn now_ns(&mut self) -> u64 {
        (self.0.borrow().now_s() * 1e9) as u64
    }

    fn rest(&mut self, span_ns: u64) {
        self.0.borrow_mut().rest(span_ns as f64 / 1e9);
    }
}

struct Nothing;

impl Sensors for Nothing {
    fn take(&mut self) -> Vec<SensorSample> {
        Vec::new()
    }
}

impl Observer for Nothing {
    fn event(&mut self, _: &Event<'_>) {}
}

/// Returns the record of a suite on a course.
///
/// # Errors
/// If the suite cannot be planned for the target.
pub fn run_on<C: Course>(
    course: &Rc<RefCell<C>>,
    suite: &Suite,
    request: &Request,
    place: TargetRoom,
) -> Result<Record, String> {
    let plan = make_plan(suite, request, place).map_err(|error| error.to_string())?;
    let head = Record::new(
        simulated_run_id(&["course"]),
        Origin::of(OriginKind::Simulated),
    );
    let ports = Ports {
        backend: &mut Disk(Rc::clone(course), Vec::new()),
        clock: &mut Time(Rc::clone(course)),
        sensors: &mut Nothing,
        observer: &mut Nothing,
        pulse: &Pulse::new(),
    };
    Ok(record(head, execute(&plan, ports), suite))
}
