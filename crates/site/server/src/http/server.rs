//! The accept loop. It bounds what a connection may cost before a request is there: time to the first byte, time and
//! size of the head, connections at a time and of one address block. Idle connections make room for new ones.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::error::SiteError;
use crate::http::connections::{Connections, Seat};
use crate::http::peer::{Peer, block_hash};
use crate::http::stream::Stream;

/// Time to the first byte of a connection, for the head of a request, and between two requests.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time in which a client has to read some of an answer.
const STALL_TIME: Duration = Duration::from_secs(30);
/// Most headers of a request.
const MOST_HEADERS: usize = 64;
/// Most bytes of the head of a request.
const MOST_HEAD_BYTES: usize = 16 << 10;
/// Time that requests under way have when the site ends.
const END_TIME: Duration = Duration::from_secs(3);
/// Connections that wait to be accepted, as far as the system allows (`net.core.somaxconn`). A client beyond that tries again after a second.
const BACKLOG: u32 = 4096;
/// Share of all connections that one address block may have: a sixteenth.
const BLOCK_SHARE: usize = 16;
/// Idle connections that close when the system has no file handle left.
const ROOM: usize = 16;

/// A site that listens.
#[derive(Debug)]
pub struct Served {
    listener: TcpListener,
    connections: usize,
    behind_proxy: bool,
    head_time: Duration,
    stall_time: Duration,
    end_time: Duration,
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
        end_time: END_TIME,
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

    /// Sets the time that requests under way have when the site ends.
    #[must_use]
    pub fn with_end_time(self, end_time: Duration) -> Self {
        Self { end_time, ..self }
    }

    /// Answers requests until `end` is done, then lets those under way finish.
    pub async fn run(self, router: Router, end: impl Future<Output = ()>) {
        let door = Door {
            router,
            open: Connections::new(self.connections),
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
                        // Out of file handles: some become free.
                        tracing::warn!(%error, "a connection could not be accepted");
                        door.open.make_room(ROOM);
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                },
            }
        }
        drop(self.listener);
        // Also those that sent no request yet, which the others would wait for.
        door.open.close_idle();
        if timeout(self.end_time, door.graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("requests under way were cut off");
        }
    }
}

/// Settings common to all connections.
struct Door {
    router: Router,
    open: Arc<Connections>,
    behind_proxy: bool,
    head_time: Duration,
    stall_time: Duration,
    graceful: GracefulShutdown,
}

impl Door {
    fn take(&self, stream: TcpStream, address: SocketAddr) {
        let Some(seat) = enter(&self.open, address, self.behind_proxy) else {
            return;
        };
        let service = hyper::service::service_fn({
            let (router, seat) = (self.router.clone(), Arc::clone(&seat));
            move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(Peer(address));
                answered(router.clone(), request.map(Body::new), Arc::clone(&seat))
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
            let _ = stream.set_nodelay(true);
            let mut byte = [0];
            let first = tokio::select! {
                first = timeout(head_time, stream.peek(&mut byte)) => first,
                () = seat.dismissed() => return,
            };
            if !matches!(first, Ok(Ok(1..))) {
                return;
            }
            let stream = TokioIo::new(Stream::new(stream, stall_time, Arc::clone(&seat)));
            let connection = watcher.watch(builder.serve_connection(stream, service));
            let mut connection = std::pin::pin!(connection);
            tokio::select! {
                // Broken connections are the client's business.
                _ = &mut connection => return,
                () = seat.dismissed() => {}
            }
            // A request that arrived at that moment is answered; it is the last one.
            if seat.is_busy() {
                let _ = connection.await;
            }
        });
    }
}

/// Answers a request. Until all of the answer is handed over, the connection is not idle.
async fn answered(
    router: Router,
    request: Request<Body>,
    seat: Arc<Seat>,
) -> Result<Response<Body>, Infallible> {
    let busy = seat.busy();
    let mut response = router.oneshot(request).await?;
    if seat.is_dismissed() {
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(response.map(|body| {
        Body::new(body.map_err(move |error| {
            // The body owns this function, and with it the mark.
            let _ = &busy;
            error
        }))
    }))
}

/// Counts a connection; `None` if there are too many. A proxy's have no share: they are all that come, or come from this computer.
fn enter(open: &Arc<Connections>, address: SocketAddr, behind_proxy: bool) -> Option<Arc<Seat>> {
    let ip = address.ip().to_canonical();
    let is_proxy = behind_proxy || ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST;
    let most_of_block = match is_proxy {
        true => open.most(),
        false => (open.most() / BLOCK_SHARE).max(1),
    };
    open.enter(block_hash(&[], address.ip()), most_of_block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_cannot_take_all_places() {
        let open = Connections::new(32);
        let at = |address: &str| enter(&open, format!("{address}:1").parse().unwrap(), false);
        for block in ["192.0.2", "127.0.1"] {
            let two = ["1", "2"].map(|last| at(&format!("{block}.{last}")).unwrap());
            let busy: Vec<_> = two.iter().map(Seat::busy).collect();
            assert!(at(&format!("{block}.3")).is_none());
            assert!(at("198.51.100.1").is_some());
            drop((busy, two));
            assert!(at(&format!("{block}.3")).is_some());
        }
        for (proxy, behind_proxy) in [("192.0.2.3:1", true), ("127.0.0.1:1", false)] {
            let seats = (0..31).map(|_| enter(&open, proxy.parse().unwrap(), behind_proxy));
            let seats: Vec<_> = seats.map(Option::unwrap).collect();
            let _busy: Vec<_> = seats.iter().map(Seat::busy).collect();
            assert!(!seats.iter().any(|seat| seat.is_dismissed()));
        }
    }
}
