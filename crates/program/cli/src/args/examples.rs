//! Examples for the help of each command.

/// Examples of a command: command line and meaning.
type Examples = [(&'static str, &'static str)];

/// Examples by the name of the command; those of the program have none.
const EXAMPLES: [(&str, &Examples); 23] = [
    (
        "",
        &[
            ("cardmark run", "measure the storage of this directory"),
            (
                "sudo cardmark probe /dev/sda",
                "is the card in the reader a fake?",
            ),
            (
                "cardmark compare last sample=A",
                "is the last run faster than card A?",
            ),
        ],
    ),
    (
        "run",
        &[
            ("cardmark run", "the storage of this directory"),
            (
                "cardmark run /mnt/card",
                "a mounted card; its files are left alone",
            ),
            (
                "sudo cardmark run /dev/sda",
                "a whole card; what is on it is lost",
            ),
            (
                "sudo cardmark run /dev/mmcblk0 --read-only",
                "the card of this board, without writing",
            ),
            (
                "cardmark run /mnt/card --suite app-class --claim A1",
                "does it keep the A1 on its label?",
            ),
            ("cardmark run sim:a1-32gb", "a simulated card, in no time"),
        ],
    ),
    (
        "prepare",
        &[
            (
                "sudo cardmark prepare /dev/sda --fill random",
                "every cell is written once",
            ),
            (
                "sudo cardmark prepare /dev/sda --fill discard",
                "as if nothing had been written",
            ),
        ],
    ),
    (
        "probe",
        &[
            ("sudo cardmark probe /dev/sda", "the content is put back"),
            (
                "sudo cardmark probe /dev/sda --destroy",
                "for an empty card: half the writing",
            ),
            (
                "sudo cardmark probe /dev/sda --save-to /mnt/usb",
                "keep the content on another disk",
            ),
            ("cardmark probe sim:lying-32gb", "a simulated fake"),
        ],
    ),
    (
        "verify",
        &[
            (
                "cardmark verify /mnt/card",
                "the free room of a mounted card",
            ),
            ("cardmark verify /mnt/card --size 4GiB", "a part of it"),
            (
                "sudo cardmark verify /dev/sda",
                "all of a card; what is on it is lost",
            ),
            (
                "sudo cardmark verify /dev/sda --from 50 --to 60",
                "a tenth of a card, in its middle",
            ),
            (
                "sudo cardmark verify /dev/sda --pattern random --queue 32 --discard",
                "under load: some cards lose data only then",
            ),
            (
                "sudo cardmark verify /dev/sda --read-only",
                "can everything on the card still be read?",
            ),
        ],
    ),
    (
        "endure",
        &[
            (
                "sudo cardmark endure /dev/sda --cycles 10",
                "ten times the capacity",
            ),
            (
                "sudo cardmark endure /dev/sda --after 30",
                "and does it keep data for 30 days?",
            ),
            ("cardmark endure sim:wearing-1gb", "a simulated card"),
        ],
    ),
    (
        "power-cut",
        &[
            (
                "cardmark power-cut /mnt/card --log acknowledged.log",
                "pull the card, mount it again, then:",
            ),
            (
                "cardmark power-cut /mnt/card --log acknowledged.log --check",
                "is everything there that was acknowledged?",
            ),
            (
                "cardmark power-cut /mnt/card --log - > acknowledged.log",
                "through `ssh pi`: the log is kept here",
            ),
            (
                "cardmark power-cut sim:lying-32gb",
                "a simulated card that loses some",
            ),
        ],
    ),
    (
        "anatomy",
        &[
            ("sudo cardmark anatomy /dev/sda", "the content is put back"),
            (
                "sudo cardmark anatomy /dev/sda --read-only",
                "boundaries only",
            ),
        ],
    ),
    (
        "info",
        &[
            ("cardmark info", "below this directory"),
            (
                "sudo cardmark info /dev/mmcblk0",
                "all that the registers hold",
            ),
            (
                "cardmark info /dev/sda --claim V30",
                "does the card claim what its label does?",
            ),
        ],
    ),
    (
        "show",
        &[
            ("cardmark show", "the last run"),
            ("cardmark show 5015772c", "the run whose id begins so"),
            ("cardmark show last --json", "its record"),
        ],
    ),
    (
        "list",
        &[
            ("cardmark list", "runs"),
            ("cardmark list devices", "disks and cards of this computer"),
            (
                "cardmark list suites",
                "methods, with what they write and how long they take",
            ),
        ],
    ),
    (
        "compare",
        &[
            (
                "cardmark compare sample=A sample=B",
                "two cards, all their runs",
            ),
            ("cardmark compare 5015772c last", "two runs"),
            (
                "cardmark compare \"Evo+\" Extreme --board \"Pi 4\"",
                "two products, as published or by your runs",
            ),
            (
                "cardmark compare sample=A,board=pi3 sample=A,board=pi4 --across board",
                "two boards",
            ),
        ],
    ),
    (
        "rank",
        &[
            ("cardmark rank", "the last run among all results"),
            (
                "cardmark rank --publication kulesz",
                "what one author measured",
            ),
            (
                "cardmark rank --metric rand_write_4k --board \"Pi 4\"",
                "all results of one kind of board",
            ),
            (
                "cardmark rank --list",
                "which metrics are there? Boot and installation times too",
            ),
        ],
    ),
    (
        "history",
        &[
            ("cardmark history", "the cards that there are runs of"),
            (
                "cardmark history /mnt/card",
                "the card that is mounted there",
            ),
            (
                "cardmark history sample=A --metric rand_write_4k",
                "one rate of one card",
            ),
        ],
    ),
    (
        "recommend",
        &[
            (
                "cardmark recommend --use boot --board \"Pi 4\"",
                "to boot a Raspberry Pi 4 from",
            ),
            (
                "cardmark recommend --use camera --capacity 64 --budget 15",
                "from 64 GB on, up to 15",
            ),
            (
                "cardmark recommend --use boot --budget 12 --price \"Evo Plus 64 GB=9.50\"",
                "with prices from a shop",
            ),
        ],
    ),
    (
        "import",
        &[
            (
                "cardmark import fio.json iozone.txt --label product=\"Card X\"",
                "two tools, one card",
            ),
            ("hdparm -t /dev/sda | cardmark import -", "from a pipe"),
            (
                "cardmark import --figure iozone_random_write=1.52MB/s",
                "a figure, as published",
            ),
        ],
    ),
    (
        "report",
        &[
            (
                "cardmark report sample=A sample=B -o page.html",
                "one page with charts",
            ),
            (
                "cardmark report sample=A sample=B --chart random-write-4k -o chart.png",
                "one chart",
            ),
            (
                "cardmark report sample=A sample=B --format csv",
                "for a spreadsheet",
            ),
            (
                "cardmark report \"Evo+\" --board \"Pi 4\"",
                "all results of a product",
            ),
        ],
    ),
    (
        "campaign",
        &[
            (
                "cardmark campaign --example > cards.toml",
                "a file to begin with",
            ),
            ("cardmark campaign cards.toml", "measure what is left"),
            ("cardmark campaign cards.toml --plan", "what is left?"),
        ],
    ),
    (
        "explain",
        &[
            ("cardmark explain A2", "a class"),
            ("cardmark explain rand_read_4k", "a metric"),
            ("cardmark explain A2 on a Pi 4", "a class on a board"),
            ("cardmark explain Evo Plus", "a product"),
            ("cardmark explain Zero 2 W", "a board"),
        ],
    ),
    (
        "label",
        &[
            ("cardmark label last sample=A", "name the card"),
            ("cardmark label last price=\"12 EUR\"", "for `recommend`"),
            ("cardmark label last sample=", "take it away"),
        ],
    ),
    (
        "export",
        &[("cardmark export > runs.jsonl", "one record a line")],
    ),
    (
        "submit",
        &[
            ("cardmark submit last", "shows what leaves, then asks"),
            (
                "cardmark submit --new --server https://cards.example",
                "all new runs of this computer",
            ),
            (
                "cardmark submit last --dry-run > bytes.jsonl",
                "every byte, without sending any",
            ),
            ("cardmark submit --status", "what became of them?"),
            (
                "cardmark submit --amend 5015772c",
                "after `cardmark label`: send the labels again",
            ),
            (
                "cardmark submit 5015772c --answer \"the clock of this board was wrong\"",
                "answer to a quarantine, for the moderators of the site",
            ),
            ("cardmark submit --withdraw 5015772c", "take it back"),
            (
                "cardmark submit --export-secret secret.txt",
                "to keep elsewhere: restores these rights",
            ),
        ],
    ),
    (
        "recover",
        &[("cardmark recover", "after a crash or power cut")],
    ),
];

