#ifndef ARMATURE_DAEMON_HTTP_CERTIFICATE_NAMES_H_
#define ARMATURE_DAEMON_HTTP_CERTIFICATE_NAMES_H_

// The names of a client in its certificate.

#include <openssl/types.h>

#include <string>
#include <vector>

namespace armature::daemon {

// The alternative names of a certificate in their order: DNS names, URIs and email addresses as they are, IP addresses
// as texts ("127.0.0.1", "2001:db8::1"). Its common names if it has no alternative names at all. Names of other kinds,
// empty ones, and those with a NUL, which readers of C strings would take for another name, are left out.
//
// Thread-safety: thread-safe for certificates that nobody changes.
std::vector<std::string> CertificateNames(const X509* certificate);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_CERTIFICATE_NAMES_H_
