//! The command line. Parsing has no side effect.

mod compare;
#[cfg(test)]
mod documents;
mod examples;
mod explain;
mod files;
mod fleet;
mod groups;
mod integrity;
mod list;
mod open;
mod paths;
mod power_cut;
mod prepare;
mod recommend;
mod report;
mod run;
mod submit;
mod values;
mod watch;

use clap::{Args, Parser, Subcommand};

use examples::examples;
pub(crate) use values::parse_size;
use values::{parse_percent, parse_seed};

pub(crate) use compare::{CompareArguments, HistoryArguments, RankArguments};
pub(crate) use explain::ExplainArguments;
pub(crate) use files::{
    ExportArguments, ExportFormat, GenerateArguments, ImportArguments, RecoverArguments,
};
pub(crate) use fleet::FleetArguments;
pub(crate) use integrity::{AnatomyArguments, EndureArguments, ProbeArguments, VerifyArguments};
pub(crate) use list::{InfoArguments, LabelArguments, ListArguments, Listing, ShowArguments};
pub(crate) use open::OpenArguments;
pub(crate) use paths::{WrittenFile, WrittenFolder};
pub(crate) use power_cut::PowerCutArguments;
pub(crate) use prepare::PrepareArguments;
pub(crate) use recommend::RecommendArguments;
pub(crate) use report::{Audience, CampaignArguments, ReportArguments, ReportFormat};
pub(crate) use run::RunArguments;
pub(crate) use submit::SubmitArguments;
pub(crate) use watch::{WatchArguments, WatchFormat};

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
    /// Look once at a card and its board: what happened since the last look, and how much is written a day
    ///
    /// Reads only. Events are certain: another card, a filesystem that became read-only, failed reads and writes, errors of filesystems,
    /// warnings of the disk, too little voltage. Each stays until you acknowledge it or change the card. The state between looks is
    /// kept in /var/lib/cardmark/watch by root, else in ~/.local/state/cardmark/watch; only root sees the kernel's messages and the
    /// health of disks. Exit status: 0, whatever is found, except with `--format nagios`.
    #[command(after_help = examples("watch"))]
    Watch(WatchArguments),
    /// Show a run
    #[command(after_help = examples("show"))]
    Show(ShowArguments),
    /// List runs, devices, suites, models or published results
    #[command(after_help = examples("list"))]
    List(ListArguments),
    /// List your boards, the worst first: events, last look, life, bytes a day, product
    ///
    /// Boards have names: `cardmark import --host NAME FILE` keeps what a board exported (`cardmark export --since`) under its name. The
    /// order is that of `list --bad`; alarms of a look come next to cards to replace. A board is silent if its last look is old.
    #[command(after_help = examples("fleet"))]
    Fleet(FleetArguments),
    /// Show your runs in the browser: pages, comparisons, histories, work under way
    ///
    /// Only your browser can open the pages, on this computer, as long as the command runs; nothing is sent. Work
    /// under way is shown with the time left, and can be stopped. On a board without a screen, read them from another
    /// computer through `ssh -L`.
    #[command(after_help = examples("open"))]
    Open(OpenArguments),
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
    /// Explain a word, a finding, a product or a board, or answer a question about cards
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
