//! The old tools: what they print, in both directions, and how they are called.
//!
//! Pure: it makes and reads texts. Figures come back in bytes, nanoseconds and operations a second.

mod commands;
mod print;
mod read;

pub use commands::{
    FioJob, FioPattern, Invocation, dd, ddrescue_read, ddrescue_write, fio, hdparm, iozone_single,
    iozone_threads,
};
pub use print::{Amount, print};
pub use read::{
    DdReading, DdrescueReading, FioDirection, FioReading, HdparmReading, HdparmTest, IozoneOutput,
    IozoneRate, IozoneRow, IozoneTest, IozoneThreads, Rate, ReadError, read_dd, read_ddrescue,
    read_fio, read_hdparm, read_iozone,
};
