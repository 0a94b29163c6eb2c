//! A raw server in front of a simulated cluster: answers the attacked requests byte for byte, passes every other one on.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Answers the nth attacked request, given its head: false when it is to be passed on.
pub type Attack = dyn Fn(&mut TcpStream, u64, &str) -> bool + Send + Sync;

/// Which requests of the attacked path are answered by the attack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Attacked {
    Lists,
    Watches,
}

/// The list that orphans are judged by.
pub const CONTROL_PLANES: &str = "/apis/hypershift.openshift.io/v1beta1/hostedcontrolplanes?";
pub const HOSTED_CLUSTERS: &str = "/apis/hypershift.openshift.io/v1beta1/hostedclusters?";

impl Attacked {
    fn is(self, head: &str) -> bool {
        head.contains("watch=true") == (self == Self::Watches)
    }
}

/// Reads the head of a request.
fn head_of(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Passes a request on and its answer back. Requests of an observer have no body.
fn pass_on(mut client: TcpStream, head: &str, server: SocketAddr) {
    let Ok(mut upstream) = TcpStream::connect(server) else { return };
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    if upstream.write_all(head.as_bytes()).is_ok() {
        std::io::copy(&mut upstream, &mut client).ok();
    }
}

/// A server in front of another, which attacks the requests of these paths.
pub fn hostile(server: SocketAddr, paths: &'static [&'static str], on: Attacked, attack: Arc<Attack>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (attack, requests) = (attack.clone(), requests.clone());
            std::thread::spawn(move || {
                let mut stream = stream;
                let Some(head) = head_of(&mut stream) else { return };
                let is_attacked = paths.iter().any(|path| head.contains(path)) && on.is(&head);
                if !is_attacked || !attack(&mut stream, requests.fetch_add(1, Ordering::Relaxed), &head) {
                    pass_on(stream, &head, server);
                }
            });
        }
    });
    address
}
