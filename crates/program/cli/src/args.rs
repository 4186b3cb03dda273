//! The command line. Parsing has no side effect.

#[cfg(test)]
mod documents;
mod examples;
mod integrity;
mod paths;
mod power_cut;
mod submit;
mod values;

use std::path::PathBuf;

use cardmark_core::Fill;
use cardmark_judge::Price;
use cardmark_share::Server;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use examples::examples;
pub(crate) use values::{Kinds, parse_size};
use values::{
    keepable, parse_claim, parse_class, parse_figure, parse_kinds, parse_label, parse_percent,
    parse_price, parse_product_price, parse_seed, parse_server, parse_text,
};

pub(crate) use integrity::{AnatomyArguments, EndureArguments, ProbeArguments, VerifyArguments};
pub(crate) use paths::{WrittenFile, WrittenFolder};
pub(crate) use power_cut::PowerCutArguments;
pub(crate) use submit::SubmitArguments;

/// Measures microSD cards and other small storage, honestly.
///
/// Without a command it shows what is there and asks what to test.
#[derive(Debug, Parser)]
#[command(name = "cardmark", version = crate::build::VERSION, max_term_width = 100, after_help = examples(""))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a target and keep the record
    #[command(after_help = examples("run"))]
    Run(RunArguments),
    /// Bring a device into a known state before it is measured
    ///
    /// Everything on it is lost. The preparation of a card is stored and shown with later runs, so
    /// that figures before and after all its cells were written can be compared. What was
    /// interrupted goes on where it ended.
    #[command(after_help = examples("prepare"))]
    Prepare(PrepareArguments),
    /// Check within minutes that a device has the capacity it claims and keeps its data
    ///
    /// Writes and reads samples across all of it, about 1.5 GB by default, and restores what was there unless
    /// `--destroy`. If the device hides missing storage behind a cache, it writes at most about 5.2 GB by default. Exit status: 0 if the capacity is confirmed, 1 if it is false or the device is
    /// damaged. A confirmed capacity does not prove the brand.
    #[command(after_help = examples("probe"))]
    Probe(ProbeArguments),
    /// Write and read every block: is all of it there, and does it hold what is written?
    ///
    /// In a directory all free room is used, but for a reserve, and given back afterwards. On a device
    /// everything is lost. What was interrupted goes on where it ended. Ends with 1 where a block does not
    /// hold what was written.
    #[command(after_help = examples("verify"))]
    Verify(VerifyArguments),
    /// Write and read a device again and again until it fails
    ///
    /// Everything on it is lost, and it is worn out. What was interrupted goes on where it ended.
    #[command(after_help = examples("endure"))]
    Endure(EndureArguments),
    /// Check what a card keeps of acknowledged writes when its power is cut
    ///
    /// Writes numbered blocks into a file, each with a flush, and notes in a log elsewhere what the card acknowledged,
    /// until you cut the power. Then `--check` reads everything back: are all acknowledged writes there? Exit status of
    /// the check: 0 if they are, 1 if one is lost, 3 if no cut was seen. A card that keeps all through one cut may lose
    /// some at the next: repeat it with the same log. A power cut can damage the filesystem and other files on the
    /// card: use one whose content you can lose.
    #[command(after_help = examples("power-cut"))]
    PowerCut(PowerCutArguments),
    /// Find the erase blocks of a card, and how many of them it keeps open
    ///
    /// Reads across boundaries, and writes a little, at most about 350 MB, which is put back afterwards
    /// unless `--destroy`. A card that can be written in few places at once suits no database.
    #[command(after_help = examples("anatomy"))]
    Anatomy(AnatomyArguments),
    /// Show a target: card, reader, board, and known facts about them
    ///
    /// Writes nothing, and works without root; it lists what only root could see.
    #[command(after_help = examples("info"))]
    Info(InfoArguments),
    /// Show a run
    #[command(after_help = examples("show"))]
    Show(ShowArguments),
    /// List runs, devices, suites, models or published results
    #[command(after_help = examples("list"))]
    List(ListArguments),
    /// Compare runs, cards or products: is one faster, by how much, how sure is that
    ///
    /// A side is a product (`Evo+ 32 GB`), RUN,RUN… or KEY=VALUE,KEY=VALUE…: all runs with these labels, or of this
    /// suite, board, model, card, capacity, or with its command queue on or off; conditions may follow a
    /// product after a comma. Products are found among your runs and published ones, and are compared
    /// wherever both were measured in the same way. With fewer than three runs a side the answer is about these
    /// runs, with three about these cards, with two cards of each about these products.
    #[command(after_help = examples("compare"))]
    Compare(CompareArguments),
    /// Show where a run stands among own and published results
    ///
    /// Results of other tools for the same pattern are ranked too, marked by the tool. Simulated runs are ranked with
    /// each other only.
    #[command(after_help = examples("rank"))]
    Rank(RankArguments),
    /// Show how a card's rates changed from run to run over months: is it getting worse?
    ///
    /// Runs of one suite under the same circumstances are put together, in the order of time. Without
    /// CARD it lists the cards that there are runs of.
    #[command(after_help = examples("history"))]
    History(HistoryArguments),
    /// Name the products that suit a use best, from own and published results
    ///
    /// For each product it shows how well it suits, what limits it, and the number of runs behind that.
    #[command(after_help = examples("recommend"))]
    Recommend(RecommendArguments),
    /// Import results from other tools
    ///
    /// Reads the output of hdparm, dd, iozone (also -T), fio (text, JSON, terse), ddrescue, f3write, f3read and
    /// f3probe, and reports of PiBenchmarks, Raspberry Pi Diagnostics (agnostics), CrystalDiskMark and KDiskMark.
    /// Results of several tools in one text are one run, until a test comes a second time. Tables are read if
    /// their headings name metrics (ids or plain names, with the unit: `hdparm_t (MiB/s)`): CSV or Markdown, one
    /// run per row, the first column a label; decimal commas if commas do not separate the columns. Tables copied from
    /// a web page, with spaces alone between cells, are read if there is only one way to read them. Records keep
    /// numbers with their units, never lines of the text. Lines with numbers that were not understood are listed.
    /// If one of several files cannot be imported, the others are, and the exit status is 1.
    #[command(after_help = examples("import"))]
    Import(ImportArguments),
    /// Write a report on one run or many: tables, charts, findings
    #[command(after_help = examples("report"))]
    Report(ReportArguments),
    /// Test many cards on several boards, step by step, and report on all
    #[command(after_help = examples("campaign"))]
    Campaign(CampaignArguments),
    /// Explain a class, a metric, a finding, a register, a product, a board
    #[command(after_help = examples("explain"))]
    Explain(ExplainArguments),
    /// Add or remove labels of a run
    #[command(after_help = examples("label"))]
    Label(LabelArguments),
    /// Export all runs
    #[command(after_help = examples("export"))]
    Export(ExportArguments),
    /// Send runs to a results site, or amend or withdraw them there
    ///
    /// Sends the public form of a run, shows it before, and asks. What cannot be sent now waits and goes with the next
    /// submit to that site. The right to amend or withdraw a run comes from a secret in the store; nothing has to be
    /// noted down, but keep a copy of it (`--export-secret`) in case this computer's card dies. Exit status: 0 if the site
    /// has all runs, 1 if it refused one, 3 if one waits or the site did not answer.
    #[command(after_help = examples("submit"))]
    Submit(SubmitArguments),
    /// Turn the journals of interrupted runs into partial records
    #[command(after_help = examples("recover"))]
    Recover(RecoverArguments),
    /// Write man pages and completions
    #[command(hide = true)]
    Generate(GenerateArguments),
}

