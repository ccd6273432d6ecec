//! Streams taken apart, changed and put together again.

use std::io::Write;

use arrow_ipc::*;
use flatbuffers::FlatBufferBuilder;
use lz4_flex::frame::{BlockMode, FrameEncoder, FrameInfo};

/// A record batch or dictionary batch of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) rows: i64,
    pub(crate) nodes: Vec<(i64, i64)>,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) variadic: Vec<i64>,
    pub(crate) codec: Option<CompressionType>,
    /// Id, and whether it is a delta.
    pub(crate) dictionary: Option<(i64, bool)>,
    /// Offsets and lengths that are stated in place of those of the buffers.
    pub(crate) spans: Option<Vec<(i64, i64)>>,
    /// How often the message is written.
    pub(crate) times: usize,
}

/// `stream` with `edit` applied to each of its batches.
pub(crate) fn rewrite(stream: &[u8], mut edit: impl FnMut(&mut Parts)) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = stream;
    loop {
        let len = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        if len == 0 {
            out.extend(rest);
            return out;
        }
        let (metadata, after) = rest[8..].split_at(len);
        let message = root_as_message(metadata).unwrap();
        let (body, next) = after.split_at(message.bodyLength() as usize);
        let dictionary = message.header_as_dictionary_batch();
        let batch = match dictionary {
            Some(dictionary) => dictionary.data(),
            None => message.header_as_record_batch(),
        };
        match batch {
            None => out.extend(&rest[..8 + len + body.len()]),
            Some(batch) => {
                let mut parts = take_apart(batch, body);
                parts.dictionary = dictionary.map(|d| (d.id(), d.isDelta()));
                edit(&mut parts);
                for _ in 0..parts.times {
                    out.extend(put_together(&parts));
                }
            }
        }
        rest = next;
    }
}

/// The edit that compresses buffers, in frames of three kinds.
pub(crate) fn compress(parts: &mut Parts) {
    parts.codec = Some(CompressionType::LZ4_FRAME);
    for (index, buffer) in parts.buffers.iter_mut().enumerate() {
        *buffer = match index % 4 {
            _ if buffer.is_empty() => Vec::new(),
            0 => [&(-1_i64).to_le_bytes(), &buffer[..]].concat(),
            kind => prefixed(buffer.len() as i64, &frame(buffer, kind)),
        };
    }
}

pub(crate) fn prefixed(len: i64, bytes: &[u8]) -> Vec<u8> {
    [&len.to_le_bytes(), bytes].concat()
}

/// An LZ4 frame: of kind 1 plain, of kind 2 with checksums and content size, else with linked blocks.
pub(crate) fn frame(content: &[u8], kind: usize) -> Vec<u8> {
    let info = match kind {
        1 => FrameInfo::new(),
        2 => FrameInfo::new()
            .block_checksums(true)
            .content_checksum(true)
            .content_size(Some(content.len() as u64)),
        _ => FrameInfo::new()
            .block_mode(BlockMode::Linked)
            .content_checksum(true),
    };
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn take_apart(batch: RecordBatch<'_>, body: &[u8]) -> Parts {
    let span = |b: &Buffer| body[b.offset() as usize..][..b.length() as usize].to_vec();
    Parts {
        rows: batch.length(),
        nodes: batch
            .nodes()
            .unwrap()
            .iter()
            .map(|n| (n.length(), n.null_count()))
            .collect(),
        buffers: batch.buffers().unwrap().iter().map(span).collect(),
        variadic: batch.variadicBufferCounts().into_iter().flatten().collect(),
        codec: None,
        dictionary: None,
        spans: None,
        times: 1,
    }
}

fn put_together(parts: &Parts) -> Vec<u8> {
    let mut body = Vec::new();
    let mut spans = Vec::new();
    for buffer in &parts.buffers {
        spans.push((body.len() as i64, buffer.len() as i64));
        body.extend(buffer);
        body.resize(body.len().next_multiple_of(8), 0);
    }
    let spans = parts.spans.as_ref().unwrap_or(&spans);
    let spans: Vec<_> = spans
        .iter()
        .map(|(offset, len)| Buffer::new(*offset, *len))
        .collect();
    let mut fbb = FlatBufferBuilder::new();
    let nodes: Vec<_> = parts
        .nodes
        .iter()
        .map(|(len, nulls)| FieldNode::new(*len, *nulls))
        .collect();
    let args = RecordBatchArgs {
        length: parts.rows,
        nodes: Some(fbb.create_vector(&nodes)),
        buffers: Some(fbb.create_vector(&spans)),
        compression: parts.codec.map(|codec| {
            let args = BodyCompressionArgs {
                codec,
                ..Default::default()
            };
            BodyCompression::create(&mut fbb, &args)
        }),
        variadicBufferCounts: Some(fbb.create_vector(&parts.variadic)),
    };
    let batch = RecordBatch::create(&mut fbb, &args);
    let (header_type, header) = match parts.dictionary {
        None => (MessageHeader::RecordBatch, batch.as_union_value()),
        Some((id, is_delta)) => {
            let args = DictionaryBatchArgs {
                id,
                data: Some(batch),
                isDelta: is_delta,
            };
            let batch = DictionaryBatch::create(&mut fbb, &args);
            (MessageHeader::DictionaryBatch, batch.as_union_value())
        }
    };
    let args = MessageArgs {
        version: MetadataVersion::V5,
        header_type,
        header: Some(header),
        bodyLength: body.len() as i64,
        custom_metadata: None,
    };
    let message = Message::create(&mut fbb, &args);
    fbb.finish(message, None);
    let mut metadata = fbb.finished_data().to_vec();
    metadata.resize(metadata.len().next_multiple_of(8), 0);
    let len = (metadata.len() as u32).to_le_bytes();
    [&[0xff; 4], &len[..], &metadata, &body].concat()
}
