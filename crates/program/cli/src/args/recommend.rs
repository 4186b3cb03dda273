//! Arguments of `recommend`.

use cardmark_judge::Price;
use clap::Args;

use super::values::{Kinds, parse_gigabytes, parse_kinds, parse_price, parse_product_price};

/// Arguments of `recommend`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecommendArguments {
    /// Use, board, or both, such as `Kodi on a Pi 4`
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Use, or a program: boot, Home Assistant, dash cam, camera trap, Pi-hole, retro games, NAS, endurance … [default: boot]
    #[arg(long = "use", value_name = "USE")]
    pub(crate) wanted: Option<String>,
    /// Board that it is for, such as `Pi 4` [default: this computer, if it is a known board; else asked for at a terminal, or any board]
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Kind of storage: microsd, sd, cf, usb, ssd, nvme, emmc, disk or all; several with commas [default: microsd, or what the use needs]
    #[arg(long, value_parser = parse_kinds, value_name = "KIND")]
    pub(crate) kind: Option<Kinds>,
    /// At least this capacity, GB of 10^9 bytes as on the label, or with a unit: `1TB`
    #[arg(long, value_parser = parse_gigabytes, value_name = "GB")]
    pub(crate) capacity: Option<u64>,
    /// At most this price, such as `15` or `"15 EUR"`. Prices are those of --price and of
    /// `cardmark label RUN price=AMOUNT`; products without one stay
    #[arg(long, value_parser = parse_price, value_name = "AMOUNT")]
    pub(crate) budget: Option<Price>,
    /// Price of a product, such as `"Evo Plus 64 GB=9.50"`; may be repeated
    #[arg(long = "price", value_parser = parse_product_price, value_name = "NAME=AMOUNT")]
    pub(crate) prices: Vec<(String, Price)>,
    /// The cheapest that is enough
    #[arg(long)]
    pub(crate) by_value: bool,
    /// Products to avoid instead: false names and capacities, early errors, rates far below the use
    #[arg(long)]
    pub(crate) avoid: bool,
    /// All products, with figures and sources
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl RecommendArguments {
    /// Returns the least capacity in bytes.
    pub(crate) fn capacity_bytes(&self) -> Option<u64> {
        Some(self.capacity? * 1_000_000_000)
    }
}
