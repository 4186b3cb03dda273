//! Meanings of field values, in plain words.

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1024 * KIB;

/// Sizes of allocation units by their code of four bits, bytes; 0 is not defined.
const ALLOCATION_UNIT_BYTES: [u64; 16] = [
    0,
    16 * KIB,
    32 * KIB,
    64 * KIB,
    128 * KIB,
    256 * KIB,
    512 * KIB,
    MIB,
    2 * MIB,
    4 * MIB,
    8 * MIB,
    12 * MIB,
    16 * MIB,
    24 * MIB,
    32 * MIB,
    64 * MIB,
];

/// Tenths by a code of four bits, in times and rates of SD cards; 0 is reserved.
pub(crate) const TENTHS: [u64; 16] = [
    0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80,
];

/// Returns the entry of a table for a code; `None` if the table has none.
pub(crate) fn entry<T: Copy>(table: &[T], code: u64) -> Option<T> {
    table.get(usize::try_from(code).ok()?).copied()
}

/// The text of a table for a code; an empty text is a reserved code.
pub(crate) fn word(table: &[&str], code: u64) -> Option<String> {
    let word = entry(table, code)?;
    (!word.is_empty()).then(|| word.to_owned())
}

/// Bytes of an allocation unit.
pub(crate) fn allocation_unit_bytes(code: u64) -> Option<u64> {
    entry(&ALLOCATION_UNIT_BYTES, code).filter(|bytes| *bytes > 0)
}

/// `yes` or `no`.
pub(crate) fn yes_or_no(value: u64) -> Option<String> {
    word(&["no", "yes"], value)
}

/// A size as it is commonly written, such as `4 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes > 0 && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes if bytes > 0 && bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        bytes => format!("{bytes} bytes"),
    }
}

/// Formats a capacity as on labels, such as `63.87 GB`.
pub(crate) fn capacity(bytes: u64) -> String {
    let hundredths = (u128::from(bytes) + 5_000_000) / 10_000_000;
    format!("{}.{:02} GB", hundredths / 100, hundredths % 100)
}

/// A block length from its power of two.
pub(crate) fn block(power: u64) -> Option<String> {
    Some(size(1 << power.min(63)))
}

/// A number of tenths, such as `1.5` or `2`.
pub(crate) fn tenths(value: u64) -> String {
    match value % 10 {
        0 => format!("{}", value / 10),
        rest => format!("{}.{rest}", value / 10),
    }
}

/// Returns the characters, with `?` for unprintable ones. Blanks and zeros at the end are padding; `None` if
/// nothing is left.
pub(crate) fn characters(bytes: &[u8]) -> Option<String> {
    let is_filling = |byte: &u8| matches!(byte, 0 | b' ');
    let end = bytes.iter().rposition(|byte| !is_filling(byte))? + 1;
    let shown = bytes[..end].iter().map(|byte| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '?',
    });
    Some(shown.collect())
}

/// The lowest `count` bytes of a value as characters.
pub(crate) fn text(value: u64, count: usize) -> Option<String> {
    characters(&value.to_be_bytes()[8 - count.min(8)..])
}

/// Two decimal digits of four bits each as a revision, such as `8.0`.
pub(crate) fn revision(value: u64) -> Option<String> {
    let (major, minor) = (value >> 4, value & 0xf);
    (major < 10 && minor < 10).then(|| format!("{major}.{minor}"))
}

/// Returns the set bits as numbers: `0, 2, 4`.
pub(crate) fn bit_numbers(value: u64) -> String {
    let numbers = (0..64).filter(|bit| value >> bit & 1 == 1);
    let numbers: Vec<String> = numbers.map(|bit: u32| bit.to_string()).collect();
    numbers.join(", ")
}
