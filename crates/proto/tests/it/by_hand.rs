//! Bytes spelled out, so that a changed field number or type is noticed.

use bytes::Bytes;
use prost::Message as _;
use segue_proto::common::{Compression, DataframePart, EncoderVersion, StoreId, StoreKind, Tuid};
use segue_proto::log_msg::{
    ArrowMsg, BlueprintActivationCommand, Encoding, SetStoreInfo, StoreInfo,
};

#[test]
fn an_id_is_two_little_endian_halves() {
    let bytes = [
        0x09, 8, 7, 6, 5, 4, 3, 2, 1, // field 1, fixed 64 bits
        0x11, 0, 0, 0, 0, 0, 0, 0, 0x80, // field 2, fixed 64 bits
    ];
    let id = Tuid::decode(&bytes[..]).unwrap();
    assert_eq!(id.time_ns, Some(0x0102_0304_0506_0708));
    assert_eq!(id.inc, Some(1 << 63));
}

#[test]
fn an_absent_half_is_told_from_a_zero_one() {
    let id = Tuid::decode(&[0x11, 0, 0, 0, 0, 0, 0, 0, 0][..]).unwrap();
    assert_eq!((id.time_ns, id.inc), (None, Some(0)));
}

#[test]
fn an_arrow_message_has_its_fields_at_their_numbers() {
    let bytes = [
        0x0a, 0x0d, // 1: store id, 13 bytes
        0x08, 0x02, // kind: blueprint
        0x12, 0x02, b'r', b'1', // recording id
        0x1a, 0x05, 0x0a, 0x03, b'a', b'p', b'p', // application id
        0x10, 0x02, // 2: LZ4
        0x18, 0xac, 0x02, // 3: 300 bytes
        0x20, 0x01, // 4: Arrow IPC
        0x2a, 0x02, 0xca, 0xfe, // 5: payload
        0x32, 0x09, 0x11, 7, 0, 0, 0, 0, 0, 0, 0, // 6: chunk id
        0x38, 0x01, // 7: static
    ];
    let message = ArrowMsg::decode(&bytes[..]).unwrap();

    let store = message.store_id.as_ref().unwrap();
    assert_eq!(store.kind(), StoreKind::Blueprint);
    assert_eq!(store.recording_id, "r1");
    assert_eq!(store.application_id.as_ref().unwrap().id, "app");
    assert_eq!(message.compression(), Compression::Lz4);
    assert_eq!(message.uncompressed_size, 300);
    assert_eq!(message.encoding(), Encoding::ArrowIpc);
    assert_eq!(message.payload.as_ref(), [0xca, 0xfe]);
    assert_eq!(message.chunk_id.unwrap().inc, Some(7));
    assert_eq!(message.is_static, Some(true));
    assert_eq!(message.encode_to_vec(), bytes);
}

#[test]
fn a_table_part_has_its_fields_at_their_numbers() {
    let bytes = [0x08, 0x01, 0x12, 0x01, 0x2a, 0x18, 0x01, 0x20, 0x07];
    let part = DataframePart::decode(&bytes[..]).unwrap();
    assert_eq!(part.encoder_version(), EncoderVersion::V0);
    assert_eq!(part.payload.as_deref(), Some(&[0x2a][..]));
    assert_eq!(part.compression(), Compression::None);
    assert_eq!(part.uncompressed_size, 7);
    assert_eq!(part.encode_to_vec(), bytes);
}

#[test]
fn fields_that_are_not_declared_are_skipped() {
    let declared = SetStoreInfo {
        row_id: None,
        info: Some(StoreInfo {
            application_id: None,
            store_id: Some(StoreId {
                kind: StoreKind::Recording.into(),
                recording_id: "r".to_owned(),
                application_id: None,
            }),
        }),
    };
    // The info of a real writer also says who wrote it, in fields 5 and 6.
    let bytes = [
        0x12, 0x0d, 0x12, 0x05, 0x08, 0x01, 0x12, 0x01, b'r', //
        0x2a, 0x02, 0x08, 0x03, // 5
        0x32, 0x00, // 6
    ];
    assert_eq!(SetStoreInfo::decode(&bytes[..]).unwrap(), declared);
}

#[test]
fn an_unknown_enum_number_is_kept_and_reads_as_unspecified() {
    let message = ArrowMsg::decode(&[0x10, 0x63][..]).unwrap();
    assert_eq!(message.compression, 99);
    assert_eq!(message.compression(), Compression::Unspecified);
}

#[test]
fn a_blueprint_activation_names_its_store() {
    let bytes = [0x0a, 0x03, 0x12, 0x01, b'b', 0x10, 0x01, 0x18, 0x01];
    let command = BlueprintActivationCommand::decode(&bytes[..]).unwrap();
    assert_eq!(command.blueprint_id.unwrap().recording_id, "b");
    assert!(command.make_active && command.make_default);
}

#[test]
fn a_payload_shares_the_buffer_it_was_decoded_from() {
    let body = Bytes::from(vec![0x2a, 0x03, 1, 2, 3]);
    let message = ArrowMsg::decode(body.clone()).unwrap();
    assert_eq!(message.payload.as_ptr(), body[2..].as_ptr());
}

#[test]
fn a_length_beyond_the_body_is_an_error() {
    assert!(ArrowMsg::decode(&[0x2a, 0x7f, 1, 2][..]).is_err());
}
