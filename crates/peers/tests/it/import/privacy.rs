//! Nothing that tells whose card it is gets into a record.

use super::*;

#[test]
fn nobody_is_told_by_a_record() {
    let text = format!(
        "pi@kitchen:~ $ sudo hdparm -I /dev/sda\n Serial Number: S4EVNX0R123456K\n{}",
        session()
    )
    .replace("Timing buffered", "pi@kitchen /home/pi/x Timing buffered");
    let one = one(&text);
    let all = format!("{one:?}");
    for word in ["kitchen", "S4EVNX", "/home", "/dev"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    assert_eq!(one.metrics.len(), 8);
}

/// What somebody may paste beside a figure, and the words of it that must not be kept.
const SECRETS: [(&str, &[&str]); 21] = [
    ("S/N 12345678", &["12345678"]),
    ("s/n: 12345678", &["12345678"]),
    ("SN AB12345", &["AB12345"]),
    ("PSN=0xdeadbeef", &["deadbeef"]),
    ("12345678", &["12345678"]),
    ("192.168.1.17", &["192.168", "1.17"]),
    ("2001:db8::17", &["2001", "db8"]),
    ("fe80::1c2%eth0", &["fe80", "1c2"]),
    ("host kitchen.example.org", &["kitchen", "example"]),
    ("kitchen.local", &["kitchen"]),
    ("C:\\Users\\bob\\x", &["Users", "bob"]),
    ("\"C:\\My Card\\x\"", &["My Card", "Card"]),
    ("C:/Users/bob/x", &["Users", "bob"]),
    ("~bob/z", &["bob"]),
    ("-f/home/bob/q", &["home", "bob"]),
    ("-f /home/bob/q", &["home", "bob"]),
    (
        "/media/bob/My Secret Card/test",
        &["bob", "My", "Secret", "Card/"],
    ),
    (
        "\"/media/bob/My Secret Card/test\"",
        &["bob", "Secret", "Card/"],
    ),
    ("'/media/bob/Secret Card 7'", &["bob", "Secret", "Card 7"]),
    ("Bob Meyer SN AB12345", &["Bob", "Meyer", "AB12345"]),
    ("bob@kitchen:~ $", &["bob", "kitchen"]),
];

fn assert_not_told(text: &str, secrets: &[&str]) {
    for one in import(text).unwrap_or_else(|error| panic!("{text}: {error}")) {
        assert!(!one.printed_text.is_empty(), "{text}");
        let all = format!("{one:?}");
        for secret in secrets {
            assert!(!all.contains(secret), "{secret} of {text}: {all}");
        }
    }
}

#[test]
fn what_stands_beside_typed_figures_is_not_kept() {
    let heading = "Card hdparm buffered dd write 4K rand read 4K rand write";
    for (secret, words) in SECRETS {
        assert_not_told(&format!("{secret} hdparm 43.5 MB/s"), words);
        assert_not_told(&format!("hdparm 43.5 MB/s {secret}"), words);
        assert_not_told(&format!("hdparm 43.5 MB/s, {secret}, dd 21.5 MB/s"), words);
        assert_not_told(&format!("{secret}\nhdparm 43.5 MB/s\n{secret}"), words);
        let figures = "21.3 MB/s 18.5 MB/s 8.22 MB/s 1.71 MB/s";
        let table = format!("{heading}\nRed card {figures}\n{secret}  {figures}");
        assert_not_told(&table, words);
        let doubts = format!("dd 21.5 MB/s\nhdparm {secret}\n4k random read: {secret}");
        assert_not_told(&doubts, words);
    }
    let doubts = "dd 21.5 MB/s\nhdparm 12345678\n4k random read 43bob";
    assert_not_told(doubts, &["12345678", "bob"]);
    let one = one("Bob hdparm 43.5 MB/s, dd (fsync!): 21.5 MB/s, 4k random read 3110 kB/s");
    assert_eq!(
        one.printed_text,
        "hdparm 43.5 MB/s\n4k random read 3110 kB/s"
    );
}

#[test]
fn what_stands_beside_the_figures_of_tools_is_not_kept() {
    for (secret, words) in SECRETS {
        for line in [
            "Timing buffered disk reads: 132 MB in 3.03 seconds = 43.56 MB/sec",
            "419430400 bytes (419 MB, 400 MiB) copied, 30.2417 s, 13.9 MB/s",
        ] {
            assert_not_told(&format!("{secret} {line}\n{line}"), words);
            assert_not_told(&format!("{secret}\n{line}\n{secret}"), words);
        }
    }
    let probe = fixture!("f3-8.0-probe-limbo.txt");
    let probe = probe.replace("/dev/sdb", "/media/bob/My Secret Card's/x");
    assert_not_told(&probe, &["bob", "Secret", "Card"]);
}

#[test]
fn no_line_of_a_tool_takes_other_words_along() {
    for known in known() {
        let lines: Vec<&str> = known.text.lines().collect();
        // Long ones are the JSON of fio, of which no line is kept.
        if lines.len() > 100 {
            continue;
        }
        for at in 0..lines.len() {
            for changed in [
                format!("Zqx {}", lines[at]),
                format!("{} Zqx", lines[at]),
                lines[at].replacen(' ', " Zqx ", 1),
            ] {
                let mut lines = lines.clone();
                lines[at] = &changed;
                for one in import(&lines.join("\n")).into_iter().flatten() {
                    let kept = (&one.printed_text, &one.metrics, &one.findings);
                    assert!(!format!("{kept:?}").contains("Zqx"), "{changed}: {kept:?}");
                }
            }
        }
    }
}

#[test]
fn remarks_of_a_report_are_kept_where_they_tell_nothing() {
    let text = fixture!("pibenchmarks-2024-terminal.txt");
    for (secret, words) in SECRETS {
        let changed = text.replace("worn 16 GB card", &format!("worn {secret} card"));
        assert_ne!(changed, text);
        let words: Vec<&str> = words
            .iter()
            .filter(|word| **word != "My")
            .copied()
            .collect();
        assert_not_told(&changed, &words);
    }
}
