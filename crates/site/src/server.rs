//! The accept loop. It bounds what a connection may cost before a request is there: time to the first byte, time and
//! size of the head, connections at a time and of one address block.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::error::SiteError;
use crate::peer::{Peer, block_hash};
use crate::shares::{Share, Shares};
use crate::stream::Stream;

/// Time to the first byte of a connection, for the head of a request, and between two requests.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time in which a client has to read some of an answer.
const STALL_TIME: Duration = Duration::from_secs(30);
/// Most headers of a request.
const MOST_HEADERS: usize = 64;
/// Most bytes of the head of a request.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// Time that requests under way have when the site ends.
const END_TIME: Duration = Duration::from_secs(20);
/// Connections that wait to be accepted, as far as the system allows (`net.core.somaxconn`). A client beyond that tries again after a second.
const BACKLOG: u32 = 4096;
/// Share of all connections that one address block may have: a sixteenth.
const BLOCK_SHARE: usize = 16;

/// A site that listens.
#[derive(Debug)]
pub struct Served {
    listener: TcpListener,
    connections: usize,
    behind_proxy: bool,
    head_time: Duration,
    stall_time: Duration,
}

/// Opens the port. Behind a proxy all connections come from one address, and none has a share of its own.
///
/// # Errors
/// If the address cannot be used.
///
/// # Panics
/// Outside a runtime of tokio.
pub fn listen(
    address: SocketAddr,
    connections: usize,
    behind_proxy: bool,
) -> Result<Served, SiteError> {
    let listener = bind(address).map_err(|source| SiteError::Listen { address, source })?;
    Ok(Served {
        listener,
        connections,
        behind_proxy,
        head_time: HEAD_TIME,
        stall_time: STALL_TIME,
    })
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // A restarted site gets its port although connections of the last one are about to end.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Served {
    /// The address, with the port that the system chose.
    ///
    /// # Errors
    /// If the system does not know it.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Sets the time to the first byte of a connection, for the head of a request, and between two requests.
    #[must_use]
    pub fn with_head_time(self, head_time: Duration) -> Self {
        Self { head_time, ..self }
    }

    /// Sets the time in which a client has to read some of an answer.
    #[must_use]
    pub fn with_stall_time(self, stall_time: Duration) -> Self {
        Self { stall_time, ..self }
    }

    /// Answers requests until `end` is done, then lets those under way finish.
    pub async fn run(self, router: Router, end: impl Future<Output = ()>) {
        let door = Door {
            router,
            open: Shares::new(self.connections),
            behind_proxy: self.behind_proxy,
            head_time: self.head_time,
            stall_time: self.stall_time,
            graceful: GracefulShutdown::new(),
        };
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => door.take(stream, address),
                    Err(error) => {
                        // Out of file handles: those of others become free.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        drop(self.listener);
        if timeout(END_TIME, door.graceful.shutdown()).await.is_err() {
            tracing::warn!("requests under way were cut off");
        }
    }
}

/// Settings common to all connections.
struct Door {
    router: Router,
    open: Arc<Shares>,
    behind_proxy: bool,
    head_time: Duration,
    stall_time: Duration,
    graceful: GracefulShutdown,
}

impl Door {
    fn take(&self, stream: TcpStream, address: SocketAddr) {
        let Some(place) = enter(&self.open, address, self.behind_proxy) else {
            return;
        };
        let service = hyper::service::service_fn({
            let router = self.router.clone();
            move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(Peer(address));
                router.clone().oneshot(request.map(axum::body::Body::new))
            }
        });
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.head_time)
            .max_headers(MOST_HEADERS)
            .max_buf_size(MOST_HEAD_BYTES);
        let (watcher, head_time, stall_time) =
            (self.graceful.watcher(), self.head_time, self.stall_time);
        tokio::spawn(async move {
            let _place = place;
            let _ = stream.set_nodelay(true);
            let first = timeout(head_time, stream.peek(&mut [0])).await;
            if !matches!(first, Ok(Ok(1..))) {
                return;
            }
            let stream = TokioIo::new(Stream::new(stream, stall_time));
            let connection = builder.serve_connection(stream, service);
            // Broken connections are the client's business.
            let _ = watcher.watch(connection).await;
        });
    }
}

/// Counts a connection; `None` if there are too many. Connections of this computer are those of a proxy.
fn enter(open: &Arc<Shares>, address: SocketAddr, behind_proxy: bool) -> Option<Share> {
    let most_of_block = match behind_proxy || address.ip().is_loopback() {
        true => open.most(),
        false => (open.most() / BLOCK_SHARE).max(1),
    };
    let mut place = Share::of(open, block_hash(&[], address.ip()));
    place.take(1, most_of_block).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_cannot_take_all_places() {
        let open = Shares::new(32);
        let at = |address: &str| enter(&open, format!("{address}:1").parse().unwrap(), false);
        let two = [at("192.0.2.1"), at("192.0.2.2")];
        assert!(two.iter().all(Option::is_some));
        assert!(at("192.0.2.3").is_none());
        assert!(at("198.51.100.1").is_some());
        drop(two);
        assert!(at("192.0.2.3").is_some());
        let proxy = "192.0.2.3:1".parse().unwrap();
        let many: Vec<_> = (0..31).map(|_| enter(&open, proxy, true)).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
