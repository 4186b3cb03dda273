//! A connection that is closed if its client does not read.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::http::connections::{Busy, Seat};

/// A connection; writing fails if the client reads nothing for a time.
#[derive(Debug)]
pub(crate) struct Stream {
    inner: TcpStream,
    stall_time: Duration,
    seat: Arc<Seat>,
    /// End of the time, while a write waits; such a connection is not idle.
    stalled: Option<(Pin<Box<Sleep>>, Busy)>,
}

impl Stream {
    pub(crate) fn new(inner: TcpStream, stall_time: Duration, seat: Arc<Seat>) -> Self {
        Self {
            inner,
            stall_time,
            seat,
            stalled: None,
        }
    }

    /// Passes on the result of a write; counts the time for which it waits.
    fn watch(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<usize>>,
    ) -> Poll<Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let (stall_time, seat) = (self.stall_time, Arc::clone(&self.seat));
        let (stalled, _) = self
            .stalled
            .get_or_insert_with(|| (Box::pin(sleep(stall_time)), seat.busy()));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(Error::new(
            ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
