//! Arguments of `explain`.

use clap::Args;

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A term, such as A2, rand_read_4k, no_command_queue, A2 on a Pi 4; a question, such as why is my card slow; or
    /// part of the name of a product or board, such as Evo Plus; none: all that can be explained
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
