// The reasons why a daemon cannot be reached, in words of this package instead of those of gRPC and TLS.
// docs/develop/clients/README.md lists them.

/** Texts of gRPC and of Node.js, what they say of the address, and whether a repeat would fail in the same way. */
const REASONS: readonly (readonly [RegExp, (address: string, why: string) => string, boolean])[] = [
  [/ECONNREFUSED/, (address) => `${address} refuses the connection: no daemon listens there`, false],
  [/ENOENT/, (address) => `no daemon listens at ${address}: there is no such socket`, false],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/, (address) => `the name in ${address} cannot be resolved`, false],
  [/ETIMEDOUT|timed out|timeout/i, (address) => `${address} does not answer a connection in time`, false],
  [/EHOSTUNREACH|ENETUNREACH/, (address) => `there is no route to ${address}`, false],
  [/certificate required|alert bad certificate|alert unknown ca/, (address) => `${address} wants a certificate of the client that it trusts`, true],
  [/Error(?: \[\w+\])?: ([^:]*certificate.*|.*altnames.*)\. Resolution/, (address, why) => `the certificate of ${address} is not trusted: ${why}`, true],
  [/wrong version number|alert (?:handshake failure|protocol version|no application protocol)|packet length too long|unsupported protocol/, (address) => `${address} does not speak TLS`, true],
  // A daemon that is ending closes connections within the handshake: the next one may succeed.
  [/SSL routines|secure TLS connection/, (address) => `the TLS handshake with ${address} failed`, false],
  [/Protocol error/, (address) => `${address} speaks HTTP/1, and not gRPC`, true],
];

/** The reason why a connection failed, from the text of gRPC, and whether it stays until somebody changes a setting. */
export function explain(text: string, address: string): { reason: string; isLasting: boolean } {
  for (const [pattern, reason, isLasting] of REASONS) {
    const match = pattern.exec(text);
    if (match !== null) return { reason: reason(address, match[1] ?? ''), isLasting };
  }
  return { reason: `${address} cannot be reached`, isLasting: false };
}
