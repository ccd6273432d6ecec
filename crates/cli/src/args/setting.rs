//! `--set`.

/// A setting of the session and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Reads `KEY=VALUE`.
pub(super) fn parse(text: &str) -> Result<Setting, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok(Setting {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
        }),
        _ => Err("KEY=VALUE is wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_equals_sign_ends_the_name() {
        let setting = parse("a.b = c=d").unwrap();
        assert_eq!((&*setting.name, &*setting.value), ("a.b", "c=d"));
        assert_eq!(parse("a=").unwrap().value, "");
        for wrong in ["a", "=b", ""] {
            parse(wrong).unwrap_err();
        }
    }
}
