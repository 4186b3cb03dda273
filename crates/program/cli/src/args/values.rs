//! Values of arguments, from their texts.

use cardmark_catalog::{ProductKind, meant_use, use_of};
use cardmark_core::{CLAIMS_LABEL, is_keepable};
use cardmark_judge::{Price, Promise};
use cardmark_session::Since;
use cardmark_share::Server;

/// A size such as `4GiB`, `500GB` or `1048576`: bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let factor = UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let number: Option<u64> = digits.parse().ok();
    number
        .zip(factor)
        .and_then(|(number, (_, factor))| number.checked_mul(*factor))
        .ok_or_else(|| "a size is a whole number and a unit, such as 4GiB or 500GB".to_owned())
}

/// The begin of a time until now.
pub(crate) fn parse_since(text: &str) -> Result<Since, String> {
    let expected = "expected a day such as 2026-11-01, a time, or a span such as 36h, 7d or 2w";
    Since::parse(text).ok_or_else(|| expected.to_owned())
}

/// A share in percent, 0 to 100.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    number
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "a share is a number of percent, 0 to 100".to_owned())
}

pub(crate) fn parse_seed(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // The parser would accept a sign.
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    let seed = is_number.then(|| u64::from_str_radix(digits, radix).ok());
    seed.flatten().ok_or_else(|| {
        "expected a whole number below 2^64, or up to 16 hexadecimal digits after 0x".into()
    })
}

/// The address of a results site.
pub(crate) fn parse_server(text: &str) -> Result<Server, String> {
    text.parse()
        .map_err(|error: cardmark_share::ServerError| error.to_string())
}

/// Classes that `--claim` and `--require` take.
const CLASSES: &str = "classes are C2 to C10, U1, U3, V6 to V90, A1, A2, E150 to E600";

/// A promise on a package: a class, rate or capacity.
pub(crate) fn parse_claim(text: &str) -> Result<String, String> {
    let promise = Promise::parse(text)
        .ok_or_else(|| format!("{CLASSES}; rates are such as 130MB/s, capacities such as 64GB"))?;
    Ok(promise.to_string())
}

/// A class; nothing else can be required.
pub(crate) fn parse_class(text: &str) -> Result<String, String> {
    match Promise::parse(text) {
        Some(Promise::Class(id)) => Ok(id),
        _ => Err(CLASSES.to_owned()),
    }
}

pub(crate) fn parse_figure(text: &str) -> Result<(String, String), String> {
    let (id, figure) = text.split_once('=').ok_or("expected ID=NUMBER and unit")?;
    Ok((id.trim().to_owned(), figure.trim().to_owned()))
}

pub(crate) fn parse_price(text: &str) -> Result<Price, String> {
    Price::parse(text).ok_or_else(|| "expected one number, with or without a currency".into())
}

pub(crate) fn parse_product_price(text: &str) -> Result<(String, Price), String> {
    let (name, price) = text.rsplit_once('=').ok_or("expected NAME=AMOUNT")?;
    Ok((parse_text(name)?, parse_price(price)?))
}

/// Kinds of products; none: all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(pub(crate) Vec<ProductKind>);

impl Kinds {
    /// Returns the words that stand for these kinds, the widest first.
    pub(crate) fn words(&self) -> String {
        let mut left = self.0.clone();
        let mut words = Vec::new();
        for (word, kinds) in KINDS {
            let is_new = kinds.iter().any(|kind| left.contains(kind));
            let is_all = kinds.iter().all(|kind| self.0.contains(kind));
            if is_new && is_all || kinds.is_empty() && self.0.is_empty() {
                left.retain(|kind| !kinds.contains(kind));
                words.push(word);
            }
        }
        words.join(",")
    }
}

/// Words for kinds of products, each after wider ones.
const KINDS: [(&str, &[ProductKind]); 10] = [
    ("microsd", &[ProductKind::Microsd]),
    ("sd", &[ProductKind::Sd]),
    ("cf", &[ProductKind::Cf]),
    ("usb", &[ProductKind::UsbStick, ProductKind::UsbSsd]),
    ("stick", &[ProductKind::UsbStick]),
    (
        "ssd",
        &[ProductKind::UsbSsd, ProductKind::SataSsd, ProductKind::Nvme],
    ),
    ("nvme", &[ProductKind::Nvme]),
    ("emmc", &[ProductKind::EmbeddedMmc]),
    ("disk", &[ProductKind::HardDisk]),
    ("all", &[]),
];

pub(crate) fn parse_kinds(text: &str) -> Result<Kinds, String> {
    let mut kinds = Vec::new();
    for word in text.split(',').map(|word| word.trim().to_lowercase()) {
        let plain: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
        let plain = match plain.as_str() {
            "hdd" | "harddisk" | "harddrive" => "disk",
            "usbstick" | "flashdrive" | "thumbdrive" => "stick",
            plain => plain,
        };
        let known = KINDS.iter().find(|(known, _)| *known == plain);
        let Some((_, of_word)) = known else {
            let known = KINDS.map(|(word, _)| word).join(", ");
            return Err(format!("expected one of {known}"));
        };
        if of_word.is_empty() {
            return Ok(Kinds(Vec::new()));
        }
        kinds.extend(*of_word);
    }
    Ok(Kinds(kinds))
}

