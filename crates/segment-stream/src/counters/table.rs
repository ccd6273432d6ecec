//! The table of counters.

use std::fmt;

use datafusion::physical_plan::metrics::MetricCategory;

/// What a counter counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unit {
    /// Segments of a dataset.
    Segments,
    /// Chunks of segments.
    Chunks,
    /// Requests to a source.
    Requests,
    /// Times that something was waited for.
    Waits,
    /// Rows of a table.
    Rows,
    /// Record batches.
    Batches,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// The unit's name in lower case.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Segments => "segments",
            Self::Chunks => "chunks",
            Self::Requests => "requests",
            Self::Waits => "waits",
            Self::Rows => "rows",
            Self::Batches => "batches",
            Self::Bytes => "bytes",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// What DataFusion files it under.
    pub(super) const fn category(self) -> MetricCategory {
        match self {
            Self::Segments
            | Self::Chunks
            | Self::Requests
            | Self::Waits
            | Self::Rows
            | Self::Batches => MetricCategory::Rows,
            Self::Bytes => MetricCategory::Bytes,
            Self::Nanoseconds => MetricCategory::Timing,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// How a counter comes to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Known once there is a plan, of all partitions together. Execution does not change it.
    Planned,
    /// Grows during execution. Partitions add up, and so do repeated executions of the same plan.
    Total,
    /// The smallest of all partitions and executions; none until there is a first.
    Least,
    /// The largest of all partitions and executions.
    Most,
}

impl Kind {
    /// The kind's name in lower case.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Total => "total",
            Self::Least => "least",
            Self::Most => "most",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Builds `Counter` and its lookups from one table, so that a counter cannot be added in part.
macro_rules! counters {
    ($($counter:ident $name:literal $unit:ident $kind:ident $help:literal;)+) => {
        /// Something that a scan counts.
        ///
        /// The name is stable. It is what the metrics of [`SegmentStreamExec`](crate::SegmentStreamExec) and
        /// `EXPLAIN ANALYZE` show.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Counter {
            $(#[doc = $help] $counter,)+
        }

        impl Counter {
            /// Every counter, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$counter),+];

            /// The counter's stable name in snake case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$counter => $name,)+ }
            }

            /// What it counts in.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$counter => Unit::$unit,)+ }
            }

            /// How it comes to its value.
            pub const fn kind(self) -> Kind {
                match self { $(Self::$counter => Kind::$kind,)+ }
            }

            /// What it says, in one line.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$counter => $help,)+ }
            }
        }
    };
}

counters! {
    SegmentsPlanned "segments_planned" Segments Planned
        "Segments that are to be read.";
    ChunksPlanned "chunks_planned" Chunks Planned
        "Chunks that are to be fetched, unless a limit ends the read before.";
    BytesPlanned "bytes_planned" Bytes Planned
        "Bytes of those chunks, as stored or sent, that the source announced.";
    FetchRequests "fetch_requests" Requests Total
        "Requests for chunks made to the source, each for one unit (`segue_stream.unit_bytes`).";
    ChunksFetched "chunks_fetched" Chunks Total
        "Chunks that came.";
    BytesFetched "bytes_fetched" Bytes Total
        "Bytes of the chunks that came. A source may have announced a few more: those that frame a chunk.";
    BytesDecoded "bytes_decoded" Bytes Total
        "Bytes of memory that the chunks took once decoded.";
    ChunksSkipped "chunks_skipped" Chunks Total
        "Planned chunks that had not come when their partition ended, by a limit, an error or because it was dropped.";
    BytesSkipped "bytes_skipped" Bytes Total
        "Announced bytes of the skipped chunks.";
    ChunksGivenBack "chunks_given_back" Chunks Total
        "Chunks that had come, or were under way, and were given up for others that lacked memory. They are fetched again.";
    WindowWaits "window_waits" Waits Total
        "Times that a unit, or the rows of a partition, could not go on before the memory window had room.";
    WindowWait "window_wait_time" Nanoseconds Total
        "Time spent in those waits. Several units of a partition may wait at once.";
    WindowPeak "window_peak" Bytes Most
        "The most bytes that the query held of the memory window, slots included.";
    SourceWait "source_wait_time" Nanoseconds Total
        "Time in which who reads a partition had to wait for its next batch.";
    Decoding "decode_time" Nanoseconds Total
        "Time spent on decoding chunks; a part of `elapsed_compute`.";
    Assembly "assembly_time" Nanoseconds Total
        "Time spent on making rows of decoded chunks; a part of `elapsed_compute`.";
    FirstBatch "time_to_first_batch" Nanoseconds Least
        "Time from the first poll of a partition to its first batch.";
    // DataFusion makes those below for every node, and names them.
    OutputRows "output_rows" Rows Total
        "Rows that were given out.";
    OutputBatches "output_batches" Batches Total
        "Batches that were given out.";
    OutputBytes "output_bytes" Bytes Total
        "Bytes of memory of the batches that were given out. Memory that batches share counts for each.";
    ElapsedCompute "elapsed_compute" Nanoseconds Total
        "Time in which a partition was at work, on whatever thread, waiting excluded.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};

    use super::*;

    #[test]
    fn names_are_snake_case_and_no_two_are_equal() {
        let mut names = BTreeSet::new();
        for counter in Counter::ALL {
            let name = counter.name();
            assert!(names.insert(name), "{name} stands twice");
            let is_snake = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(!name.is_empty() && name.chars().all(is_snake), "{name}");
        }
    }

    #[test]
    fn each_help_is_a_sentence_of_its_own() {
        let mut helps = BTreeSet::new();
        for counter in Counter::ALL {
            let help = counter.help();
            assert!(helps.insert(help), "{help} stands twice");
            let starts_upper = help.starts_with(|c: char| c.is_ascii_uppercase());
            assert!(starts_upper && help.ends_with('.'), "{help}");
            // It becomes a cell of a table.
            assert!(!help.contains(['|', '\n']), "{help}");
        }
    }

    #[test]
    fn the_baseline_is_what_datafusion_makes_but_for_times_of_day() {
        let set = ExecutionPlanMetricsSet::new();
        let _baseline = BaselineMetrics::new(&set, 0);
        let made = set.clone_inner();
        let made = made.iter().filter(|metric| !metric.value().is_timestamp());
        let made: BTreeSet<_> = made
            .map(|metric| metric.value().name().to_owned())
            .collect();
        let ours = [
            Counter::OutputRows,
            Counter::OutputBatches,
            Counter::OutputBytes,
            Counter::ElapsedCompute,
        ];
        let ours = ours.map(|counter| counter.name().to_owned());
        let ours = BTreeSet::from(ours);
        assert_eq!(ours, made);
    }
}
