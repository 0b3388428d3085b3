//! TLS.
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, crypto, ClientConfig, RootCertStore};

use crate::Error;

/// Encrypts the connections of a client: see [`ClientBuilder::tls`](crate::ClientBuilder::tls). Without other settings it trusts
/// the authorities of the system.
///
/// ```no_run
/// use armature_client::{Client, Tls};
///
/// let tls = Tls::new().authorities("ca.pem").identity("client.pem", "client.key");
/// let client = Client::builder("db.example.org:7700").tls(tls).build()?;
/// # Ok::<(), armature_client::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Tls {
    authorities: Option<PathBuf>,
    identity: Option<(PathBuf, PathBuf)>,
    config: Option<Arc<ClientConfig>>,
    pub(crate) server_name: Option<String>,
}

impl Tls {
    /// TLS that trusts the authorities of the system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the authorities in a PEM file, and no others.
    #[must_use]
    pub fn authorities(mut self, file: impl AsRef<Path>) -> Self {
        self.authorities = Some(file.as_ref().to_owned());
        self
    }

    /// Authenticates the client by its certificate and key in PEM files.
    #[must_use]
    pub fn identity(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.identity = Some((certificate.as_ref().to_owned(), key.as_ref().to_owned()));
        self
    }

    /// The name in the daemon's certificate, if it is not the host of the address.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Uses a configuration of rustls, instead of files.
    #[must_use]
    pub fn config(mut self, config: Arc<ClientConfig>) -> Self {
        self.config = Some(config);
        self
    }

    pub(crate) fn load(&self) -> Result<Arc<ClientConfig>, Error> {
        let mut config = match &self.config {
            Some(given) => given.as_ref().clone(),
            None => self.config_of_files()?,
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Arc::new(config))
    }

    fn config_of_files(&self) -> Result<ClientConfig, Error> {
        let failed = |file: &Path, reason: &dyn fmt::Display| Error::Setup(format!("{}: {reason}", file.display()));
        let mut roots = RootCertStore::empty();
        match &self.authorities {
            Some(file) => {
                for certificate in CertificateDer::pem_file_iter(file).map_err(|error| failed(file, &error))? {
                    let certificate = certificate.map_err(|error| failed(file, &error))?;
                    roots.add(certificate).map_err(|error| failed(file, &error))?;
                }
                if roots.is_empty() {
                    return Err(failed(file, &"has no certificate"));
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                if roots.is_empty() {
                    return Err(Error::Setup("the system has no authorities of certificates".into()));
                }
            }
        }
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::Setup(error.to_string()))?
            .with_root_certificates(roots);
        let Some((certificate, key)) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(certificate).map_err(|error| failed(certificate, &error))?.collect();
        let chain = chain.map_err(|error| failed(certificate, &error))?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        builder.with_client_auth_cert(chain, secret).map_err(|error| failed(certificate, &error))
    }
}

/// Why a handshake with an address has failed, and whether a repetition would fail in the same way.
pub(crate) fn reason_of(address: &str, error: &rustls::Error) -> (String, bool) {
    use rustls::{AlertDescription as Alert, Error};
    match error {
        Error::InvalidCertificate(reason) => (format!("the certificate of {address} is not trusted: {reason}"), true),
        Error::AlertReceived(Alert::CertificateRequired | Alert::BadCertificate | Alert::UnknownCA) => {
            (format!("{address} wants a certificate of the client that it trusts"), true)
        }
        Error::InvalidMessage(_)
        | Error::PeerIncompatible(_)
        | Error::NoApplicationProtocol
        | Error::AlertReceived(Alert::HandshakeFailure | Alert::ProtocolVersion | Alert::NoApplicationProtocol) => {
            (format!("{address} does not speak TLS"), true)
        }
        other => (format!("the TLS handshake with {address} failed: {other}"), false),
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("authorities", &self.authorities).field("identity", &self.identity).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fault_of_the_settings_lasts() {
        use rustls::{AlertDescription as Alert, Error};
        for alert in [Alert::HandshakeFailure, Alert::ProtocolVersion, Alert::NoApplicationProtocol] {
            assert_eq!(reason_of("db:1", &Error::AlertReceived(alert)), ("db:1 does not speak TLS".to_string(), true));
        }
        assert!(reason_of("db:1", &Error::AlertReceived(Alert::CertificateRequired)).1);
        let (reason, is_lasting) = reason_of("db:1", &Error::AlertReceived(Alert::InternalError));
        assert!(reason.starts_with("the TLS handshake with db:1 failed") && !is_lasting, "{reason}");
    }
}
