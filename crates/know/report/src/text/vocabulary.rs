//! Products and boards of the vocabulary as text.

use std::collections::BTreeSet;

use cardmark_catalog::{
    Availability, BoardFacts, Class, Fact, FactSource, Known, LookUp, PackageClaim, Product,
    ProductLine, QueueGain, QueueState, SeenRegisters, class, endurance_promises, equivalents_of,
    lines, lines_of, queue_gains,
};

use crate::text::layout::wrap;
use crate::text::promised;

/// Highest rate of UHS-I, bytes per second: SDR104.
const UHS_I_BYTES_PER_S: u64 = 104_000_000;

/// Indentation of an item, and again of its further lines.
const INDENT: usize = 2;

/// Returns a page about the only row found, or a list of all.
pub fn vocabulary(name: &str, found: &LookUp, width: usize) -> String {
    let width = width.clamp(20, 100);
    let mut page = Page {
        width,
        lines: Vec::new(),
    };
    match found.found.as_slice() {
        [one] => {
            page.text(&one.name());
            page.blank();
            match one {
                Known::Line(line) => page.line(line),
                Known::Product(product) => page.product(product),
                Known::Board(board) => page.board(board),
            }
            page.similar(&found.similar);
        }
        several => {
            page.text(&format!("`{name}` can mean {} things:", several.len()));
            for row in several {
                page.item(&format!("{}: {}", row.id(), in_short(*row)));
            }
            page.blank();
            page.text("For more about one, explain its id.");
        }
    }
    page.lines.join("\n") + "\n"
}

struct Page {
    width: usize,
    lines: Vec<String>,
}

impl Page {
    fn text(&mut self, text: &str) {
        self.lines.extend(wrap(text, self.width, 0));
    }

    fn item(&mut self, text: &str) {
        let lines = wrap(text, self.width - INDENT, INDENT);
        self.lines.extend(
            lines
                .into_iter()
                .map(|line| format!("{:INDENT$}{line}", "")),
        );
    }

    fn blank(&mut self) {
        self.lines.push(String::new());
    }

    /// A heading and its items; nothing without items.
    fn list(&mut self, heading: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.blank();
        self.text(heading);
        for item in items {
            self.item(item);
        }
    }

    fn line(&mut self, line: &ProductLine) {
        let first = match line.year {
            Some(year) => format!("{}, sold since {year}. ", line.kind.name()),
            None => format!("{}. ", line.kind.name()),
        };
        let note = line.note.as_deref().map(|note| format!(" {note}"));
        self.text(&format!(
            "{first}{}{}",
            in_shops(line),
            note.unwrap_or_default()
        ));
        self.text(&format!("Also written: {}.", line.aliases.join(", ")));
        if !line.model_numbers.is_empty() {
            let numbers = line.model_numbers.join(", ");
            let star = if numbers.contains('*') {
                "; * is the capacity"
            } else {
                ""
            };
            self.text(&format!("Model numbers: {numbers}{star}."));
        }
        let claims: Vec<String> = line.claims.iter().map(claim).collect();
        self.list("The package promises", &claims);
        self.list("Meaning", &meanings(&line.claims));
        let endurance = endurance_promises().iter();
        let endurance = endurance.filter(|one| one.line.as_ref() == Some(&line.id));
        let endurance: Vec<String> = endurance.filter_map(promised::of_line).collect();
        self.list("Endurance, as its maker states it", &endurance);
        let registers: Vec<String> = line.registers.iter().map(seen).collect();
        self.list(
            "Registers (CID) of cards of this line; other products may have the same",
            &registers,
        );
        if let Some(queue) = &line.command_queue {
            let advice = queue_advice(queue.state);
            self.text(&format!("Command queue: {} {advice}", queue.detail));
        }
        self.sources("name", &line.source, &line.sources);
    }

    /// Facts of the line of a product; of each, if its maker used the name again.
    fn line_of(&mut self, product: &Product) {
        let lines = lines_of(product);
        let shops = |line: &&ProductLine| format!("{}: {}", line.name(), in_shops(line));
        let shops: Vec<String> = lines.iter().map(shops).collect();
        let heading = match lines.len() {
            1 => "In shops",
            _ => "In shops, each line of this name; it is not stated which one was measured",
        };
        self.list(heading, &shops);
    }

