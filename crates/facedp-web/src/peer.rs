//! Whose program is at the other end of a connection.
//!
//! The browser is started with the page's address, token included, and on Linux every user can read how programs were
//! started. So the token alone does not tell users apart there; the system, which knows the owner of each socket, does.

use std::net::SocketAddr;

/// Users of the machine, as the system knows them; none where it does not tell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner(Option<u32>);

impl Owner {
    /// The user of this process. A server that root runs is for other users as well: its token must do.
    #[cfg(target_os = "linux")]
    pub fn own() -> Self {
        use std::os::unix::fs::MetadataExt;
        let user = std::fs::metadata("/proc/self").ok().map(|process| process.uid());
        Self(user.filter(|user| *user != 0))
    }

    #[cfg(not(target_os = "linux"))]
    pub fn own() -> Self {
        Self(None)
    }

    /// Whether the client's end of a connection to `server` belongs to another user, or to nobody: a client that has closed
    /// its end already may have been anybody. Reads the lists of all connections.
    pub fn is_foreign(self, server: SocketAddr, client: SocketAddr) -> bool {
        let Some(own) = self.0 else { return false };
        let lists = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
        // Lists come in pieces, and can miss a connection while others end.
        let found = (0..TRIES).find_map(|_| {
            let mut texts = lists.iter().filter_map(|list| std::fs::read_to_string(list).ok());
            texts.find_map(|text| owner(&text, client, server))
        });
        found.is_none_or(|user| user != 0 && user != own)
    }
}

/// How often a connection is looked for.
const TRIES: usize = 3;

/// The user whose socket has these ends, in a list as Linux writes it; none if no program holds it any more, since such
/// sockets count as root's.
fn owner(list: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    list.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let is = |text: Option<&str>, end: SocketAddr| text.and_then(port_and_host) == Some(end);
        let (first, second) = (fields.next(), fields.next());
        // State, queues, timer, retransmissions; then the user.
        let user = fields.nth(4)?;
        // After a timeout, the number of the file that a program holds.
        let held = fields.nth(1)? != "0";
        (held && is(first, local) && is(second, remote)).then(|| user.parse().ok())?
    })
}

/// An end of a connection: words of the address as the processor has them, and the port. IPv4 in IPv6 becomes IPv4.
fn port_and_host(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(host.get(8 * at..8 * at + 8)?, 16).ok();
    let words: Vec<u8> = (0..host.len() / 8).filter_map(word).flat_map(u32::to_ne_bytes).collect();
    let host = match words.len() {
        4 => std::net::IpAddr::from(<[u8; 4]>::try_from(words).ok()?),
        _ => std::net::IpAddr::from(<[u8; 16]>::try_from(words).ok()?).to_canonical(),
    };
    Some(SocketAddr::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn owners_are_found_in_the_lists() {
        let list = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1248 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0\n\
             1: 0100007F:1248 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0\n\
             2: 0100007F:C350 0100007F:1248 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0\n";
        let end = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let (server, client) = (end(4680), end(50000));
        assert_eq!(owner(list, client, server), Some(1001));
        assert_eq!(owner(list, server, client), Some(1000));
        assert_eq!(owner(list, end(50001), server), None);
        assert_eq!(owner("", client, server), None);
        let closed = list.replace("1001        0 3", "0        0 0");
        assert_eq!(owner(&closed, client, server), None);
        let six = "header\n 0: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:1248 01 \
                   0:0 00:0 0 1002 0 4\n";
        assert_eq!(owner(six, client, server), Some(1002));
    }
}
