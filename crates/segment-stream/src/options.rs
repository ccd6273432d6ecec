//! Settings of the scan.

use std::any::Any;

use datafusion::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use segue_error::{Error, ErrorCode};

/// Settings of segment streams: `SET segue_stream.NAME = VALUE`, `SHOW segue_stream.NAME`.
///
/// Each is a number greater than 0; another value, or another name, is `invalid_option`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentStreamOptions {
    /// Bytes of decoded chunks that are asked for at once. A larger chunk is asked for alone.
    pub unit_bytes: usize,
    /// How many units are under way at once, per partition.
    pub units_ahead: usize,
    /// Bytes of component values that a batch may hold, unless a single row has more.
    pub batch_bytes: usize,
}

impl Default for SegmentStreamOptions {
    fn default() -> Self {
        Self {
            unit_bytes: 8 * 1024 * 1024,
            units_ahead: 2,
            batch_bytes: 16 * 1024 * 1024,
        }
    }
}

/// One setting: its name, what it means, and where its value is.
struct Setting {
    name: &'static str,
    about: &'static str,
    value: fn(&mut SegmentStreamOptions) -> &mut usize,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "unit_bytes",
        about: "Bytes of decoded chunks that are asked for at once. A larger chunk is asked for alone.",
        value: |options| &mut options.unit_bytes,
    },
    Setting {
        name: "units_ahead",
        about: "How many units are under way at once, per partition.",
        value: |options| &mut options.units_ahead,
    },
    Setting {
        name: "batch_bytes",
        about: "Bytes of component values that a batch may hold, unless a single row has more.",
        value: |options| &mut options.batch_bytes,
    },
];

impl SegmentStreamOptions {
    /// The settings in `config`, or the defaults where the extension is not there.
    pub fn from_config(config: &ConfigOptions) -> Self {
        config.extensions.get::<Self>().cloned().unwrap_or_default()
    }
}

impl ConfigExtension for SegmentStreamOptions {
    const PREFIX: &'static str = "segue_stream";
}

impl ExtensionOptions for SegmentStreamOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> datafusion::error::Result<()> {
        let name = format!("{}.{key}", Self::PREFIX);
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == key) else {
            let names = SETTINGS.map(|setting| setting.name);
            let near = segue_chunk::suggestion(key, &names);
            return Err(invalid(format!("no option '{name}'{near}")));
        };
        match value.parse() {
            Ok(number) if number > 0 => *(setting.value)(self) = number,
            _ => {
                let message =
                    format!("option '{name}' wants a number greater than 0, not '{value}'");
                return Err(invalid(message));
            }
        }
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let mut options = self.clone();
        let entry = |setting: &Setting| ConfigEntry {
            key: format!("{}.{}", Self::PREFIX, setting.name),
            value: Some((setting.value)(&mut options).to_string()),
            description: setting.about,
        };
        SETTINGS.iter().map(entry).collect()
    }
}

fn invalid(message: String) -> datafusion::error::DataFusionError {
    Error::new(ErrorCode::InvalidOption, "segment_stream.options", message).into()
}