/// Consent to writing a raw device.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Consent {
    /// Write to a block device without asking, if it has that serial number: what is on it is lost
    #[arg(long, requires = "device_serial")]
    pub(crate) yes: bool,
    /// Serial number of the block device that may be written; of a loop device, the path of its file
    #[arg(long, requires = "yes", value_name = "SERIAL")]
    pub(crate) device_serial: Option<String>,
}

impl Consent {
    pub(crate) fn given(&self) -> cardmark_session::Consent {
        cardmark_session::Consent {
            yes: self.yes,
            device_serial: self.device_serial.clone(),
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A directory, a block device, or `sim:MODEL`. A block device is written from its first byte on,
    /// unless `--read-only`: what is on it is lost, and model and size have to be typed before
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// The method
    #[arg(long, default_value = "quick", value_name = "NAME")]
    pub(crate) suite: String,
    /// Thoroughness, for the suites of classes: `raw-short` (the default on devices), `raw-full`, `file`
    #[arg(long, value_name = "NAME")]
    pub(crate) tier: Option<String>,
    /// Only these workloads, such as `rand_read_4k,seq_read_1m`
    #[arg(long, value_delimiter = ',', value_name = "ID,…")]
    pub(crate) only: Vec<String>,
    /// Write nothing; for block devices
    #[arg(long)]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seed of offsets and content; decimal, or hexadecimal after 0x
    #[arg(long, value_parser = parse_seed, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Get the seed from a results site, as proof that the run is later than the seed. Submit the run there within
    /// 7 days
    #[arg(long, conflicts_with = "seed")]
    pub(crate) fresh: bool,
    /// Results site that `--fresh` asks, such as https://cards.example
    #[arg(long, value_parser = parse_server, value_name = "URL", requires = "fresh")]
    pub(crate) server: Option<Server>,
    /// A remark kept in the record, such as `product="SanDisk Extreme 64 GB"`
    #[arg(long, value_parser = parse_label, value_name = "K=V")]
    pub(crate) label: Vec<(String, String)>,
    /// A promise on the package: a class, rate or capacity, such as A1, 130MB/s, 64GB
    #[arg(long, value_parser = parse_claim, value_name = "PROMISE")]
    pub(crate) claim: Vec<String>,
    /// A class that the card has to meet: ends with 1 where it does not, with 3 where that could not be
    /// tested; borderline counts as met. For the suites of classes
    #[arg(long, value_parser = parse_class, value_name = "CLASS")]
    pub(crate) require: Vec<String>,
    /// Print the record instead of the table; `--json=FILE` writes it to a file, beside the table
    #[arg(long, value_name = "FILE", require_equals = true, value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<Option<WrittenFile>>,
    /// Show all columns, ranges and notes
    #[arg(long)]
    pub(crate) all: bool,
    /// Repeat the suite N times (suites of old tools only), so that results get an interval
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// With `sustained`: write at most N bytes, in place of 128 GiB and 60 minutes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) bytes: Option<u64>,
    /// With `sustained`: write as much as the card holds, or for 60 minutes, whichever ends first. A file in a
    /// directory stays within a quarter of the free space and is written again and again
    #[arg(long, conflicts_with = "bytes")]
    pub(crate) until_settled: bool,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
}

/// Content for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FillArgument {
    /// 0xFF in every byte, as erased flash reads
    Ff,
    /// Zero in every byte
    Zero,
    /// Incompressible content that can be made again from the record
    Random,
    /// Discard all blocks (TRIM); takes seconds and writes no cell
    Discard,
}

impl From<FillArgument> for Fill {
    fn from(argument: FillArgument) -> Self {
        match argument {
            FillArgument::Ff => Self::Ff,
            FillArgument::Zero => Self::Zero,
            FillArgument::Random => Self::Random,
            FillArgument::Discard => Self::Discard,
        }
    }
}

/// Arguments of `prepare`.
#[derive(Debug, Args)]
pub(crate) struct PrepareArguments {
    /// The whole block device, such as /dev/mmcblk0
    pub(crate) device: String,
    /// Content of every byte
    #[arg(long)]
    pub(crate) fill: FillArgument,
    /// Begin again, even if an interrupted preparation could continue
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    /// A directory, a block device, or `sim:MODEL`
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// A promise on the package: a class, rate or capacity, such as A1, 130MB/s, 64GB
    #[arg(long, value_parser = parse_claim, value_name = "PROMISE")]
    pub(crate) claim: Vec<String>,
    /// Print JSON: all that is known, each field of the registers with it
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Term to explain, such as A2, rand_read_4k, no_command_queue, A2 on a Pi 4, or part of the name
    /// of a product or board, such as Evo Plus; none: all that can be
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// An id, a unique prefix of one, `last`, or a record file
    #[arg(default_value = "last")]
    pub(crate) run: String,
    /// Show all columns, ranges and notes
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the record itself
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// The card: its id, as `cardmark history` lists it, a target that lies on it, or conditions that
    /// hold for its runs alone, such as sample=A
    #[arg(value_name = "CARD")]
    pub(crate) card: Option<String>,
    /// Only these rates, such as `rand_write_4k,seq_write_1m`
    #[arg(
        long = "metric",
        value_delimiter = ',',
        value_name = "ID,…",
        requires = "card"
    )]
    pub(crate) metrics: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The side that is compared with: a product, ids, record files, or conditions
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// The sides that are compared with it
    #[arg(required = true, value_name = "OTHER")]
    pub(crate) others: Vec<String>,
    /// Only runs on boards whose name holds this, such as `Pi 4`
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Parts of the context that may differ, such as `board,reader,command_queue`
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) across: Vec<String>,
    /// Only these metrics, such as `rand_read_4k,seq_read_1m`
    #[arg(long = "metric", value_delimiter = ',', value_name = "ID,…")]
    pub(crate) metrics: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files with records (.json, .jsonl), with the output of tools, or with tables, also packed with
    /// gzip or zstd; `-` is standard input
    #[arg(required_unless_present = "figure", value_name = "FILE|-")]
    pub(crate) files: Vec<PathBuf>,
    /// A figure: metric, number and unit, such as `iozone_random_write=1.52MB/s`. Units are B/s, kB/s,
    /// MB/s, KiB/s, MiB/s, IOPS, ms or µs; MB are 10^6 bytes. All typed figures are one run
    #[arg(long, value_parser = parse_figure, value_name = "ID=NUMBER")]
    pub(crate) figure: Vec<(String, String)>,
    /// A remark kept in the records, such as `product="SanDisk Extreme 64 GB"`
    #[arg(long, value_parser = parse_label, value_name = "K=V")]
    pub(crate) label: Vec<(String, String)>,
    /// The computer that it was measured on, such as `Raspberry Pi 4 Model B`
    #[arg(long, value_parser = parse_text, value_name = "TEXT")]
    pub(crate) board: Option<String>,
    /// A name for the computer that records come from; kept beside them, and never sent
    #[arg(long, value_parser = parse_text, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `rank`.
