//! Facts as data: suites (`suites/*.toml`) and information about cards, boards, readers and terms
//! (`facts/*.toml`). Pure: the data are part of the program.

mod boards;
mod classes;
mod elsewhere;
mod endurance;
mod equivalents;
mod explanations;
mod facts;
mod kinds;
mod lines;
mod manufacturers;
mod products;
mod publications;
mod published;
mod quantities;
mod questions;
mod queue;
mod quirks;
mod raspberry;
mod readers;
mod signs;
mod similar;
mod sources;
mod spreads;
mod suites;
mod synonyms;
mod uses;
mod vocabulary;

pub use boards::{
    BoardFacts, BoardPcie, UsbBoot, board, board_name, boards, boards_called, is_same_name,
    nearest_boards,
};
pub use classes::{Class, ClassFamily, Need, class, classes};
pub use elsewhere::{
    Between, Deviation, Elsewhere, ElsewhereSource, elsewhere, elsewhere_of, elsewhere_sources,
};
pub use endurance::{
    BrandKind, CapacityVerdict, Cycles, EnduranceKind, EndurancePromise, EnduranceSample,
    SampleRegisters, endurance_promises, endurance_samples,
};
pub use equivalents::{
    Apart, Equivalents, Method, StandIn, all_equivalents, equivalents, equivalents_of,
    reason_apart, stand_ins,
};
pub use explanations::{Explanation, Group, explanation, explanations, nearest_terms};
pub use kinds::ProductKind;
pub use lines::{
    KnownQueue, PackageClaim, ProductLine, QueueState, SeenRegisters, StatedRates, lines,
};
pub use manufacturers::{Manufacturer, manufacturer};
pub use products::{Product, product, product_name, products};
pub use publications::{PublishedError, publications};
pub use published::{Absent, Publication, PublishedFigure, PublishedRun, Setting, Unit};
pub use quantities::metric_quantities;
pub use questions::{Answer, answered, search};
pub use queue::{QueueGain, queue_gains};
pub use quirks::{CardState, Kernel, Quirk, QuirkEffect, quirks};
pub use raspberry::{Processor, RevisionCode};
pub use readers::{Bridge, BridgeKind, usb_bridge};
pub use signs::{Sign, SignInput, Weight, signs};
pub use similar::{meant, nearest};
pub use sources::{Availability, Fact, FactSource};
pub use spreads::{
    RepeatPairs, Repeats, Spread, class_of, repeat_pairs_of, repeats, series, spread_of, spreads,
};
pub use suites::{CatalogError, crosscheck_suite, suite, suite_names};
pub use uses::{Requirement, Use, meant_use, use_of, uses};
pub use vocabulary::{
    Known, LookUp, find_products, is_board, is_part_of_name, lines_of, lines_with_registers,
    look_up, products_called, split_capacity,
};
