//! Encrypted connections.

use segue_chunk::ChunkSource;
use segue_chunk_client::{RemoteSource, RetryPolicy};
use segue_error::{Error, ErrorCode};
use tokio::sync::Semaphore;
use tonic::transport::{Identity, ServerTlsConfig};

use crate::support::{DATASET, Mock, Recorded};

/// A server that speaks TLS, and the certificate that vouches for it.
async fn encrypted() -> (Mock, String) {
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = ServerTlsConfig::new().identity(Identity::from_pem(&certificate, key));
    let permits = Semaphore::MAX_PERMITS;
    let mock = Mock::start_with(Recorded::of("0.41.0"), permits, Some(tls)).await;
    (mock, certificate)
}

async fn refused(url: &str) -> Error {
    let builder = RemoteSource::builder(url).connect_retries(RetryPolicy::NEVER);
    builder.connect().await.unwrap_err()
}

#[tokio::test]
async fn a_trusted_certificate_opens_the_catalog() {
    let (mock, certificate) = encrypted().await;
    for scheme in ["rerun", "rerun+https"] {
        let url = format!("{scheme}://{}", mock.address);
        let source = RemoteSource::builder(&url).ca_certificate(certificate.as_str());
        let source = source.connect().await.unwrap();
        assert_eq!(source.datasets().await.unwrap(), [DATASET]);
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_does_not() {
    let (mock, _) = encrypted().await;
    let error = refused(&format!("rerun://{}", mock.address)).await;
    assert_eq!(error.code(), ErrorCode::Unauthenticated, "{error}");
    assert!(error.message().contains("not trusted"), "{error}");
}

#[tokio::test]
async fn a_plain_server_does_not_speak_tls_and_the_other_way_round() {
    let plain = Mock::start(Recorded::of("0.41.0")).await;
    let error = refused(&format!("rerun+https://{}", plain.address)).await;
    assert_eq!(error.code(), ErrorCode::InvalidResponse, "{error}");
    assert!(error.message().contains("does not speak TLS"), "{error}");

    let (mock, _) = encrypted().await;
    let error = refused(&mock.url()).await;
    let hint = format!("with TLS it would be rerun+https://{}", mock.address);
    let message = error.message();
    assert!(
        message.contains(&mock.url()) && message.contains(&hint),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_certificate_is_refused() {
    for pem in [
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "no certificate",
        "",
    ] {
        let builder = RemoteSource::builder("rerun://127.0.0.1:1").ca_certificate(pem);
        let error = builder.connect().await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{pem}: {error}");
        assert!(error.message().contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_is_of_no_use_without_tls() {
    let (mock, certificate) = encrypted().await;
    let builder = RemoteSource::builder(&mock.url()).ca_certificate(certificate);
    let error = builder.connect().await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
    assert!(error.message().contains("without TLS"), "{error}");
}
