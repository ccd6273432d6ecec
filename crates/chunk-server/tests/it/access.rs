//! Who may connect, and what every answer says.

use axum::http;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use segue_chunk_server::ChunkServer;
use segue_error::ErrorCode;
use segue_proto::cloud::rerun_cloud_service_client::RerunCloudServiceClient;
use segue_proto::cloud::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig};
use tonic::{Code, Request, Status};

use crate::support::{Running, about, robots, source};

/// The whole answer to `GET path` over HTTP/1.1.
async fn get(running: &Running, path: &str) -> String {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn the_version_is_told_over_http_1_without_a_login() {
    let server = ChunkServer::builder(source(&robots())).token("s3cret");
    let running = Running::start(server).await;
    let answer = get(&running, "/version").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let version = format!("segue/{}", env!("CARGO_PKG_VERSION"));
    assert!(answer.trim_end().ends_with(&version), "{answer}");
    let other = get(&running, "/versions").await;
    assert!(!other.contains("segue/0.1.0\n"), "{other}");
}

/// The status of a call with this value of `authorization`.
async fn whoami(running: &Running, authorization: Option<&str>) -> Result<(), Status> {
    let mut request = Request::new(WhoAmIRequest {});
    if let Some(value) = authorization {
        let value: MetadataValue<_> = value.parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    running.client().await.who_am_i(request).await.map(|_| ())
}

#[tokio::test]
async fn with_a_token_every_method_wants_it() {
    let server = ChunkServer::builder(source(&robots())).token("s3cret");
    let running = Running::start(server).await;
    whoami(&running, Some("Bearer s3cret")).await.unwrap();
    for bad in [
        None,
        Some("Bearer s3cre"),
        Some("s3cret"),
        Some("Basic s3cret"),
    ] {
        let status = whoami(&running, bad).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{bad:?}");
        assert!(!status.message().contains("s3cret"), "{status}");
    }
    let mut client = running.client().await;
    let fetch = client.fetch_chunks(FetchChunksRequest::default()).await;
    assert_eq!(fetch.unwrap_err().code(), Code::Unauthenticated);
    let schema = client
        .get_dataset_schema(about("d", GetDatasetSchemaRequest {}))
        .await;
    assert_eq!(schema.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn an_answer_names_the_server_and_the_trace() {
    let running = Running::of(&robots()).await;
    let mut client = running.client().await;
    let id = "0af7651916cd43dd8448eb211c80319c";
    let mut request = Request::new(VersionRequest {});
    let parent = format!("00-{id}-b7ad6b7169203331-01");
    request
        .metadata_mut()
        .insert("traceparent", parent.parse().unwrap());
    let answer = client.version(request).await.unwrap();
    let header = |name: &str| {
        answer
            .metadata()
            .get(name)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        header("x-rerun-server-version"),
        format!("segue/{}", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(header("x-request-trace-id"), id);
    // So does a failure, with a trace of its own.
    let status = client
        .read_dataset_entry(ReadDatasetEntryRequest {})
        .await
        .unwrap_err();
    let trace = status.metadata().get("x-request-trace-id").unwrap();
    assert_eq!(trace.to_str().unwrap().len(), 32);
}

#[tokio::test]
async fn what_is_not_served_is_unimplemented() {
    let running = Running::of(&robots()).await;
    let channel = Channel::from_shared(format!("http://{}", running.address));
    let channel = channel.unwrap().connect().await.unwrap();
    for path in [
        "/rerun.cloud.v1alpha1.RerunCloudService/CreateDatasetEntry",
        "/rerun.cloud.v1alpha1.RerunCloudService/RegisterWithDataset",
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    ] {
        let mut grpc = Grpc::new(channel.clone());
        grpc.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<VersionRequest, VersionResponse>::default();
        let path = http::uri::PathAndQuery::from_static(path);
        let answer = grpc
            .unary(Request::new(VersionRequest {}), path.clone(), codec)
            .await;
        assert_eq!(answer.unwrap_err().code(), Code::Unimplemented, "{path}");
    }
}

#[tokio::test]
async fn with_a_certificate_it_speaks_tls_and_nothing_else() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let server = ChunkServer::builder(source(&robots()));
    let server = server.tls(cert.pem(), signing_key.serialize_pem());
    let running = Running::start(server).await;
    let tls = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(cert.pem()))
        .domain_name("localhost");
    let channel = Channel::from_shared(format!("https://{}", running.address)).unwrap();
    let channel = channel.tls_config(tls).unwrap().connect().await.unwrap();
    let mut client = RerunCloudServiceClient::new(channel);
    assert!(client.who_am_i(WhoAmIRequest {}).await.is_ok());
    let plain = Channel::from_shared(format!("http://{}", running.address)).unwrap();
    let mut plain = RerunCloudServiceClient::new(plain.connect_lazy());
    assert!(plain.who_am_i(WhoAmIRequest {}).await.is_err());
}

#[tokio::test]
async fn what_a_server_cannot_be_made_of_is_said_before_it_listens() {
    let free = || ([127, 0, 0, 1], 0).into();
    let builder = || ChunkServer::builder(source(&robots()));
    let error = builder().token("").bind(free()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    let error = builder()
        .tls("no certificate", "no key")
        .bind(free())
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    let running = Running::of(&robots()).await;
    let error = builder().bind(running.address).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TransportUnavailable);
    assert!(
        error.message().contains(&running.address.to_string()),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_is_not_shown() {
    let server = ChunkServer::builder(source(&robots())).token("s3cret");
    assert!(!format!("{server:?}").contains("s3cret"));
}