/// Text about the examples of that command, for the end of its help.
pub(super) fn examples(command: &str) -> String {
    let found = EXAMPLES.iter().find(|(name, _)| *name == command);
    let examples = found.map_or(&[][..], |(_, examples)| examples);
    let lines = examples
        .iter()
        .map(|(line, meaning)| format!("  {line}\n      {meaning}\n"));
    format!("Examples:\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Arguments;

    /// Words of a command line, as the shell has them.
    fn words(line: &str) -> Vec<String> {
        let line = line
            .rsplit("| ")
            .next()
            .unwrap()
            .trim_start_matches("sudo ");
        let line = line.split(" > ").next().unwrap();
        let script = format!("printf '%s\\n' {line}");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_command_has_examples_that_it_accepts() {
        for command in Arguments::command()
            .get_subcommands()
            .filter(|it| !it.is_hide_set())
        {
            let name = command.get_name();
            assert!(EXAMPLES.iter().any(|(known, _)| *known == name), "{name}");
            let help = command.get_after_help().unwrap().to_string();
            assert_eq!(help, examples(name), "{name}");
        }
        for (line, _) in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            let words = words(line);
            let models = words.iter().filter_map(|word| word.strip_prefix("sim:"));
            for model in models {
                assert!(cardmark_sim::Model::named(model).is_ok(), "{line}");
            }
            let parsed = Arguments::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn an_example_fits_into_a_line_of_the_help() {
        for (name, _) in EXAMPLES {
            for line in examples(name).lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}
