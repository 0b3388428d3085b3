//! Starts a daemon for tests.
//!
//! ```no_run
//! use armature_client::testing::Daemon;
//!
//! #[tokio::test]
//! async fn orders_are_stored() {
//!     let daemon = Daemon::start().unwrap();
//!     let client = daemon.client();
//! }
//! ```
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{mpsc, Arc, Mutex};
use std::time::{Duration, Instant};

use crate::Client;

/// The environment variable with the path of the daemon. Without it, `armatured` is looked for in PATH.
pub const BINARY_VARIABLE: &str = "ARMATURED";

/// Bound of the start of a daemon, and of its stop before it is killed.
const START_TIME: Duration = Duration::from_secs(30);
const LOG_BYTES_MAX: usize = 4096;

/// Settings of a [`Daemon`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DaemonBuilder {
    binary: Option<PathBuf>,
    directory: Option<PathBuf>,
    arguments: Vec<OsString>,
}

/// A daemon on a loopback address with a free port. It ends when it is dropped, and with this process; then its temporary directory
/// is removed, too. One with a directory of its own is stopped in an orderly way when it is dropped: see [`Daemon::stop`].
#[derive(Debug)]
pub struct Daemon {
    binary: PathBuf,
    arguments: Vec<OsString>,
    directory: PathBuf,
    temporary: Option<PathBuf>,
    guard: Guard,
    process: Option<Process>,
    address: String,
}

#[derive(Debug)]
struct Process {
    child: Child,
    log: Arc<Mutex<Vec<u8>>>,
}

impl DaemonBuilder {
    /// The path of the daemon, instead of that in [`BINARY_VARIABLE`].
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Self {
        self.binary = Some(path.into());
        self
    }

    /// The directory of the data, instead of a temporary one.
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// Adds an argument, such as "--durability=os".
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Starts the daemon, and waits until it serves.
    pub fn start(self) -> io::Result<Daemon> {
        let binary = self.binary.or_else(|| std::env::var_os(BINARY_VARIABLE).map(PathBuf::from));
        let binary = binary.unwrap_or_else(|| "armatured".into());
        let temporary = match &self.directory {
            Some(_) => None,
            None => Some(make_temporary()?),
        };
        let directory = self.directory.unwrap_or_else(|| temporary.as_ref().expect("was made").join("data"));
        let mut daemon = Daemon {
            binary,
            arguments: self.arguments,
            directory,
            guard: Guard::new(temporary.as_deref())?,
            temporary,
            process: None,
            address: "127.0.0.1:0".to_owned(),
        };
        daemon.restart()?;
        Ok(daemon)
    }
}

fn make_temporary() -> io::Result<PathBuf> {
    loop {
        let path = std::env::temp_dir().join(format!("armature-{:016x}", crate::retry::random_bits()));
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|()| path),
        }
    }
}

impl Daemon {
    /// Starts a daemon on a temporary directory, which does not wait for the disk.
    pub fn start() -> io::Result<Self> {
        Self::builder().argument("--durability=os").start()
    }

    /// Settings for a daemon.
    pub fn builder() -> DaemonBuilder {
        DaemonBuilder::default()
    }

    /// The address for a client. It stays the same over restarts.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The directory of the data.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A client with default settings. A daemon with TLS or credentials needs another one: [`Client::builder`].
    pub fn client(&self) -> Client {
        Client::new(&self.address).expect("the address is valid")
    }

