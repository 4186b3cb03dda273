//! Arguments of `compare`, `rank` and `history`.

use clap::Args;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The side that is compared with: a product, ids, record files, or conditions; none: the last run of another card
    #[arg(value_name = "BASE", default_value = "", hide_default_value = true)]
    pub(crate) base: String,
    /// The sides that are compared with it; none: the last run
    #[arg(value_name = "OTHER")]
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
    /// All metrics, circumstances and places, and the method
    #[arg(long)]
    pub(crate) all: bool,
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
    /// All metrics and places, not only the four main rates, and the places around the run
    #[arg(long)]
    pub(crate) all: bool,
    /// List the metrics by which results can be ranked, and end
    #[arg(long, conflicts_with_all = ["run", "metrics", "board", "publication", "exact", "all", "json"])]
    pub(crate) list: bool,
    /// Print JSON
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
    /// All rates, and the method
    #[arg(long, requires = "card")]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
