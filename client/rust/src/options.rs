//! Settings of a client.
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::Arc;
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use tonic::metadata::{Ascii, MetadataValue};

use crate::client::{Client, Core, Transport};
use crate::connection::{Address, Channels, Route};
use crate::observer::Observer;
use crate::retry::Retry;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{Error, Result};

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
const CONNECTIONS_MAX: usize = 64;

/// Settings of a [`Client`]: see [`Client::builder`].
#[derive(Clone)]
pub struct ClientBuilder {
    addresses: String,
    timeout: Duration,
    retry: Retry,
    access_key: Option<(String, String)>,
    connections: usize,
    session: bool,
    observers: Vec<Arc<dyn Observer>>,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

/// What the calls need of the settings.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) timeout: Duration,
    pub(crate) retry: Retry,
    pub(crate) authorization: Option<MetadataValue<Ascii>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
}

impl ClientBuilder {
    pub(crate) fn new(addresses: impl Into<String>) -> Self {
        Self {
            addresses: addresses.into(),
            timeout: TIMEOUT_DEFAULT,
            retry: Retry::default(),
            access_key: None,
            connections: 1,
            session: false,
            observers: Vec::new(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// The time that a call with all its attempts may take, unless the call has another one. 10 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How failed calls are repeated.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Encrypts the connections.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Authenticates the client by an access key of the daemon's credentials file. It needs TLS or a Unix socket:
    /// [`ClientBuilder::build`] refuses to send the secret in clear text.
    #[must_use]
    pub fn access_key(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.access_key = Some((id.into(), secret.into()));
        self
    }

    /// Makes reads of indexes see the writes of this client: see [`Client::session`].
    #[must_use]
    pub fn read_your_writes(mut self) -> Self {
        self.session = true;
        self
    }

    /// Makes calls use so many connections in turns: 1 by default, at most 64. More than one helps programs that keep several
    /// processors busy with calls.
    #[must_use]
    pub fn connections(mut self, count: usize) -> Self {
        self.connections = count;
        self
    }

    /// Makes the client tell an observer of its calls, for traces and metrics.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Makes the client. It does not connect; the first call does. Errors: [`Error::Argument`] for wrong settings, and
    /// [`Error::Setup`] for files that cannot be read.
    pub fn build(self) -> Result<Client> {
        let wrong = |argument: &str, reason: &str| Err(Error::argument(argument, reason));
        let addresses = Address::parse_all(&self.addresses)?;
        if self.timeout.is_zero() {
            return wrong("timeout", "must be positive");
        }
        if self.retry.max_attempts < 1 || self.retry.max < self.retry.initial {
            return wrong("retry", "max_attempts must be at least 1, and max at least initial");
        }
        if !(1..=CONNECTIONS_MAX).contains(&self.connections) {
            return wrong("connections", "must be 1 to 64");
        }
        #[cfg(feature = "tls")]
        let encrypted = self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        let encrypted = false;
        if self.access_key.is_some() && !encrypted && !addresses.iter().all(Address::is_unix) {
            return wrong("access_key", "the secret would be sent in clear text; use TLS");
        }
        let route = Route {
            addresses,
            first: AtomicUsize::new(0),
            #[cfg(feature = "tls")]
            tls: match &self.tls {
                Some(tls) => Some((tls.load()?, tls.server_name.clone())),
                None => None,
            },
        };
        let settings = Settings {
            timeout: self.timeout,
            retry: self.retry,
            authorization: self.access_key.map(authorization).transpose()?,
            observers: self.observers,
        };
        let core = Core { settings, transport: Transport::Channels(Arc::new(Channels::new(route, self.connections))) };
        let client = Client::from_core(core);
        Ok(if self.session { client.session() } else { client })
    }
}

fn authorization((id, secret): (String, String)) -> Result<MetadataValue<Ascii>> {
    if id.is_empty() || secret.is_empty() {
        return Err(Error::argument("access_key", "needs an id and a secret"));
    }
    let header = format!("Basic {}", BASE64_STANDARD.encode(format!("{id}:{secret}")));
    let mut value: MetadataValue<Ascii> = header.parse().expect("base64 is ASCII");
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("addresses", &self.addresses)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
