//! Files that the command line names: tokens, certificates, keys.

use std::path::Path;

use crate::exit::Failure;

/// Environment variable with the token where no file is given.
const TOKEN_VARIABLE: &str = "SEGUE_TOKEN";

/// The token of `file`, or of the environment; `None` where there is none.
pub(crate) fn token(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let (text, origin) = match file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
            (text, format!("file '{}'", file.display()))
        }
        None => match std::env::var(TOKEN_VARIABLE) {
            Ok(text) => (text, TOKEN_VARIABLE.to_owned()),
            Err(std::env::VarError::NotPresent) => return Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => {
                return Err(Failure::Message(format!("{TOKEN_VARIABLE} is no text")));
            }
        },
    };
    match text.trim() {
        "" => Err(Failure::Message(format!("there is no token in {origin}"))),
        token => Ok(Some(token.to_owned())),
    }
}

/// What `file` holds.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::Message(format!("cannot read '{}': {error}", file.display()))
}