    fn product(&mut self, product: &Product) {
        self.text(&format!(
            "{}, in published results (`cardmark list published`).",
            product.kind.name()
        ));
        if !product.model_numbers.is_empty() {
            let numbers = product.model_numbers.join(", ");
            self.text(&format!("Model numbers begin with {numbers}."));
        }
        if let Some(note) = &product.note {
            self.text(note);
        }
        let claims = (!product.claims.is_empty()).then(|| product.claims.join(", "));
        let claims: Vec<String> = claims.into_iter().collect();
        self.list("The package promises", &claims);
        let classes = product.claims.iter().filter_map(|name| class(name));
        self.list("Meaning", &classes.map(promise).collect::<Vec<_>>());
        self.list("Command queue", &queue_items(product));
        self.line_of(product);
        self.sources("all", &product.source, &[]);
    }

    fn board(&mut self, board: &BoardFacts) {
        let first = match board.year {
            Some(year) => format!("Board, sold since {year}. "),
            None => "Board. ".to_owned(),
        };
        let until = board.production_until.as_deref();
        self.text(&format!(
            "{first}{}",
            availability(board.availability, until)
        ));
        if !board.aliases.is_empty() {
            self.text(&format!("Also written: {}.", board.aliases.join(", ")));
        }
        let models = board.models.join(", ");
        self.text(&format!("Its model in records begins with {models}."));
        if !board.revision_codes.is_empty() {
            let codes = board.revision_codes.join(", ");
            self.text(&format!(
                "Revision codes: {codes}; there may be newer ones."
            ));
        }
        self.list("Card slot", &slot(board));
        self.list("Other disks", &other_disks(board));
        self.list("Notes", &board.notes);
        self.sources("name and slot", &board.source, &board.sources);
    }

    /// The sources, each once, with what they are of.
    fn sources(&mut self, first: &str, source: &str, others: &[FactSource]) {
        let mut rows = vec![(first.to_owned(), source)];
        for other in others {
            let facts: Vec<&str> = other.of.iter().map(|fact| fact_name(*fact)).collect();
            let facts = facts.join(", ");
            match rows.iter_mut().find(|(_, known)| *known == other.source) {
                Some((of, _)) => *of = format!("{of}, {facts}"),
                None => rows.push((facts, &other.source)),
            }
        }
        let items: Vec<String> = rows
            .iter()
            .map(|(of, source)| format!("{of}: {source}"))
            .collect();
        self.list("Sources", &items);
    }

    fn similar(&mut self, rows: &[Known]) {
        let items: Vec<String> = rows
            .iter()
            .map(|row| format!("{}: {}", row.id(), row.name()))
            .collect();
        self.list("Similar names", &items);
    }
}

/// What is known of the command queue of a product, and what it changes where somebody published both.
pub(crate) fn queue_items(product: &Product) -> Vec<String> {
    let mut items: Vec<String> = queue_gains(product).iter().filter_map(gain).collect();
    // Writes are what a system waits for.
    items.sort_by_key(|item| !item.starts_with("random writes"));
    for queue in lines_of(product)
        .iter()
        .filter_map(|line| line.command_queue.as_ref())
    {
        for fact in [queue_advice(queue.state), &queue.detail] {
            if !items.iter().any(|item| item == fact) {
                items.push(fact.to_owned());
            }
        }
    }
    items
}

fn in_short(row: Known) -> String {
    let parts = match row {
        Known::Line(line) => {
            let mut parts = vec![row.name()];
            parts.extend((!line.model_numbers.is_empty()).then(|| line.model_numbers.join(", ")));
            parts.extend(line.claims.iter().map(claim));
            parts
        }
        Known::Product(product) => {
            let claims = (!product.claims.is_empty()).then(|| product.claims.join(", "));
            std::iter::once(row.name()).chain(claims).collect()
        }
        Known::Board(board) => {
            let sold = board.year.map(|year| format!("sold since {year}"));
            let slot = format!("at most {} in its card slot", most_rate(board));
            let parts = std::iter::once(row.name()).chain(sold);
            parts.chain([slot]).collect()
        }
    };
    parts.join("; ")
}

