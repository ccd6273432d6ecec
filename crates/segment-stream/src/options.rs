//! Settings of the scan.

use std::any::Any;

use datafusion::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::prelude::SessionContext;
use segue_error::{Error, ErrorCode};

/// Settings of segment streams: `SET segue_stream.NAME = VALUE`, `SHOW segue_stream.NAME`.
///
/// Bytes may have a suffix: `64M` are 64 times 1024 times 1024. Another value than those that a setting has, or another
/// name, is `invalid_option`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentStreamOptions {
    /// Bytes of chunks that are asked for at once, at most a sixteenth of the window. A larger chunk is asked for alone.
    pub unit_bytes: usize,
    /// How many units are under way at once, per partition.
    pub units_ahead: usize,
    /// Bytes of component values that a batch may hold, unless a single row has more.
    pub batch_bytes: usize,
    /// Bytes of the memory window that a query may hold; `usize::MAX` for all that it has.
    pub window_bytes: usize,
    /// Threads that decode and make rows; 0 for as many as there are cores.
    pub cpu_threads: usize,
}

impl Default for SegmentStreamOptions {
    fn default() -> Self {
        Self {
            unit_bytes: 8 * 1024 * 1024,
            units_ahead: 3,
            batch_bytes: 8 * 1024 * 1024,
            window_bytes: usize::MAX,
            cpu_threads: 0,
        }
    }
}

/// One setting: its name, what it means, and where its value is.
struct Setting {
    name: &'static str,
    about: &'static str,
    domain: Domain,
    value: fn(&mut SegmentStreamOptions) -> &mut usize,
}

/// The values that a setting can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    Count,
    CountOrZero,
    Bytes,
    BytesOrAll,
}

/// How all that there is is written.
const ALL: &str = "all";

const SETTINGS: [Setting; 5] = [
    Setting {
        name: "unit_bytes",
        about: "Bytes of chunks that are asked for at once, at most a sixteenth of the window. A larger chunk is asked \
                for alone.",
        domain: Domain::Bytes,
        value: |options| &mut options.unit_bytes,
    },
    Setting {
        name: "units_ahead",
        about: "How many units are under way at once, per partition.",
        domain: Domain::Count,
        value: |options| &mut options.units_ahead,
    },
    Setting {
        name: "batch_bytes",
        about: "Bytes of component values that a batch may hold, unless a single row has more.",
        domain: Domain::Bytes,
        value: |options| &mut options.batch_bytes,
    },
    Setting {
        name: "window_bytes",
        about: "Bytes of the memory window that a query may hold, besides the slots of its partitions; or 'all'.",
        domain: Domain::BytesOrAll,
        value: |options| &mut options.window_bytes,
    },
    Setting {
        name: "cpu_threads",
        about: "Threads that decode chunks and make rows, for all queries together; 0 for as many as there are cores.",
        domain: Domain::CountOrZero,
        value: |options| &mut options.cpu_threads,
    },
];

impl Domain {
    fn read(self, text: &str) -> Option<usize> {
        match self {
            Self::BytesOrAll if text == ALL => return Some(usize::MAX),
            Self::Count | Self::CountOrZero => text.parse().ok(),
            // DataFusion's own notation of sizes, of which a plain number is none.
            Self::Bytes | Self::BytesOrAll => text
                .parse()
                .ok()
                .or_else(|| SessionContext::parse_capacity_limit("", text).ok()),
        }
        .filter(|number| *number > 0 || self == Self::CountOrZero)
    }

    fn write(self, value: usize) -> String {
        match (self, value) {
            (Self::BytesOrAll, usize::MAX) => ALL.to_owned(),
            _ => value.to_string(),
        }
    }

    /// What to write, as a part of a sentence.
    fn wanted(self) -> &'static str {
        match self {
            Self::Count => "a number greater than 0",
            Self::CountOrZero => "a number",
            Self::Bytes => "a number of bytes greater than 0, such as 64M",
            Self::BytesOrAll => "a number of bytes greater than 0, such as 64M, or 'all'",
        }
    }
}

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
        let Some(number) = setting.domain.read(value) else {
            let wanted = setting.domain.wanted();
            return Err(invalid(format!(
                "option '{name}' wants {wanted}, not '{value}'"
            )));
        };
        *(setting.value)(self) = number;
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let mut options = self.clone();
        let entry = |setting: &Setting| ConfigEntry {
            key: format!("{}.{}", Self::PREFIX, setting.name),
            value: Some(setting.domain.write(*(setting.value)(&mut options))),
            description: setting.about,
        };
        SETTINGS.iter().map(entry).collect()
    }
}

fn invalid(message: String) -> datafusion::error::DataFusionError {
    Error::new(ErrorCode::InvalidOption, "segment_stream.options", message).into()
}
