//! Address of the client. It is neither kept nor logged; limits use a hash of its block.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use sha2::{Digest, Sha256};

/// Address of the connection; the accept loop adds it to each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Hash of the address block that a request came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block(pub(crate) [u8; 16]);

/// Distinguishes the address blocks that requests come from.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    /// Text that addresses are hashed with.
    pub(crate) secret: Arc<[u8]>,
    pub(crate) behind_proxy: bool,
}

impl Clients {
    /// Hash of the address block of a request with these extensions and headers.
    pub(crate) fn block_of(&self, extensions: &Extensions, headers: &HeaderMap) -> [u8; 16] {
        let peer = extensions.get::<Peer>().copied();
        block_hash(&self.secret, client(peer, headers, self.behind_proxy))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Block
where
    Clients: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let clients = Clients::from_ref(state);
        Ok(Self(clients.block_of(&parts.extensions, &parts.headers)))
    }
}

/// The address that a request came from. A proxy in front appends the address that it saw: the last one counts, because
/// everything before it is the client's own word.
fn client(peer: Option<Peer>, headers: &HeaderMap, behind_proxy: bool) -> IpAddr {
    let direct = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    if !behind_proxy {
        return direct;
    }
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let last =
        forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.unwrap_or(direct)
}

/// The hash of the block of an address: 256 addresses of version 4, or the /56 that one household gets in version 6.
pub(crate) fn block_hash(secret: &[u8], address: IpAddr) -> [u8; 16] {
    let block = match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, 0))
        }
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 72 << 72)),
    };
    let hash = Sha256::new()
        .chain_update(secret)
        .chain_update(block.to_string())
        .finalize();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(address: &str) -> [u8; 16] {
        block_hash(b"secret", address.parse().unwrap())
    }

    #[test]
    fn neighbours_share_a_block_and_spellings_do_not_matter() {
        assert_eq!(hash("192.0.2.1"), hash("192.0.2.200"));
        assert_ne!(hash("192.0.2.1"), hash("192.0.3.1"));
        assert_eq!(hash("::ffff:192.0.2.1"), hash("192.0.2.9"));
        assert_eq!(hash("2001:db8:0:1ff::1"), hash("2001:db8:0:100::2"));
        assert_ne!(hash("2001:db8:0:100::1"), hash("2001:db8:0:200::1"));
        assert_ne!(
            hash("192.0.2.1"),
            block_hash(b"other", "192.0.2.1".parse().unwrap())
        );
    }

    #[test]
    fn only_a_proxy_is_believed_and_only_its_own_word() {
        let peer = Some(Peer("127.0.0.1:9".parse().unwrap()));
        let mut headers = HeaderMap::new();
        headers.append(
            "x-forwarded-for",
            "198.51.100.1, 203.0.113.5".parse().unwrap(),
        );
        assert_eq!(client(peer, &headers, false).to_string(), "127.0.0.1");
        assert_eq!(client(peer, &headers, true).to_string(), "203.0.113.5");
        headers.append("x-forwarded-for", "nonsense".parse().unwrap());
        assert_eq!(client(peer, &headers, true).to_string(), "127.0.0.1");
    }
}
