//! Serves a folder until it is interrupted: `cargo run --example serve -- FOLDER 127.0.0.1:51234`.

use std::error::Error;
use std::net::SocketAddr;

use segue_chunk::LocalSource;
use segue_chunk_server::ChunkServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder is missing")?;
    let address: SocketAddr = arguments.next().ok_or("the address is missing")?.parse()?;
    let source = LocalSource::builder().folder(folder).build()?;
    let server = ChunkServer::builder(source).bind(address).await?;
    println!("listening at {}", server.local_addr());
    server
        .serve(async {
            // Without signals there is no other way to stop than to be killed.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
        .await?;
    Ok(())
}
