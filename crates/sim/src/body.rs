//! Response bodies: bytes, a truncated body, or a watch stream.
//!
//! Invariants: dropping the body of a watch closes the watch.
//!
//! Elsewhere: the events in the stream (`api::watch`).

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};

use super::api::WatchId;
use super::cluster::SimCluster;
use super::service::ConnectionReset;

pub struct SimBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    /// Bytes, and then the connection breaks.
    Cut(Option<Bytes>),
    Watch(BoxStream<'static, Result<Bytes, ConnectionReset>>),
}

impl SimBody {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(Some(bytes)))
    }

    pub(super) fn cut(bytes: Bytes) -> Self {
        Self(Kind::Cut(Some(bytes)))
    }

    /// Bytes, and then no further frame.
    pub(super) fn stalled(bytes: Bytes) -> Self {
        use futures::StreamExt as _;
        let first = futures::stream::once(async move { Ok(bytes) });
        Self(Kind::Watch(Box::pin(first.chain(futures::stream::pending()))))
    }

    pub(super) fn watch(cluster: SimCluster, id: WatchId) -> Self {
        let open = OpenWatch { cluster, id, ready: VecDeque::new(), ended: false };
        Self(Kind::Watch(Box::pin(futures::stream::unfold(open, OpenWatch::next))))
    }
}

impl Body for SimBody {
    type Data = Bytes;
    type Error = ConnectionReset;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ConnectionReset>>> {
        match &mut self.0 {
            Kind::Whole(bytes) => {
                Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty()).map(|b| Ok(Frame::data(b))))
            }
            Kind::Cut(bytes) => Poll::Ready(Some(bytes.take().map(Frame::data).ok_or(ConnectionReset))),
            Kind::Watch(stream) => {
                stream.as_mut().poll_next(context).map(|next| next.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Cut(_) | Kind::Watch(_) => SizeHint::default(),
        }
    }
}

struct OpenWatch {
    cluster: SimCluster,
    id: WatchId,
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl OpenWatch {
    /// Returns the next line; waits for a change, a bookmark or the end of the stream.
    async fn next(mut self) -> Option<(Result<Bytes, ConnectionReset>, Self)> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some((Ok(line), self));
            }
            if self.ended {
                return None;
            }
            let cluster = self.cluster.clone();
            // Subscribe before reading, so that a change in between is not missed.
            let changed = cluster.changed().notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if cluster.is_disconnected() {
                self.ended = true;
                return Some((Err(ConnectionReset), self));
            }
            let now = cluster.now();
            let (poll, wakes_at) = {
                let mut server = cluster.lock();
                let poll = server.poll_watch(self.id, now);
                (poll, server.watch_wakes_at(self.id))
            };
            self.ready.extend(poll.lines);
            self.ended = poll.ended;
            if !self.ready.is_empty() || self.ended {
                continue;
            }
            match wakes_at {
                Some(at) => {
                    let _elapsed = tokio::time::timeout_at(cluster.instant_of(at), changed).await;
                }
                None => changed.await,
            }
        }
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.cluster.lock().close_watch(self.id);
    }
}
