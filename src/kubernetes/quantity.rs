//! Quantities of resources, exactly.

use crate::field::Field;
use crate::json::view::Content;

/// A quantity that is not negative: `digits × 10^tens × 1024^kibis`.
///
/// Read as Kubernetes reads one (`staging/src/k8s.io/apimachinery/pkg/api/resource`): a decimal
/// number with a suffix out of `n u m k M G T P E Ki Mi Gi Ti Pi Ei`, or with a decimal exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    digits: u128,
    tens: i32,
    kibis: u32,
}

impl Quantity {
    /// Reads a JSON string or number; `None` where it is no quantity, is negative, or has more
    /// digits than any device has instances.
    pub fn read(field: &Field) -> Option<Self> {
        match field.content()? {
            Content::Text(text) => Self::parse(text),
            Content::Number(number) => Self::parse(number),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('+').unwrap_or(text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, suffix) = text.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
        let digits = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        let (tens, kibis): (i32, u32) = match suffix {
            "n" => (-9, 0),
            "u" => (-6, 0),
            "m" => (-3, 0),
            "" => (0, 0),
            "k" => (3, 0),
            "M" => (6, 0),
            "G" => (9, 0),
            "T" => (12, 0),
            "P" => (15, 0),
            "E" => (18, 0),
            "Ki" => (0, 1),
            "Mi" => (0, 2),
            "Gi" => (0, 3),
            "Ti" => (0, 4),
            "Pi" => (0, 5),
            "Ei" => (0, 6),
            exponent => (exponent.strip_prefix(['e', 'E'])?.parse().ok()?, 0),
        };
        let tens = i32::try_from(fraction.len()).ok().and_then(|places| tens.checked_sub(places))?;
        Some(Quantity { digits, tens, kibis })
    }

    /// The quantity as a whole number, the largest there is where it is larger; `None` where it is
    /// none.
    pub fn integer(&self) -> Option<u128> {
        let scaled = self.digits.checked_mul(1024_u128.checked_pow(self.kibis)?)?;
        let power = 10_u128.checked_pow(self.tens.unsigned_abs());
        match power {
            _ if scaled == 0 => Some(0),
            Some(power) if self.tens < 0 => (scaled % power == 0).then_some(scaled / power),
            None if self.tens < 0 => None,
            power => Some(power.and_then(|power| scaled.checked_mul(power)).unwrap_or(u128::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::view::View;
    use rstest::rstest;

    #[rstest]
    #[case(r#""1""#, Some(1))]
    #[case("1", Some(1))]
    #[case("1.0", Some(1))]
    #[case(r#""1000m""#, Some(1))]
    #[case(r#""1500m""#, None)]
    #[case(r#""+1.50""#, None)]
    #[case(r#""0.001k""#, Some(1))]
    #[case(r#""10e-1""#, Some(1))]
    #[case(r#""1E3""#, Some(1000))]
    #[case(r#""1E""#, Some(1_000_000_000_000_000_000))]
    #[case(r#""1Ki""#, Some(1024))]
    #[case(r#""0.5Ki""#, Some(512))]
    #[case(r#""0""#, Some(0))]
    #[case(r#""0e99""#, Some(0))]
    #[case(r#""-1""#, None)]
    #[case(r#""1K""#, None)]
    #[case(r#""1.2.3""#, None)]
    #[case(r#""""#, None)]
    #[case(r#"".""#, None)]
    #[case(r#""1e999999999999""#, None)]
    #[case(r#""1e40""#, Some(u128::MAX))]
    #[case(r#""1e2147483647""#, Some(u128::MAX))]
    #[case(r#""1.5e-2147483648""#, None)]
    #[case(r#""é""#, None)]
    #[case("null", None)]
    #[case(r#"["1"]"#, None)]
    fn integer(#[case] text: &str, #[case] expected: Option<u128>) {
        let value = View::new(text.as_bytes());
        assert_eq!(Quantity::read(&Field::root(&value)).and_then(|quantity| quantity.integer()), expected);
    }
}
