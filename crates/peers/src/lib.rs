//! The old tools: what they print, in both directions, and how they are called.
//!
//! Pure: it makes and reads texts. Figures come back in bytes, nanoseconds and operations a second.

mod commands;
mod import;
mod print;
mod read;

pub use commands::{
    FioJob, FioPattern, Invocation, dd, ddrescue_read, ddrescue_write, fio, hdparm, iozone_single,
    iozone_threads,
};
pub use import::{ImportError, Imported, import};
pub use print::{Amount, print};
pub use read::{
    AgnosticsFigure, AgnosticsJob, AgnosticsReading, AgnosticsRun, AgnosticsTest, CommentDoubt,
    CommentFigure, CommentRate, CommentReading, PibenchmarksBoard, PibenchmarksDrive,
    PibenchmarksReading, PibenchmarksResult, PibenchmarksTest, PibenchmarksUnit, read_agnostics,
    read_comment, read_pibenchmarks,
};
pub use read::{
    DdReading, DdrescueReading, FioDirection, FioReading, HdparmReading, HdparmTest, IozoneOutput,
    IozoneRate, IozoneRow, IozoneTest, IozoneThreads, Rate, ReadError, read_dd, read_ddrescue,
    read_fio, read_hdparm, read_iozone,
};
pub use read::{
    F3Amount, F3Operation, F3Output, F3Probe, F3Read, F3Sectors, F3Verdict, F3Write, FioLatency,
    FioPercentile, FioSetup, FioTextReading, KdiskmarkDirection, KdiskmarkRate, KdiskmarkReading,
    KdiskmarkReport, read_f3, read_fio_text, read_kdiskmark,
};