#[derive(Debug, Args)]
pub(crate) struct RankArguments {
    /// An id, a unique prefix of one, `last`, or a record file; none: the last run with rates, or with
    /// --metric or --publication all results
    pub(crate) run: Option<String>,
    /// Only these metrics, such as `rand_read_4k,boot_time_rc_local`; --list shows them
    #[arg(long = "metric", value_delimiter = ',', value_name = "ID,…")]
    pub(crate) metrics: Vec<String>,
    /// Only results of boards whose name holds this, such as `Pi 4`
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Only results of this publication, such as `kulesz`
    #[arg(long, value_name = "ID")]
    pub(crate) publication: Option<String>,
    /// Only results by the same method, none by other tools with the same pattern
    #[arg(long)]
    pub(crate) exact: bool,
    /// All places, not only the first and those around the run
    #[arg(long)]
    pub(crate) all: bool,
    /// List the metrics by which results can be ranked, and end
    #[arg(long, conflicts_with_all = ["run", "metrics", "board", "publication", "exact", "all", "json"])]
    pub(crate) list: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `recommend`.
#[derive(Debug, Args)]
pub(crate) struct RecommendArguments {
    /// Use: boot, database, camera, media, logging or endurance
    #[arg(long = "use", value_name = "USE")]
    pub(crate) wanted: String,
    /// Kind of storage: microsd, sd, cf, usb, ssd, emmc, disk or all; several with commas
    #[arg(long, default_value = "microsd", value_parser = parse_kinds, value_name = "KIND")]
    pub(crate) kind: Kinds,
    /// At least this capacity, GB of 10^9 bytes as on the label
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000), value_name = "GB")]
    pub(crate) capacity: Option<u64>,
    /// At most this price, such as `15` or `"15 EUR"`. Prices are those of --price and of
    /// `cardmark label RUN price=AMOUNT`; products without one are listed apart
    #[arg(long, value_parser = parse_price, value_name = "AMOUNT")]
    pub(crate) budget: Option<Price>,
    /// Price of a product, such as `"Evo Plus 64 GB=9.50"`; may be repeated
    #[arg(long = "price", value_parser = parse_product_price, value_name = "NAME=AMOUNT")]
    pub(crate) prices: Vec<(String, Price)>,
    /// Only results of boards whose name holds this, such as `Pi 4`
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// All products, not only the first
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of `report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown with tables
    #[value(alias = "markdown")]
    Md,
    /// One metric a line
    Csv,
    /// One self-contained page
    #[value(alias = "htm")]
    Html,
    /// One of the charts
    Svg,
    /// One of the charts as a picture, into a file
    Png,
    /// The records
    Json,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Ids, record files, products such as `Evo+ 32 GB`, or conditions such as `label=value` and `publication=kulesz`
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only runs on boards whose name holds this, such as `Pi 4`
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Format; without it, that of the ending of `--output`, else `svg` with `--chart`, else `md`
    #[arg(long)]
    pub(crate) format: Option<ReportFormat>,
    /// A chart: its name such as `random-write-4k`, a part of it, or its number
    #[arg(long, value_name = "CHART")]
    pub(crate) chart: Option<String>,
    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Write to this file; `-`: standard output
    #[arg(short, long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<WrittenFile>,
}

/// Arguments of `campaign`.
#[derive(Debug, Args)]
pub(crate) struct CampaignArguments {
    /// The campaign: a file that names cards, boards and suites. Its runs and the report go into the
    /// folder of the same name without the ending
    #[arg(value_name = "FILE", required_unless_present = "example")]
    pub(crate) file: Option<PathBuf>,
    /// Print a file to begin with
    #[arg(long)]
    pub(crate) example: bool,
    /// Show what is done and what is left, and end
    #[arg(long, conflicts_with = "report")]
    pub(crate) plan: bool,
    /// Report on what there is, and end
    #[arg(long)]
    pub(crate) report: bool,
    /// The board of the campaign that this computer is; by default it is recognised by its model
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    #[command(flatten)]
    pub(crate) consent: Consent,
    /// Seconds after which the device counts as not answering
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400), value_name = "SECONDS")]
    pub(crate) timeout: u64,
}

/// Lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// The runs kept here, newest first
    Runs,
    /// The disks and cards of this computer
    Devices,
    /// The methods
    Suites,
    /// The simulated cards
    Models,
    /// Results that others published
    Published,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// The list
    #[arg(default_value = "runs")]
    pub(crate) what: Listing,
    /// Only runs that found something wrong: false capacity, damage, lost data, a class not met
    #[arg(long)]
    pub(crate) bad: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// At most this many runs
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: u32,
}

/// Arguments of `label`.
#[derive(Debug, Args)]
pub(crate) struct LabelArguments {
    /// An id, a unique prefix of one, or `last`
    pub(crate) run: String,
    /// Remarks, such as `reader="Anker 2.0"`; an empty value takes one away. None: show them
    #[arg(value_parser = parse_label, value_name = "K=V")]
    pub(crate) labels: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Formats of `export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One record a line
    Jsonl,
    /// One metric a line
    Csv,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Format
    #[arg(long, default_value = "jsonl")]
    pub(crate) format: ExportFormat,
    /// Without anything that could identify a person
    #[arg(long)]
    pub(crate) public: bool,
    /// Keep this field of the public form, such as `labels.sample` or `started_at`
    #[arg(long, value_name = "FIELD", requires = "public", value_parser = keepable)]
    pub(crate) keep: Vec<String>,
}

