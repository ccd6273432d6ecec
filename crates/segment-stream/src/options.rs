//! Settings of the scan.

use datafusion::common::extensions_options;
use datafusion::config::{ConfigExtension, ConfigOptions};
use segue_error::{Error, ErrorCode, Result};

extensions_options! {
    /// Settings of segment streams, `SET segue_stream.NAME = VALUE`.
    pub struct SegmentStreamOptions {
        /// Bytes of decoded chunks that are asked for at once. A larger chunk is asked for alone.
        pub unit_bytes: usize, default = 8 * 1024 * 1024

        /// How many units are under way at once, per partition.
        pub units_ahead: usize, default = 2

        /// Bytes of component values that a batch may hold, unless a single row has more.
        pub batch_bytes: usize, default = 16 * 1024 * 1024
    }
}

impl ConfigExtension for SegmentStreamOptions {
    const PREFIX: &'static str = "segue_stream";
}

impl SegmentStreamOptions {
    /// The settings in `config`, or the defaults where the extension is not there.
    ///
    /// `invalid_option` when a value is zero where that means nothing.
    pub fn from_config(config: &ConfigOptions) -> Result<Self> {
        let options = config.extensions.get::<Self>().cloned().unwrap_or_default();
        let positive = [
            ("unit_bytes", options.unit_bytes),
            ("units_ahead", options.units_ahead),
            ("batch_bytes", options.batch_bytes),
        ];
        match positive.iter().find(|(_, value)| *value == 0) {
            None => Ok(options),
            Some((name, _)) => Err(Error::new(
                ErrorCode::InvalidOption,
                "segment_stream.options",
                format!("option 'segue_stream.{name}' must be greater than 0"),
            )),
        }
    }
}
