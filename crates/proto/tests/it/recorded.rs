//! Two messages of a recording written by the Rerun SDK.

use bytes::Bytes;
use prost::Message as _;
use segue_proto::common::{Compression, EncoderVersion, StoreId, StoreKind};
use segue_proto::log_msg::{ArrowMsg, Encoding, RrdFooter};

const ARROW_MSG: &[u8] = include_bytes!("../data/arrow_msg.bin");
const RRD_FOOTER: &[u8] = include_bytes!("../data/rrd_footer.bin");

fn assert_is_the_recorded_store(store: &StoreId) {
    assert_eq!(store.kind(), StoreKind::Recording);
    assert_eq!(store.recording_id, "only_static_0");
    let application = store.application_id.as_ref();
    assert_eq!(application.map(|it| it.id.as_str()), Some("golden"));
}

#[test]
fn a_recorded_chunk_message_decodes() {
    let message = ArrowMsg::decode(Bytes::from_static(ARROW_MSG)).unwrap();

    assert_is_the_recorded_store(message.store_id.as_ref().unwrap());
    let id = message.chunk_id.unwrap();
    assert_eq!(id.time_ns, Some(0x18ec_eadf_f8b2_dd4e));
    assert_eq!(id.inc, Some(0x25ae_359d_ab0a_9fbe));
    assert_eq!(message.compression(), Compression::Lz4);
    assert_eq!(message.uncompressed_size, 1736);
    assert_eq!(message.encoding(), Encoding::ArrowIpc);
    assert_eq!(message.payload.len(), 901);
    assert_eq!(message.is_static, Some(true));
}

#[test]
fn a_recorded_footer_decodes() {
    let footer = RrdFooter::decode(Bytes::from_static(RRD_FOOTER)).unwrap();

    let [manifest] = footer.manifests.as_slice() else {
        panic!("one store, so one manifest: {}", footer.manifests.len());
    };
    assert_is_the_recorded_store(manifest.store_id.as_ref().unwrap());
    assert_eq!(manifest.sorbet_schema_sha256.as_ref().unwrap().len(), 32);

    let schema = manifest.sorbet_schema.as_ref().unwrap();
    // An IPC stream starts with a continuation marker.
    assert_eq!(schema.arrow_schema.as_ref().unwrap()[..4], [0xff; 4]);
    let data = manifest.data.as_ref().unwrap();
    assert_eq!(data.encoder_version(), EncoderVersion::V0);
    assert!(!data.payload.as_ref().unwrap().is_empty());
}

#[test]
fn every_message_encodes_back_to_the_recorded_bytes() {
    let message = ArrowMsg::decode(ARROW_MSG).unwrap();
    assert_eq!(message.encoded_len(), ARROW_MSG.len());
    assert_eq!(
        ArrowMsg::decode(message.encode_to_vec().as_slice()),
        Ok(message)
    );

    let footer = RrdFooter::decode(RRD_FOOTER).unwrap();
    assert_eq!(footer.encode_to_vec(), RRD_FOOTER);
}
