package armature

import (
	"fmt"
	"regexp"

	"google.golang.org/grpc/codes"
)

// connectionReasons are texts of gRPC and of TLS, and what they say of the address. docs/develop/clients/README.md lists the
// results. isLasting: a repetition would fail in the same way.
var connectionReasons = []struct {
	pattern   *regexp.Regexp
	reason    string
	isLasting bool
}{
	{regexp.MustCompile(`handshake failed: .*(?:certificate required|bad certificate|unknown certificate)`),
		"%s wants a certificate of the client that it trusts", true},
	{regexp.MustCompile(`x509: (.*?)"?$`), "the certificate of %s is not trusted: ", true},
	{regexp.MustCompile(`handshake failed: .*(?:does not look like a TLS handshake|tls: handshake failure|` +
		`protocol version|application protocol|ALPN)`), "%s does not speak TLS", true},
	// A daemon that is ending closes connections within the handshake: the next one may succeed.
	{regexp.MustCompile(`handshake failed`), "the TLS handshake with %s failed", false},
	{regexp.MustCompile(`HTTP/1`), "%s speaks HTTP/1, and not gRPC", true},
	{regexp.MustCompile(`refused`), "%s refuses the connection: no daemon listens there", false},
	{regexp.MustCompile(`no such file`), "no daemon listens at %s: there is no such socket", false},
	{regexp.MustCompile(`lookup|name resolver error`), "the name in %s cannot be resolved", false},
	{regexp.MustCompile(`timeout|deadline`), "%s does not answer a connection in time", false},
}

// explainConnection replaces the text of gRPC in the error of a call that was never sent for want of a connection.
func (e *CallError) explainConnection(address string) {
	if !e.neverSent || e.Exception != "" || (e.Code != codes.Unavailable && e.Code != codes.DeadlineExceeded) {
		return
	}
	for _, one := range connectionReasons {
		if match := one.pattern.FindStringSubmatch(e.Message); match != nil {
			e.Message = fmt.Sprintf(one.reason, address)
			if len(match) > 1 {
				e.Message += match[1]
			}
			e.isLasting = one.isLasting && e.Code == codes.Unavailable
			return
		}
	}
}
