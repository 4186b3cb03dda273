//! Texts as people get them: other encodings, HTML, mail.

use cardmark_import::{decoded, import};

const HDPARM: &str =
    "/dev/sda:\n Timing buffered disk reads:  62 MB in  3.07 seconds =  20.21 MB/sec\n";
const FIO: &str = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {\n      \"jobname\" : \"rr\",\n      \
                   \"error\" : 0,\n      \"read\" : { \"io_bytes\" : 1048576, \"bw_bytes\" : 10485760, \"bw\" : 10240, \
                   \"iops\" : 2560.0, \"runtime\" : 100 }\n    }\n  ]\n}\n";

fn figures(text: &str) -> Vec<(String, f64)> {
    let records = import(text, &[]).records;
    let metrics = records.iter().flat_map(|one| &one.metrics);
    metrics
        .map(|metric| (metric.id.clone(), metric.value))
        .collect()
}

fn each_line(text: &str, form: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| form(line) + "\n").collect()
}

#[test]
fn every_form_holds_the_same_figures() {
    for text in [HDPARM, FIO] {
        let plain = figures(text);
        assert!(!plain.is_empty());
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let escaped = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;");
        for form in [
            decoded(&utf_16).into_owned(),
            escaped.clone(),
            escaped.replace('&', "&amp;"),
            text.replace('=', "=3D"),
            text.replace('=', "=3D").replace(" MB in", " MB=\n in"),
            each_line(text, |line| format!("> {line}")),
            each_line(text, |line| format!("> >> {line}")),
            each_line(text, |line| format!("> {}", line.replace('=', "=3D"))),
            text.replace('\n', "\r\n"),
        ] {
            assert_eq!(figures(&form), plain, "{form}");
        }
    }
    let indented = each_line(FIO, |line| format!("    {line}"));
    assert_eq!(figures(&indented), figures(FIO));
}

#[test]
fn wrapped_lines_are_joined_if_nothing_else_can_be_read() {
    for wrapped in [
        HDPARM.replace(" seconds", "\nseconds"),
        HDPARM
            .replace(" seconds", "\nseconds")
            .replace("/dev/sda:\n", ""),
    ] {
        assert_eq!(figures(&wrapped), figures(HDPARM), "{wrapped}");
    }
    // Beside an output that can be read, what cannot is listed.
    let both = format!("{HDPARM}{}", HDPARM.replace(" seconds", "\nseconds"));
    let import = import(&both, &[]);
    assert_eq!(import.records.len(), 1);
    assert!(!import.not_understood.is_empty());
}

#[test]
fn figures_between_commas_are_listed() {
    let text =
        format!("card,read,write\n{HDPARM}Brand One,88.1,41.5,9.81\nBrand Two,90.4,60.9MB/s\n");
    let listed: Vec<_> = import(&text, &[])
        .not_understood
        .into_iter()
        .map(|one| one.numbers)
        .collect();
    assert_eq!(
        listed,
        [vec!["88.1", "41.5", "9.81"], vec!["90.4", "60.9MB/s"]]
    );
}

/// The same output with a command below it that quoted-printable would change.
#[test]
fn a_command_below_escaped_lines_stays() {
    let dd = "dd if=/dev/zero of=/test bs=64k count=20\n20+0 records in\n20+0 records out\n\
              1310720 bytes (1.3 MB, 1.2 MiB) copied, 0.1 s, 13.1 MB/s\n";
    let alone = figures(dd);
    assert_eq!(alone.len(), 1);
    let both = figures(&format!("{}{dd}", HDPARM.replace('=', "=3D")));
    assert_eq!(both, [figures(HDPARM), alone].concat());
}