/// Most gigabytes of a capacity.
const MOST_GIGABYTES: u64 = 1_000_000;

/// Parses a capacity in gigabytes, or with a unit: `64`, `64GB`, `1 TB`.
pub(crate) fn parse_gigabytes(text: &str) -> Result<u64, String> {
    let text = text.trim().to_lowercase();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "" | "g" | "gb" => Some(1),
        "t" | "tb" => Some(1000),
        _ => None,
    };
    let gigabytes = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
    gigabytes
        .filter(|gigabytes| (1..=MOST_GIGABYTES).contains(gigabytes))
        .ok_or_else(|| "expected gigabytes, such as 64, 64GB or 1TB".to_owned())
}

/// Longest key and value of a label, characters.
const LONGEST_LABEL: usize = 200;

pub(crate) fn parse_label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if key.is_empty() || !key.chars().all(plain) {
        return Err("the key may have letters, digits, `_`, `-` and `.`".into());
    }
    if key.len() > LONGEST_LABEL || value.chars().count() > LONGEST_LABEL {
        return Err(format!(
            "key and value may have {LONGEST_LABEL} characters each"
        ));
    }
    if value.chars().any(char::is_control) {
        return Err("the value may not have control characters".into());
    }
    Ok((key.to_owned(), known_value(key, value)?))
}

/// The value of a label, if it is none that the program would not understand.
fn known_value(key: &str, value: &str) -> Result<String, String> {
    match key {
        "use" if !value.is_empty() && use_of(value).is_none() => {
            Err(format!("no use is called `{value}`; {}", meant_use(value)))
        }
        CLAIMS_LABEL => {
            let claims = value.split_whitespace().map(parse_claim);
            Ok(claims.collect::<Result<Vec<String>, String>>()?.join(" "))
        }
        _ => Ok(value.to_owned()),
    }
}

pub(crate) fn parse_text(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_long = text.chars().count() > LONGEST_LABEL;
    if text.is_empty() || is_long || text.chars().any(char::is_control) {
        return Err(format!(
            "expected 1 to {LONGEST_LABEL} characters, none of them for control"
        ));
    }
    Ok(text.to_owned())
}

/// The name of a field that the public form can keep.
pub(crate) fn keepable(field: &str) -> Result<String, String> {
    match is_keepable(field) {
        true => Ok(field.to_owned()),
        false => Err(
            "no field of the public form; `export --public` ends with the names of those withheld"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_and_kinds_have_the_words_of_people() {
        for (text, gigabytes) in [
            ("64", 64),
            ("64GB", 64),
            ("64 gb", 64),
            ("1TB", 1000),
            ("2T", 2000),
        ] {
            assert_eq!(parse_gigabytes(text), Ok(gigabytes), "{text}");
        }
        for bad in [
            "",
            "0",
            "GB",
            "64 MB",
            "1.5TB",
            "-1",
            "18446744073709551615TB",
        ] {
            assert!(parse_gigabytes(bad).is_err(), "{bad}");
        }
        for (text, kind) in [
            ("NVMe", ProductKind::Nvme),
            ("hdd", ProductKind::HardDisk),
            ("usb stick", ProductKind::UsbStick),
            ("USB-stick", ProductKind::UsbStick),
        ] {
            assert_eq!(parse_kinds(text), Ok(Kinds(vec![kind])), "{text}");
        }
        assert!(parse_kinds("floppy").is_err());
    }

    #[test]
    fn the_words_of_kinds_are_read_as_the_same_kinds() {
        let of = |text: &str| {
            let mut kinds = parse_kinds(text).unwrap();
            kinds.0.sort_unstable();
            kinds.0.dedup();
            kinds
        };
        let others = ["usb stick", "hard disk"];
        let all = || KINDS.map(|(word, _)| word).into_iter().chain(others);
        for (one, other) in all().flat_map(|one| all().map(move |other| (one, other))) {
            let asked = format!("{one},{other}");
            let words = of(&asked).words();
            assert_eq!(of(&words), of(&asked), "{asked}: {words}");
        }
        assert_eq!(of("ssd,usb").words(), "usb,ssd");
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
        let known = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(
            parse_label("use=Home Assistant"),
            known("use", "Home Assistant")
        );
        assert_eq!(parse_label("use="), known("use", ""));
        let unknown = parse_label("use=camra").unwrap_err();
        assert!(
            unknown.contains("`camra`") && unknown.contains("camera"),
            "{unknown}"
        );
        assert_eq!(parse_label("claims=a1 64gb"), known("claims", "A1 64GB"));
        assert!(parse_label("claims=A7").is_err());
    }
}
