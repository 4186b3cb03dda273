//! Arguments of `recommend`.

use cardmark_judge::Price;
use clap::Args;

use super::values::{Kinds, parse_kinds, parse_price, parse_product_price};

/// Arguments of `recommend`.
#[derive(Debug, Args)]
pub(crate) struct RecommendArguments {
    /// Use: boot, database, camera, media, logging, endurance or "dash cam"
    #[arg(long = "use", value_name = "USE", required_unless_present = "avoid")]
    pub(crate) wanted: Option<String>,
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
    /// Products to avoid instead: false names and capacities, early errors, rates far below the use
    #[arg(long)]
    pub(crate) avoid: bool,
    /// All products, not only the first
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
