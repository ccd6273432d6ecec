//! The table of error codes.

use std::fmt;

/// What sort of failure an error is: enough to choose an exit code, an HTTP or gRPC status, or
/// whether to blame the caller, the data or the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Somebody asked for the work to end before it was done.
    Cancelled,
    /// The caller gave a value that is wrong whatever the state of the system.
    InvalidInput,
    /// A plan could not be built, or was built wrong.
    Planning,
    /// The request is meaningful, but this build or this source cannot do it.
    Unsupported,
    /// A name does not exist.
    NotFound,
    /// Nobody is logged in, or the login is not accepted.
    Unauthenticated,
    /// The login is accepted but may not do this.
    PermissionDenied,
    /// A limit on memory, requests or time slots was reached.
    ResourceExhausted,
    /// Something outside the process does not answer.
    Unavailable,
    /// Data is damaged or contradicts what was said about it.
    DataCorruption,
    /// The code broke a promise it makes to itself.
    Invariant,
    /// Anything else that is not the caller's fault.
    Internal,
}

impl ErrorKind {
    /// The kind's name in snake case.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::InvalidInput => "invalid_input",
            Self::Planning => "planning",
            Self::Unsupported => "unsupported",
            Self::NotFound => "not_found",
            Self::Unauthenticated => "unauthenticated",
            Self::PermissionDenied => "permission_denied",
            Self::ResourceExhausted => "resource_exhausted",
            Self::Unavailable => "unavailable",
            Self::DataCorruption => "data_corruption",
            Self::Invariant => "invariant",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// How long the cause of an error can be expected to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Persistence {
    /// The same request fails forever.
    Permanent,
    /// The cause may go away by itself.
    Temporary,
    /// The cause stays until somebody changes a setting, the data or the machine.
    Persistent,
}

impl Persistence {
    /// The name in snake case.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Temporary => "temporary",
            Self::Persistent => "persistent",
        }
    }
}

impl fmt::Display for Persistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Builds `ErrorCode` and its lookups from one table, so that a code cannot be added in part.
macro_rules! error_codes {
    ($($code:ident $label:literal $kind:ident $persistence:ident $retryable:literal $summary:literal;)+) => {
        /// What went wrong, as one of a fixed list that programs can match on.
        ///
        /// The label is stable and is what logs, metrics and the command line show.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $summary] $code,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// The code's stable name in snake case.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$code => $label,)+ }
            }

            /// The sort of failure this code belongs to.
            pub const fn kind(self) -> ErrorKind {
                match self { $(Self::$code => ErrorKind::$kind,)+ }
            }

            /// How long the cause can be expected to last.
            pub const fn persistence(self) -> Persistence {
                match self { $(Self::$code => Persistence::$persistence,)+ }
            }

            /// True if the code that made a call may repeat it unchanged, after a pause, without
            /// asking anybody.
            pub const fn is_retryable(self) -> bool {
                match self { $(Self::$code => $retryable,)+ }
            }

            /// One line that says what the code means, for reference documentation.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$code => $summary,)+ }
            }
        }
    };
}

error_codes! {
    Cancelled "cancelled" Cancelled Permanent false
        "The query was cancelled or its result was dropped.";
    DeadlineExceeded "deadline_exceeded" Cancelled Temporary false
        "The query's deadline passed before it finished.";
    InvalidExecutionPlan "invalid_execution_plan" Planning Permanent false
        "A query or its plan is malformed: SQL that does not parse, a node with the wrong children.";
    InvalidOption "invalid_option" InvalidInput Permanent false
        "An option is unknown, has a value it cannot take, or contradicts another option.";
    InvalidArgument "invalid_argument" InvalidInput Permanent false
        "An argument of a call is outside what the call accepts.";
    UnknownDataset "unknown_dataset" NotFound Persistent false
        "No dataset has the given name.";
    DatasetNotLoaded "dataset_not_loaded" Planning Temporary false
        "Something that cannot wait needs the columns of a dataset, which were not asked for before.";
    UnknownIndex "unknown_index" NotFound Persistent false
        "The dataset has no index with the given name.";
    UnknownEntity "unknown_entity" NotFound Persistent false
        "The dataset has no entity at the given path.";
    UnknownColumn "unknown_column" NotFound Persistent false
        "The dataset has no column with the given name.";
    NameClash "name_clash" InvalidInput Persistent false
        "Two things that must be told apart by name have the same name.";
    SchemaConflict "schema_conflict" InvalidInput Persistent false
        "Parts of one dataset give the same column types that cannot be reconciled.";
    NotARecording "not_a_recording" InvalidInput Persistent false
        "A file was given as a recording but is not one.";
    HostStagingLimitExceeded "host_staging_limit_exceeded" ResourceExhausted Persistent false
        "The inputs of an offloaded operator exceed the byte or row limit of host staging.";
    MemoryReservationFailed "memory_reservation_failed" ResourceExhausted Temporary false
        "The memory pool of the query refused a reservation.";
    WindowExhausted "window_exhausted" ResourceExhausted Persistent false
        "The memory window of a stream is too small for what it must hold at once.";
    BatchTooLarge "batch_too_large" ResourceExhausted Persistent false
        "One row or batch is larger than the limit for a batch.";
    ServiceOverloaded "service_overloaded" ResourceExhausted Temporary true
        "The server turned the request away because it has too much to do.";
    QueryBudgetUnavailable "query_budget_unavailable" ResourceExhausted Temporary true
        "The memory that a query needs to start is held by other queries.";
    DeviceUnavailable "device_unavailable" Unavailable Temporary true
        "No device can take the work now.";
    DeviceOutOfMemory "device_out_of_memory" ResourceExhausted Temporary false
        "A device has too little memory for the smallest piece of the work.";
    DeviceFault "device_fault" Unavailable Persistent false
        "A device or its driver failed, and its state is unknown.";
    ChunkCorrupt "chunk_corrupt" DataCorruption Permanent false
        "A chunk is damaged, truncated or contradicts its own description.";
    SourceUnderDelivered "source_under_delivered" DataCorruption Persistent false
        "A source ended without delivering every chunk it was asked for.";
    SourceOverDelivered "source_over_delivered" DataCorruption Persistent false
        "A source delivered a chunk twice or one that nobody asked for.";
    SourceChanged "source_changed" Unavailable Temporary false
        "The data changed while a query was reading it.";
    InvalidResponse "invalid_response" DataCorruption Persistent false
        "A server's answer does not follow the protocol.";
    ServerError "server_error" Unavailable Temporary false
        "A server failed to answer a request, for a reason of its own.";
    TransportUnavailable "transport_unavailable" Unavailable Temporary true
        "The connection to a server could not be made or broke.";
    Unauthenticated "unauthenticated" Unauthenticated Persistent false
        "The server wants a login, or refused the one it was given.";
    PermissionDenied "permission_denied" PermissionDenied Persistent false
        "The login in use, or the user of the process, is not allowed to do this.";
    Unsupported "unsupported" Unsupported Permanent false
        "The request is meaningful but not supported.";
    StorageUnavailable "storage_unavailable" Unavailable Persistent false
        "A local file or folder could not be read or written.";
    Invariant "invariant" Invariant Permanent false
        "Segue broke a promise that it makes to itself: a bug.";
    Internal "internal" Internal Permanent false
        "A failure that has no code of its own.";
}

impl ErrorCode {
    /// True if the code names a cause, false if it can be the mere consequence of another failure.
    ///
    /// A query that fails is torn down: its tasks see a cancellation, its channels are closed.
    /// What these report (`cancelled`, `internal`) says that something ended, not why.
    pub const fn is_specific(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Internal)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