/// Sentences about a line in the shops. A state without a date says nothing about today.
pub(crate) fn in_shops(line: &ProductLine) -> String {
    let seen = line.known_sold.as_ref();
    let seen = seen.map(|date| format!("Last seen in shops: {date}."));
    let state = match line.availability {
        Availability::Discontinued => Some("No longer made.".to_owned()),
        _ if seen.is_none() => Some("Not known if it is still sold.".to_owned()),
        _ => None,
    };
    let successor = line.successor.as_ref();
    let successor = successor.and_then(|id| lines().iter().find(|other| other.id == *id));
    let successor = successor.map(|successor| format!("Replaced by {}.", successor.name()));
    let all: Vec<String> = [seen, state, successor].into_iter().flatten().collect();
    all.join(" ")
}

/// What a queue changes about random operations; `None` for other metrics.
fn gain(gain: &QueueGain) -> Option<String> {
    let pattern = equivalents_of(&gain.metric)?.id.as_str();
    let (operations, depth) = pattern.split_once("_q")?;
    let operations = match operations {
        "random_write" => "random writes",
        "random_read" => "random reads",
        _ => return None,
    };
    let factor = gain.factor();
    let change = match factor {
        1.95.. => format!("{factor:.1} times faster"),
        1.05.. => format!("{:.0} % faster", 100.0 * (factor - 1.0)),
        0.95.. => "no difference".to_owned(),
        _ => format!("{:.0} % slower", 100.0 * (1.0 - factor)),
    };
    let board = gain.board.map(|board| format!(" on a {board}"));
    let runs = match gain.runs_counts {
        [on, off] if on == off => format!("{on} runs each"),
        [on, off] => format!("{on} and {off} runs"),
    };
    Some(format!(
        "{operations}{}: {:.0} per second with the queue, {:.0} without, {change} ({depth} at once, {runs}, {})",
        board.unwrap_or_default(),
        gain.on,
        gain.off,
        gain.publication
    ))
}

/// What to do about the queue on a Raspberry Pi 5, the only board that uses it.
fn queue_advice(state: QueueState) -> &'static str {
    match state {
        QueueState::Trusted => "On a Raspberry Pi 5 it is on as installed.",
        QueueState::Works => {
            "On a Raspberry Pi 5 it is off as installed; `dtparam=sd_cqe=2` in config.txt turns it on. Save your data \
             first."
        }
        QueueState::Broken => "Leave it off: `dtparam=sd_cqe=0` in config.txt of a Raspberry Pi 5.",
        QueueState::None => "These cards have none.",
    }
}

fn availability(state: Availability, until: Option<&str>) -> String {
    let promise = |until: &str| match state {
        Availability::Sold => {
            format!("On sale; its maker promised production until {until} at least.")
        }
        _ => format!("Its maker promised production until {until} at least."),
    };
    match (state, until) {
        (_, Some(until)) => promise(until),
        (Availability::Sold, None) => "On sale.".to_owned(),
        (Availability::Discontinued, None) => "No longer made.".to_owned(),
        (Availability::Unknown, None) => "Availability unknown.".to_owned(),
    }
}

fn claim(claim: &PackageClaim) -> String {
    let rates = [
        (claim.read_bytes_per_s, "reads"),
        (claim.write_bytes_per_s, "writes"),
    ];
    let rates = rates
        .into_iter()
        .filter_map(|(bytes_per_s, name)| Some(format!("{name} up to {}", rate(bytes_per_s?))));
    let promises: Vec<String> = claim.classes.iter().cloned().chain(rates).collect();
    let promises = promises.join(", ");
    match &claim.of {
        Some(of) => format!("{of}: {promises}"),
        None => promises,
    }
}

