//! Sizes: `512MiB`, `4GiB`.

/// Text that is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid size `{0}`; use 512MiB or 4GiB")]
pub struct BadSize(pub String);

/// Units in bytes, the largest first.
const UNITS: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// Parses a size: a whole number and a binary unit.
///
/// # Errors
/// The text has another form, or overflows.
pub fn parse_size(text: &str) -> Result<u64, BadSize> {
    let bad = || BadSize(text.to_owned());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| bad())?;
    let (_, factor) = UNITS.iter().find(|(unit, _)| *unit == &text[digits..]).ok_or_else(bad)?;
    number.checked_mul(*factor).ok_or_else(bad)
}

/// Writes a size in the largest unit that holds it exactly.
pub fn size_text(bytes: u64) -> String {
    let exact = UNITS.iter().find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor));
    let (unit, factor) = exact.unwrap_or(&("B", 1));
    format!("{}{unit}", bytes / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_and_a_binary_unit() {
        for (text, bytes) in [("1GiB", 1 << 30), ("512MiB", 512 << 20), ("3KiB", 3072), ("7B", 7), ("1025B", 1025)] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(size_text(bytes), text);
        }
        assert_eq!(size_text(0), "0B");
    }

    #[test]
    fn other_text_is_not_a_size() {
        for text in ["", "1", "GiB", "1GB", "1gib", "1 GiB", "-1GiB", "1.5GiB", "1GiB2", "1é", "99999999999TiB"] {
            assert_eq!(parse_size(text), Err(BadSize(text.to_owned())), "{text}");
        }
    }
}