/// Arguments of `recover`.
#[derive(Debug, Args)]
pub(crate) struct RecoverArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Folder for `man/` and `completions/`; made if it does not exist
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) folder: WrittenFolder,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(parse_seed("12"), Ok(12));
        assert_eq!(parse_seed("0xff"), Ok(255));
        // As a results site issued it.
        let issued = 0xf47c_6ec1_94c7_e193;
        assert_eq!(parse_seed("0xf47c6ec194c7e193"), Ok(issued));
        assert_eq!(parse_seed(&issued.to_string()), Ok(issued));
        for bad in [
            "ff",
            "",
            "0x",
            "-1",
            "+1",
            "0x+1",
            "18446744073709551616",
            "0x1f47c6ec194c7e193",
        ] {
            assert!(parse_seed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn labels_have_a_plain_key_and_a_printable_value() {
        assert_eq!(parse_label("a.b=c=d"), Ok(("a.b".into(), "c=d".into())));
        assert_eq!(parse_label("a="), Ok(("a".into(), String::new())));
        for bad in ["a", "=b", "a b=c", "a=\u{1b}[31m"] {
            assert!(parse_label(bad).is_err(), "{bad}");
        }
        assert!(parse_label(&format!("a={}", "x".repeat(201))).is_err());
    }
}
