//! Daemons, proxies and clients of scenarios.
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use armature_client::testing::Daemon;
use armature_client::{Client, Error, Retry, Tls};
use serde_yaml_ng::Value as Yaml;

use crate::values::{has, is_true, member, texts, Failure};
use crate::UNTIL_TIME;

/// What all scenarios share.
pub struct World {
    pub scenarios: PathBuf,
    pub tables: Yaml,
    certificates: Mutex<Option<PathBuf>>,
}

impl World {
    pub fn new(scenarios: PathBuf, tables: Yaml) -> Self {
        Self { scenarios, tables, certificates: Mutex::new(None) }
    }

    /// The directory with certificates, which are made once.
    fn certificates(&self) -> PathBuf {
        let mut made = self.certificates.lock().expect("no panic with the lock");
        made.get_or_insert_with(|| {
            let directory = std::env::temp_dir().join(format!("armature-{}", armature_client::new_token()));
            std::fs::create_dir(&directory).expect("a temporary directory");
            let output =
                Command::new(self.scenarios.join("certificates")).arg(&directory).output().expect("certificates");
            assert!(output.status.success(), "{output:?}");
            directory
        })
        .clone()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(directory) = self.certificates.get_mut().expect("no panic with the lock") {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// A daemon with its proxy.
pub struct Place<'a> {
    world: &'a World,
    options: Yaml,
    pub daemon: Daemon,
    proxy: Option<Proxy>,
    /// A bound socket that does not listen.
    dead: Option<socket2::Socket>,
}

impl<'a> Place<'a> {
    pub fn new(world: &'a World, options: &Yaml) -> Self {
        let mut builder = Daemon::builder().argument("--durability=os");
        for flag in texts(member(options, "flags")) {
            builder = builder.argument(flag);
        }
        let file = |name: &str| world.certificates().join(name).display().to_string();
        if is_true(options, "tls") {
            builder = builder.argument(format!("--tls_cert={}", file("server.pem")));
            builder = builder.argument(format!("--tls_key={}", file("server.key")));
        }
        if is_true(options, "client_certificates") {
            builder = builder.argument(format!("--tls_client_ca={}", file("ca.pem")));
        }
        if is_true(options, "credentials") {
            builder = builder.argument(format!("--credentials_file={}", file("credentials.json")));
        }
        let daemon = builder.start().expect("a daemon");
        Self { world, options: options.clone(), daemon, proxy: None, dead: None }
    }

    /// The client that makes the tables.
    pub fn owner(&mut self) -> Client {
        let mut options = serde_yaml_ng::Mapping::new();
        if is_true(&self.options, "tls") {
            options.insert("tls".into(), true.into());
        }
        if is_true(&self.options, "credentials") {
            let key: Vec<Yaml> = vec!["writer".into(), "secret-of-the-writer".into()];
            options.insert("access_key".into(), key.into());
        }
        self.open(&options.into()).expect("the owner's client")
    }

    pub fn open(&mut self, options: &Yaml) -> Result<Client, Error> {
        let mut builder = Client::builder(self.addresses(options));
        if has(options, "timeout") {
            builder = builder.timeout(seconds(member(options, "timeout")));
        }
        if member(options, "retries") == &Yaml::Bool(false) {
            builder = builder.retry(Retry::none());
        }
        if let [id, secret] = &texts(member(options, "access_key"))[..] {
            builder = builder.access_key(id, secret);
        }
        if is_true(options, "session") {
            builder = builder.read_your_writes();
        }
        if member(options, "tls") == &Yaml::String("system".into()) {
            builder = builder.tls(Tls::new());
        }
        if is_true(options, "tls") {
            let directory = self.world.certificates();
            let mut tls = Tls::new().authorities(directory.join("ca.pem"));
            if is_true(options, "certificate") {
                tls = tls.identity(directory.join("client.pem"), directory.join("client.key"));
            }
            builder = builder.tls(tls);
        }
        builder.build()
    }

    fn addresses(&mut self, options: &Yaml) -> String {
        if is_true(options, "proxy") {
            let program = self.world.scenarios.join("proxy.py");
            return self.proxy.get_or_insert_with(|| Proxy::start(&program, self.daemon.address())).address.clone();
        }
        let names = texts(member(options, "addresses"));
        if names.is_empty() {
            return self.daemon.address().to_owned();
        }
        let addresses = names.iter().map(|name| match name.as_str() {
            "dead" => self.dead_address(),
            "unresolved" => "nothing.invalid:7700".to_owned(),
            _ => self.daemon.address().to_owned(),
        });
        addresses.collect::<Vec<_>>().join(",")
    }

    /// An address where nobody listens: the port stays bound, so that nobody else takes it.
    fn dead_address(&mut self) -> String {
        let socket = self.dead.get_or_insert_with(|| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
            socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port");
            socket
        });
        socket.local_addr().expect("an address").as_socket().expect("an address").to_string()
    }

    pub fn daemon_step(&mut self, command: &str) -> Result<(), Failure> {
        let daemon = &mut self.daemon;
        let done = match command {
            "kill" => daemon.kill(),
            "stop" => daemon.stop(),
            "start" | "restart" => daemon.restart(),
            "pause" => daemon.signal("STOP").map(|()| await_stopped(daemon.pid().expect("runs"))),
            "continue" => daemon.signal("CONT"),
            other => panic!("unknown step of the daemon: {other}"),
        };
        done.map_err(|error| error.to_string())
    }

    pub fn proxy_step(&mut self, step: &Yaml) -> Result<(), Failure> {
        let command = match member(step, "lose_answer_to") {
            Yaml::String(text) => format!("lose_answer_to {text}"),
            _ => step.as_str().expect("a command").to_owned(),
        };
        self.proxy.as_mut().ok_or("there is no proxy")?.command(&command)
    }
}

/// The time in a member.
pub fn seconds(node: &Yaml) -> Duration {
    // A negative time is none, which is not positive either.
    Duration::from_secs_f64(node.as_f64().expect("a number").max(0.0))
}

/// Waits until SIGSTOP has acted on a process: its signal may take a moment.
fn await_stopped(pid: u32) {
    let begin = Instant::now();
    while begin.elapsed() < UNTIL_TIME {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the state of the daemon");
        if state.rsplit_once(") ").is_some_and(|(_, behind_name)| behind_name.starts_with('T')) {
            return;
        }
    }
    panic!("the daemon does not stop");
}

/// The proxy of the scenarios, as a process.
struct Proxy {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    address: String,
}

impl Proxy {
    fn start(program: &Path, daemon: &str) -> Self {
        let command =
            Command::new("python3").arg(program).arg(daemon).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = command.expect("the proxy");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the proxy's address");
        let address = line.trim().strip_prefix("ready ").expect("the proxy's address").to_owned();
        Self { child, input, output, address }
    }

    fn command(&mut self, command: &str) -> Result<(), Failure> {
        writeln!(self.input.as_mut().expect("is open"), "{command}").map_err(|error| error.to_string())?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| error.to_string())?;
        if line.trim() == "ok" {
            Ok(())
        } else {
            Err(format!("the proxy answers {line:?}"))
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
