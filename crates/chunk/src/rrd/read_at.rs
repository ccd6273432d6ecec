//! Random access to the bytes of a file.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Bytes that can be read at any place: a file, or a stand-in for one.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on; an error when there are fewer.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buffer, offset)
    }
}

/// What tells whether a file is still the one that was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Length in bytes.
    pub len: u64,
    /// When it was last written, in nanoseconds since 1970; 0 where the file system does not say.
    pub modified_ns: i64,
}

impl FileStamp {
    /// The stamp of the file at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?))
    }

    fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        let since = |t: SystemTime| t.duration_since(SystemTime::UNIX_EPOCH).ok();
        let modified = metadata.modified().ok().and_then(since);
        Self {
            len: metadata.len(),
            modified_ns: modified
                .and_then(|d| i64::try_from(d.as_nanos()).ok())
                .unwrap_or(0),
        }
    }
}

/// An open file.
#[derive(Debug)]
pub struct FileBytes {
    file: File,
    stamp: FileStamp,
}

impl FileBytes {
    /// Opens the file at `path`, which must be a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let stamp = FileStamp::from_metadata(&metadata);
        Ok(Self { file, stamp })
    }

    /// Length and time of the last write when the file was opened.
    pub fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// The same, now.
    pub fn current_stamp(&self) -> io::Result<FileStamp> {
        Ok(FileStamp::from_metadata(&self.file.metadata()?))
    }
}

impl ReadAt for FileBytes {
    fn size(&self) -> u64 {
        self.stamp.len
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt as _;
        while !buffer.is_empty() {
            match self.file.seek_read(buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    buffer = &mut buffer[n..];
                    offset += n as u64;
                }
            }
        }
        Ok(())
    }
}
