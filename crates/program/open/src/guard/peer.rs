//! Owner of the other end of a connection within this computer, from the kernel's list of sockets (proc_pid_net(5)).

use std::net::SocketAddrV4;

/// Lists of sockets. A socket of version 6 can have an address of version 4.
const LISTS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Before an address of version 4 in the list of version 6.
const MAPPED: &str = "0000000000000000FFFF0000";

/// Owner of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A process of the user with this id.
    User(u32),
    /// No process holds it any more.
    Nobody,
    /// The kernel shows no connections.
    Unknown,
}

/// Returns the owner of the end `peer` of a connection to `own`, which is this process's end.
pub(super) fn of(peer: SocketAddrV4, own: SocketAddrV4) -> Owner {
    let lists = LISTS.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let find = |local, remote| lists.iter().find_map(|list| owner_in(list, local, remote));
    match (find(peer, own), find(own, peer)) {
        (Some(owner), _) => owner,
        // Our end is listed as long as it is open.
        (None, Some(_)) => Owner::Nobody,
        (None, None) => Owner::Unknown,
    }
}

/// Owner of the socket with these addresses in a list.
fn owner_in(list: &str, local: SocketAddrV4, remote: SocketAddrV4) -> Option<Owner> {
    let (local, remote) = (shown(local), shown(remote));
    let is = |found: &str, wanted: &str| found.strip_prefix(MAPPED).unwrap_or(found) == wanted;
    list.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (from, to) = (words.nth(1)?, words.next()?);
        if !is(from, &local) || !is(to, &remote) {
            return None;
        }
        let user = words.nth(4)?.parse().ok()?;
        // A socket without a file is of a process that closed it; its user is shown as 0.
        match words.nth(1)? {
            "0" => Some(Owner::Nobody),
            _ => Some(Owner::User(user)),
        }
    })
}

/// The address as the kernel writes it: bytes in the processor's order.
fn shown(address: SocketAddrV4) -> String {
    let ip = u32::from_ne_bytes(address.ip().octets());
    format!("{ip:08X}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    use super::*;

    const LIST: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
         0: 0100007F:1FC7 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 635 1 0 100 0 0 10 0\n   \
         1: 0100007F:C350 0100007F:1FC7 01 00000000:00000000 00:00000000 00000000 65534        0 700 1 0 20 4 30 10 -1\n   \
         2: 0100007F:C351 0100007F:1FC7 04 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1\n   \
         3: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1FC7 01 00000000:00000000 00:00000000 \
         00000000  1000        0 702 1 0 20 4 30 10 -1\n";

    fn at(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn the_owner_is_that_of_the_other_end() {
        let own = at(8135);
        for (port, owner) in [
            (50_000, Some(Owner::User(65534))),
            (50_001, Some(Owner::Nobody)),
            (50_002, Some(Owner::User(1000))),
            (50_003, None),
        ] {
            assert_eq!(owner_in(LIST, at(port), own), owner, "{port}");
        }
    }

    #[test]
    fn our_own_connection_is_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let (SocketAddr::V4(peer), SocketAddr::V4(own)) =
            (server.peer_addr().unwrap(), server.local_addr().unwrap())
        else {
            panic!("addresses of version 4");
        };
        let user = rustix::process::getuid().as_raw();
        assert_eq!(of(peer, own), Owner::User(user));
        drop(client);
        assert_eq!(of(peer, own), Owner::Nobody);
    }
}
