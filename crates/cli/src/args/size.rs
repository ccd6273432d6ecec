//! Sizes in bytes.

use datafusion::prelude::SessionContext;

/// Reads a number of bytes, or one with a suffix: `64M` are 64 times 1024 times 1024.
pub(super) fn parse(text: &str) -> Result<usize, String> {
    let plain = text.parse().ok();
    let size = plain.or_else(|| SessionContext::parse_capacity_limit("", text).ok());
    size.filter(|size| *size > 0)
        .ok_or_else(|| "a number of bytes greater than 0 is wanted, such as 64M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_or_without_a_suffix() {
        assert_eq!(parse("77"), Ok(77));
        assert_eq!(parse("64K"), Ok(64 * 1024));
        assert_eq!(parse("1.5G"), Ok(3 << 29));
        for wrong in ["", "0", "0M", "-1", "M", "64MB", "many"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