    /// The number of the process, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.child.id())
    }

    /// Ends a running daemon as a crash would, and starts it with the same address and data.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill()?;
        let mut child = Command::new(&self.binary)
            .arg(joined("--data_dir=", self.directory.as_os_str()))
            .arg(format!("--grpc_listen={}", self.address))
            .arg("--http_listen=off")
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.binary.display())))?;
        let (output, errors) = (child.stdout.take().expect("is piped"), child.stderr.take().expect("is piped"));
        let log = Arc::<Mutex<Vec<u8>>>::default();
        let process = Process { child, log: log.clone() };
        self.guard.watch(Some(process.child.id()))?;
        self.process = Some(process);
        std::thread::spawn(move || keep_end(errors, &log));
        let (report, ready) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(address) = address_in(&line) {
                    // Nobody waits after the time limit.
                    let _ = report.send(address);
                }
            }
        });
        match ready.recv_timeout(START_TIME) {
            Ok(address) => {
                self.address = address;
                Ok(())
            }
            Err(_) => {
                let log = self.process.as_ref().expect("was set").log.clone();
                self.kill()?;
                let log = String::from_utf8_lossy(&log.lock().expect("no panic with the lock")).into_owned();
                Err(io::Error::other(format!("the daemon does not serve: {log}")))
            }
        }
    }

    /// Sends a signal to the process, such as "STOP".
    pub fn signal(&self, name: &str) -> io::Result<()> {
        let pid = self.pid().ok_or_else(|| io::Error::other("the daemon does not run"))?;
        let status = Command::new("sh").args(["-c", r#"kill -s "$0" "$1""#, name, &pid.to_string()]).status()?;
        if status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("the signal {name} cannot be sent")))
    }

    /// Ends the daemon by SIGTERM and waits until it has ended. Data and address stay.
    ///
    /// The wait blocks the thread. Clients close their connections at once if their runtime has another thread, as with
    /// `#[tokio::test(flavor = "multi_thread")]`; otherwise the daemon waits for them, for `--drain_seconds` (10).
    pub fn stop(&mut self) -> io::Result<()> {
        if self.process.is_none() {
            return Ok(());
        }
        self.signal("TERM")?;
        // A test may have stopped the process.
        self.signal("CONT").ok();
        let begin = Instant::now();
        while begin.elapsed() < START_TIME {
            if self.process.as_mut().expect("was checked").child.try_wait()?.is_some() {
                self.process = None;
                return self.guard.watch(None);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.kill()?;
        Err(io::Error::other("the daemon did not stop in time"))
    }

    /// Ends the daemon by SIGKILL, as a crash would. Data and address stay.
    pub fn kill(&mut self) -> io::Result<()> {
        if let Some(mut process) = self.process.take() {
            process.child.kill()?;
            process.child.wait()?;
            self.guard.watch(None)?;
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // An orderly stop would wait for clients whose runtime this thread blocks, and the data is of no more use.
        let _ = if self.temporary.is_some() { self.kill() } else { self.stop() };
        self.guard.end();
        if let Some(temporary) = &self.temporary {
            // The guard has removed it, if it could.
            let _ = std::fs::remove_dir_all(temporary);
        }
    }
}

fn joined(text: &str, path: &std::ffi::OsStr) -> OsString {
    let mut joined = OsString::from(text);
    joined.push(path);
    joined
}

/// The address in the line "ready grpc=ADDRESS ...".
fn address_in(line: &str) -> Option<String> {
    let mut fields = line.split_whitespace();
    if fields.next() != Some("ready") {
        return None;
    }
    fields.find_map(|field| field.strip_prefix("grpc=")).map(str::to_owned)
}

/// Keeps the end of the daemon's log.
fn keep_end(mut errors: impl Read, log: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer) {
        let mut log = log.lock().expect("no panic with the lock");
        log.extend_from_slice(&buffer[..count]);
        let surplus = log.len().saturating_sub(LOG_BYTES_MAX);
        log.drain(..surplus);
    }
}

/// A process that ends the daemon and removes its temporary files when this process ends without dropping it: by a signal, or a
/// panic that aborts.
#[derive(Debug)]
struct Guard {
    child: Child,
    input: Option<ChildStdin>,
}

/// Reads the numbers of the daemon's processes, the last of which is running; an empty line: none is. The input ends with this process. The
/// signals that end a group of processes are not for the guard. A daemon that is being killed may still make a file.
const GUARD_SCRIPT: &str = r#"
trap '' HUP INT TERM
pid=
while read -r line; do pid=$line; done
[ -z "$pid" ] || kill -9 "$pid"
[ -n "$1" ] || exit 0
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$1" && exit 0
  sleep 0.1
done
"#;

impl Guard {
    fn new(temporary: Option<&Path>) -> io::Result<Self> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(GUARD_SCRIPT).arg("armature-testing");
        command.arg(temporary.unwrap_or(Path::new("")));
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Sets the process that ends with this one.
    fn watch(&mut self, pid: Option<u32>) -> io::Result<()> {
        let line = pid.map(|pid| pid.to_string()).unwrap_or_default();
        self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{line}"))
    }

    fn end(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
