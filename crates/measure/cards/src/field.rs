//! Fields of a register: names, bits, and meanings.

/// A field of a register.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name as in the standard, such as `C_SIZE`. Parts of a field are named after it and a dot;
    /// reserved bits are `RESERVED_` and their lowest bit.
    pub name: &'static str,
    /// Highest bit.
    pub high: u16,
    /// Lowest bit.
    pub low: u16,
    /// Description.
    pub about: &'static str,
    /// Meaning of a value in plain words, if the standard defines it.
    says: fn(u64) -> Option<String>,
}

impl Field {
    /// Creates a field whose values are explained by `says`.
    pub(crate) const fn new(
        name: &'static str,
        high: u16,
        low: u16,
        about: &'static str,
        says: fn(u64) -> Option<String>,
    ) -> Self {
        Self {
            name,
            high,
            low,
            about,
            says,
        }
    }

    /// A field that is a plain number, or whose values depend on other fields.
    pub(crate) const fn raw(name: &'static str, high: u16, low: u16, about: &'static str) -> Self {
        Self::new(name, high, low, about, |_| None)
    }

    /// Bits that the standard keeps for later.
    pub(crate) const fn reserved(name: &'static str, high: u16, low: u16) -> Self {
        Self::raw(name, high, low, "reserved")
    }

    /// Returns the number of bits.
    pub const fn bits_count(&self) -> u16 {
        self.high - self.low + 1
    }

    /// The largest value, of a field of up to 64 bits.
    pub const fn most(&self) -> Option<u64> {
        match self.bits_count() {
            count @ 1..=64 => Some(u64::MAX >> (64 - count)),
            _ => None,
        }
    }

    /// Returns the meaning of a value in plain words; `None` if the standard does not define it.
    pub fn meaning(&self, value: u64) -> Option<String> {
        (self.says)(value)
    }

    /// The bytes of a register that hold the field.
    fn bytes(&self, count: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let last = count.checked_sub(1)?;
        Some(last.checked_sub(usize::from(self.high / 8))?..=last - usize::from(self.low / 8))
    }
}

/// A register: bytes, the most significant first, and the fields that they hold.
pub trait Register: Copy {
    /// The fields, from the highest bit to the lowest. Together they are all bits.
    fn table(&self) -> &'static [Field];

    /// The bytes.
    fn bytes(&self) -> &[u8];

    /// The bytes, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Returns the field of that name; `None` if this register has none.
    fn field(&self, name: &str) -> Option<&'static Field> {
        self.table().iter().find(|field| field.name == name)
    }

    /// Returns the value of the field of that name; `None` if this register has none, or if it is wider than 64
    /// bits.
    fn get(&self, name: &str) -> Option<u64> {
        self.value(self.field(name)?)
    }

    /// Returns the value of a field of the table; `None` if it is wider than 64 bits.
    fn value(&self, field: &Field) -> Option<u64> {
        get(self.bytes(), field)
    }

    /// Returns the register with other values in fields, set one after the other; `None` if a field does not
    /// exist or a value does not fit into it. No other bits change.
    fn with(mut self, values: &[(&str, u64)]) -> Option<Self> {
        for (name, value) in values {
            let field = self.field(name)?;
            set(self.bytes_mut(), field, *value)?;
        }
        Some(self)
    }
}

/// The value of a field of up to 64 bits.
fn get(bytes: &[u8], field: &Field) -> Option<u64> {
    let joined = joined(bytes.get(field.bytes(bytes.len())?)?);
    let value = (joined >> (field.low % 8)) & u128::from(field.most()?);
    u64::try_from(value).ok()
}

/// Sets a field of up to 64 bits, and nothing else; `None` if the value does not fit.
fn set(bytes: &mut [u8], field: &Field, value: u64) -> Option<()> {
    let most = field.most()?;
    if value > most {
        return None;
    }
    let range = field.bytes(bytes.len())?;
    let held = bytes.get_mut(range)?;
    let shift = field.low % 8;
    let others = joined(held) & !(u128::from(most) << shift);
    let all = (others | u128::from(value) << shift).to_be_bytes();
    held.copy_from_slice(&all[all.len() - held.len()..]);
    Some(())
}

/// Up to 16 bytes as a number.
fn joined(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// A field of any width as hexadecimal digits.
pub(crate) fn hex_value(bytes: &[u8], field: &Field) -> String {
    let digits = usize::from(field.bits_count().div_ceil(4));
    if let Some(value) = get(bytes, field) {
        return format!("{value:0digits$x}");
    }
    // Wider fields are whole bytes.
    field
        .bytes(bytes.len())
        .and_then(|range| bytes.get(range))
        .map(to_hex)
        .unwrap_or_default()
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Exactly `N` bytes from hexadecimal digits in either case, white space around them left aside.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.trim().as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(bytes)
}

/// A byte from hexadecimal digits, with or without `0x` before them.
pub(crate) fn byte_from_hex(text: &str) -> Option<u8> {
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}