/// Meanings of the classes and rates of all claims, each once.
fn meanings(claims: &[PackageClaim]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let classes = claims.iter().flat_map(|claim| &claim.classes);
    let classes = classes.filter_map(|name| class(name));
    let mut items: Vec<String> = classes
        .filter(|class| known.insert(class.id.as_str()))
        .map(promise)
        .collect();
    let rates = || {
        let rates = claims
            .iter()
            .map(|claim| claim.read_bytes_per_s.max(claim.write_bytes_per_s));
        rates.flatten()
    };
    if rates().next().is_some() {
        items.push("up to: the best case of the maker; only classes are minimum rates".to_owned());
    }
    if rates().any(|bytes_per_s| bytes_per_s > UHS_I_BYTES_PER_S) {
        items.push(format!(
            "more than {}: only in a reader with the maker's own mode; UHS-I, as in slots of boards, ends \
             there",
            rate(UHS_I_BYTES_PER_S)
        ));
    }
    items
}

/// Minimum rates of a class.
pub(crate) fn promise(class: &Class) -> String {
    let random = class
        .least_read_operations_per_s
        .zip(class.least_write_operations_per_s)
        .map(|(read, write)| {
            format!(", {read} IOPS of random reads and {write} of random writes of 4 KiB")
        });
    format!(
        "{}: at least {} of sequential writes{}",
        class.id,
        rate(class.least_write_bytes_per_s),
        random.unwrap_or_default()
    )
}

fn seen(registers: &SeenRegisters) -> String {
    format!(
        "{}: manufacturer 0x{:02x}, OEM 0x{}, product {}",
        registers.of, registers.manufacturer_id, registers.oem, registers.product
    )
}

/// A rate in whole MB/s.
fn rate(bytes_per_s: u64) -> String {
    format!("{} MB/s", bytes_per_s / 1_000_000)
}

fn most_rate(board: &BoardFacts) -> String {
    rate(board.most_slot_bytes_per_s())
}

pub(crate) fn slot(board: &BoardFacts) -> Vec<String> {
    let modes: Vec<&str> = board.bus_modes.iter().map(|mode| mode.name()).collect();
    let most = most_rate(board);
    let mut items = vec![
        format!(
            "{}; {} data lines, up to {} MHz",
            modes.join(", "),
            board.lines_count,
            board.most_clock_hz / 1_000_000
        ),
        format!("At most {most} pass: a faster card is no faster here, whatever its package says."),
    ];
    items.push(match &board.command_queue {
        Some(how) => format!("Command queue, which A2 needs: {how}"),
        None => "No command queue, which A2 needs: an A2 card promises no more than A1.".to_owned(),
    });
    items.extend(
        board
            .overclock
            .as_ref()
            .map(|how| format!("Overclocking: {how}")),
    );
    items
}

pub(crate) fn other_disks(board: &BoardFacts) -> Vec<String> {
    let usb = board
        .usb_bits_per_s
        .map(|bits| format!("USB: up to {} Mbit/s", bits / 1_000_000));
    let emmc = (!board.emmc_modes.is_empty()).then(|| {
        let modes: Vec<&str> = board.emmc_modes.iter().map(|mode| mode.name()).collect();
        format!("eMMC: {}", modes.join(", "))
    });
    let pcie = board.pcie.as_ref().map(|link| {
        let speed = link
            .megatransfers_per_s
            .map(|speed| format!(" at {} GT/s", speed / 1000));
        let note = link.note.as_deref().map(|note| format!(". {note}"));
        let lanes = if link.lanes_count == 1 {
            "lane"
        } else {
            "lanes"
        };
        format!(
            "PCI Express: {} {lanes}{}{}",
            link.lanes_count,
            speed.unwrap_or_default(),
            note.unwrap_or_default()
        )
    });
    [usb, emmc, pcie].into_iter().flatten().collect()
}

fn fact_name(fact: Fact) -> &'static str {
    match fact {
        Fact::Year => "year",
        Fact::ModelNumbers => "model numbers",
        Fact::Availability => "availability",
        Fact::ProductionUntil => "production",
        Fact::KnownSold => "last seen in shops",
        Fact::Successor => "successor",
        Fact::CommandQueue => "command queue",
        Fact::Claims => "package",
        Fact::Registers => "registers",
        Fact::RevisionCodes => "revision codes",
    }
}

#[cfg(test)]
mod tests;
