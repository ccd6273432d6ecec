//! A server of HTTP/2 that sends whatever bytes it is told to.

use std::sync::Arc;

use bytes::Bytes;
use h2::SendStream;
use h2::server::SendResponse;
use http::{HeaderMap, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Answers a request for a path.
pub(crate) type Answer = Arc<dyn Fn(&str, SendResponse<Bytes>) + Send + Sync>;

/// Starts a server that runs for as long as the tasks live; the address of its catalog.
pub(crate) async fn serve(answer: Answer) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("rerun+http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connection(stream, Arc::clone(&answer)));
        }
    });
    (url, tasks)
}

/// Answers all requests of one connection.
async fn connection(stream: TcpStream, answer: Answer) -> Result<(), h2::Error> {
    stream.set_nodelay(true).unwrap();
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(request) = connection.accept().await {
        let (request, respond) = request?;
        answer(request.uri().path(), respond);
    }
    Ok(())
}

/// Begins an answer of gRPC, with the first bytes of its body.
pub(crate) fn begin(mut respond: SendResponse<Bytes>, body: &[u8]) -> SendStream<Bytes> {
    let response = Response::builder().header("content-type", "application/grpc");
    let response = response.body(()).unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    stream
        .send_data(Bytes::copy_from_slice(body), false)
        .unwrap();
    stream
}

/// The trailers of a call that went well.
pub(crate) fn fine() -> HeaderMap {
    HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())])
}
