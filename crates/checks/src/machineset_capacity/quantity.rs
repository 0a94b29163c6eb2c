//! Quantities as Kubernetes spells them: `16384Mi`, `2`, `1500m`, `1e3`.
//!
//! Invariants: two spellings of one amount are equal, and what is no quantity is none.

/// An amount in billionths, exact.
///
/// # Limits
/// Amounts above 10^29 are none; the largest machine there is has some 10^13 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

const BILLION: i128 = 1_000_000_000;

impl Quantity {
    pub fn whole(amount: u64) -> Self {
        Self(i128::from(amount) * BILLION)
    }

    pub fn mebibytes(amount: u64) -> Self {
        Self(i128::from(amount) * (1 << 20) * BILLION)
    }

    /// So many mebibytes, when it is whole ones.
    pub fn whole_mebibytes(self) -> Option<u64> {
        let unit = (1 << 20) * BILLION;
        if self.0 % unit == 0 { u64::try_from(self.0 / unit).ok() } else { None }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (sign, unsigned) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (factor, divisor) = scale(suffix)?;
        let places = u32::try_from(fraction.len()).ok()?;
        let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let amount = digits.checked_mul(factor)?.checked_mul(BILLION)?;
        let divisor = 10_i128.checked_pow(places)?.checked_mul(divisor)?;
        // What is finer than a billionth is rounded up, as Kubernetes does.
        let rounded = amount / divisor + i128::from(amount % divisor != 0);
        Some(Self(sign * rounded))
    }
}

/// What a suffix multiplies by, and what it divides by.
fn scale(suffix: &str) -> Option<(i128, i128)> {
    let factor = match suffix {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => BILLION,
        "T" => 1_000 * BILLION,
        "P" => 1_000_000 * BILLION,
        "E" => BILLION * BILLION,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        "Pi" => 1 << 50,
        "Ei" => 1 << 60,
        "m" => return Some((1, 1_000)),
        "u" => return Some((1, 1_000_000)),
        "n" => return Some((1, BILLION)),
        exponent => return power_of_ten(exponent.strip_prefix(['e', 'E'])?),
    };
    Some((factor, 1))
}

fn power_of_ten(exponent: &str) -> Option<(i128, i128)> {
    let exponent: i32 = exponent.parse().ok()?;
    let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
    Some(if exponent < 0 { (1, power) } else { (power, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_amount_are_equal() {
        let cases = [
            ("65536Mi", Quantity::mebibytes(65536)),
            ("64Gi", Quantity::mebibytes(65536)),
            ("68719476736", Quantity::mebibytes(65536)),
            ("0.0625Ti", Quantity::mebibytes(65536)),
            ("16", Quantity::whole(16)),
            ("16000m", Quantity::whole(16)),
            ("16.0", Quantity::whole(16)),
            ("+16", Quantity::whole(16)),
            (".5Ki", Quantity::whole(512)),
            ("1e3", Quantity::whole(1000)),
            ("1E3", Quantity::whole(1000)),
            ("1k", Quantity::whole(1000)),
            ("5e-1", Quantity(BILLION / 2)),
            ("-1", Quantity(-BILLION)),
            ("0.1n", Quantity(1)),
        ];
        for (text, expected) in cases {
            assert_eq!(Quantity::parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        let long = "9".repeat(60);
        for text in
            ["", "-", ".", "x", "16 Gi", "16gi", "1.2.3", "1e", "1ee3", "0x10", " 1", "1 ", "１６", "1e99", &long]
        {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
