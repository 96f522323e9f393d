//! `facedp serve`, as a user starts it. The page itself is tested in `facedp-web`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use support::facedp;

/// A server that ends with its test.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let server = Self::with(folder, &[]);
        assert!(!server.token.is_empty());
        server
    }

    fn with(folder: &Path, more: &[&str]) -> Self {
        Self::spawned(Command::new(env!("CARGO_BIN_EXE_facedp")), folder, more)
    }

    fn spawned(mut program: Command, folder: &Path, more: &[&str]) -> Self {
        let mut child = program
            .args(["serve", "--no-open", "--json", "--no-ledger", "--key", "my.key"])
            .args(more)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        let [url, token] =
            ["url", "token"].map(|name| said[name].as_str().unwrap_or_default().to_owned());
        let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        let query = if token.is_empty() { String::new() } else { format!("?token={token}") };
        assert_eq!(url, format!("http://{address}/{query}"));
        assert_eq!(said["api"], format!("http://{address}/api/v1"));
        Self { child, address, token }
    }

    /// Sends the head of a request; the answer.
    fn ask(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn the_page_is_served_to_this_machine_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(facedp(folder.path(), &["key", "new", "my.key"]).code, 0);
    let first = Server::start(folder.path());
    // The usual port is taken by now.
    let second = Server::start(folder.path());
    assert_ne!(first.address, second.address);
    for server in [&first, &second] {
        assert!(server.address.starts_with("127.0.0.1:"), "{}", server.address);
        let Server { address, token, .. } = server;
        let stranger = server.ask(&format!("GET / HTTP/1.1\r\nHost: {address}"));
        assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
        let page = server.ask(&format!("GET /?token={token} HTTP/1.1\r\nHost: {address}"));
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("<!doctype html>"), "{page}");
        for head in [
            "GET / HTTP/1.1\r\nHost: evil.example".to_owned(),
            "GET / HTTP/1.0".to_owned(),
            format!("GET http://evil.example/ HTTP/1.1\r\nHost: {}", server.address),
        ] {
            let answer = server.ask(&head);
            assert!(
                answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.0 403"),
                "{answer}"
            );
        }
    }
    let port = first.address.split(':').nth(1).unwrap();
    let taken = facedp(folder.path(), &["serve", "--no-open", "--port", port, "--key", "my.key"]);
    assert_eq!(taken.code, 1);
    assert!(
        taken.stderr.contains(&first.address) && taken.stderr.contains("--port"),
        "{}",
        taken.stderr
    );
}

/// Other users can read the token in the command line of the browser.
#[test]
#[cfg(target_os = "linux")]
fn other_users_get_no_answer_even_with_the_token() {
    use std::os::unix::fs::{MetadataExt, chown};
    use std::os::unix::process::CommandExt;
    const OWNER: u32 = 64_001;
    const OTHER: u32 = 64_002;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return; // only root can become two users
    }
    // Where both can run it.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let program = folder.path().join("facedp");
    // By another process: programs that tests beside this one start would hold a copy of our own open for writing, and
    // then it cannot be run ("text file busy").
    let mut copying = Command::new("cp");
    copying.args([Path::new(env!("CARGO_BIN_EXE_facedp")), &program]);
    assert!(copying.status().unwrap().success());
    support::write_key(&folder.path().join("my.key"), 7);
    for path in [folder.path(), &folder.path().join("my.key")] {
        chown(path, Some(OWNER), Some(OWNER)).unwrap();
    }
    let mut command = Command::new(program);
    command.uid(OWNER).gid(OWNER);
    let server = Server::spawned(command, folder.path(), &[]);
    let asked = |user: u32, address: &str| {
        let Server { token, .. } = &server;
        let page = format!("http://{address}/?token={token}");
        let mut curl = Command::new("curl");
        curl.args(["-s", "-w", " %{http_code}", &page]).current_dir("/").uid(user).gid(user);
        String::from_utf8(curl.output().unwrap().stdout).unwrap()
    };
    assert!(asked(OWNER, &server.address).ends_with(" 200"));
    assert!(asked(0, &server.address).ends_with(" 200"));
    let refused = asked(OTHER, &server.address);
    assert!(refused.ends_with(" 403") && refused.contains("another user"), "{refused}");
}

/// The README's lines for curl work as pasted, to the end.
#[test]
#[cfg(unix)]
fn the_readme_speaks_to_the_api() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let block = readme.split("<!-- tried: curl -->\n```sh\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    assert_eq!(block.matches("curl ").count(), 2, "{block}");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(format!("{root}/examples"), folder.path().join("examples")).unwrap();
    assert_eq!(facedp(folder.path(), &["key", "new", "my.key"]).code, 0);
    let server = Server::with(folder.path(), &["--no-token"]);
    // The port may be taken by another test.
    let script = block.replace("localhost:4680", &server.address);
    let done =
        Command::new("sh").args(["-ec", &script]).current_dir(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let seen = String::from_utf8(done.stdout).unwrap();
    assert!(seen.contains(r#""state":"done""#) && seen.contains("landmarks"), "{seen}");
    let changed = std::fs::read(folder.path().join("collins-changed.jpg")).unwrap();
    let original = std::fs::read(folder.path().join("examples/photos/collins.jpg")).unwrap();
    assert!(changed.starts_with(&[0xff, 0xd8]) && changed != original);
    assert!(
        readme.contains("Authorization: Bearer TOKEN") && readme.contains("serve --no-open --json")
    );
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (args, code, words) in [
        (&["--port", "0"][..], 2, "--port"),
        (&["--port", "70000"], 2, "--port"),
        (&["--key", "none.key"], 1, "none.key"),
        (&["--ledger", "a", "--no-ledger"], 2, "--no-ledger"),
    ] {
        let outcome = facedp(path, &[&["serve", "--no-open"], args].concat());
        assert_eq!(outcome.code, code, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{args:?}: {}", outcome.stderr);
    }
}
