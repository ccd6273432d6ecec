//! JSON, an object per line.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::FieldRef;
use arrow::error::ArrowError;
use arrow::json::writer::{
    Encoder as ValueEncoder, EncoderFactory, EncoderOptions, LineDelimited, NullableEncoder,
    WriterBuilder,
};
use arrow::util::display::ArrayFormatter;

use super::cell::{failure, formatter};
use super::encoder::Encoder;
use crate::exit::Failure;

/// An object per row, with all columns: a null is `null`.
#[derive(Debug)]
pub(super) struct JsonEncoder {
    options: WriterBuilder,
    times: Arc<Times>,
}

impl JsonEncoder {
    pub(super) fn new() -> Self {
        let times = Arc::new(Times::default());
        let factory: Arc<dyn EncoderFactory> = Arc::clone(&times) as _;
        let options = WriterBuilder::new()
            .with_explicit_nulls(true)
            .with_encoder_factory(factory);
        Self { options, times }
    }
}

impl Encoder for JsonEncoder {
    fn rows_at_a_time(&self) -> usize {
        256
    }

    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), Failure> {
        let mut writer = self.options.clone().build::<_, LineDelimited>(out);
        let written = writer.write(batch).and_then(|()| writer.finish());
        written.map_err(|error| failure(batch, &error))?;
        match self.times.have_failed.load(Ordering::Relaxed) {
            true => {
                let why = ArrowError::JsonError("a time is out of range".to_owned());
                Err(failure(batch, &why))
            }
            false => Ok(()),
        }
    }

    fn finish(self: Box<Self>, _: &mut Vec<u8>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Writes times as the other formats do, and notes when it cannot: Arrow's own encoder writes its error in
/// the place of the value.
#[derive(Debug, Default)]
struct Times {
    have_failed: Arc<AtomicBool>,
}

impl EncoderFactory for Times {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        if !array.data_type().is_temporal() {
            return Ok(None);
        }
        let encoder = TimeEncoder {
            formatter: formatter(array)?,
            text: String::new(),
            have_failed: Arc::clone(&self.have_failed),
        };
        let nulls = array.nulls().cloned();
        Ok(Some(NullableEncoder::new(Box::new(encoder), nulls)))
    }
}

struct TimeEncoder<'a> {
    formatter: ArrayFormatter<'a>,
    text: String,
    have_failed: Arc<AtomicBool>,
}

impl ValueEncoder for TimeEncoder<'_> {
    /// The text of a time has nothing in it that JSON would escape.
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        self.text.clear();
        let written = self.formatter.value(row).write(&mut self.text);
        if written.is_err() {
            self.have_failed.store(true, Ordering::Relaxed);
        }
        out.push(b'"');
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'"');
    }
}
