package armature

import (
	"context"
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/armaturedb/armature/client/go/adminv1"
	"github.com/armaturedb/armature/client/go/apiv1"
)

// Client makes the calls to a daemon. It is safe for concurrent use; a program needs one.
type Client struct {
	conn   *conn
	closes func() error
}

// receiveBytesMax bounds a response. One of BatchGetItem has up to 16 MB of items.
const receiveBytesMax = 64 << 20

// Open returns a client of the daemon at an address: "host:port", "unix:/path", or any other target of gRPC. Several
// addresses of one daemon are separated by commas: they are tried in their order until one can be connected.
//
// Open does not connect; the first call does. The client connects again after a lost connection.
func Open(address string, options ...Option) (*Client, error) {
	s, err := makeSettings(options)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	transport := &channels{}
	client := &Client{conn: &conn{transport: transport, settings: s, schemas: newSchemas(), address: address}, closes: sync.OnceValue(transport.close)}
	for range s.connections {
		connection, err := dial(address, s)
		if err != nil {
			_ = client.Close()
			return nil, err
		}
		transport.connections = append(transport.connections, connection)
	}
	if s.session {
		return client.Session(), nil
	}
	return client, nil
}

// hostAndPort matches an address without a scheme.
var hostAndPort = regexp.MustCompile(`^(?:\[[^\]]*\]|[^:/,]*)(?::(\d*))?$`)

// checkAddress refuses an address that could never be reached.
func checkAddress(address string) error {
	if strings.TrimSpace(address) == "" {
		return &ArgumentError{"address", "is empty"}
	}
	lower := strings.ToLower(address)
	if strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "https:") {
		return &ArgumentError{"address", address + ` is one of HTTP; give "host:port" of gRPC, such as "localhost:7700"`}
	}
	// Names with a scheme, such as "dns:///host", are those of gRPC, whose port is 443 by default.
	if plain := hostAndPort.FindStringSubmatch(address); plain != nil {
		if port, err := strconv.ParseUint(plain[1], 10, 16); err != nil || port == 0 {
			return &ArgumentError{"address", address + ` has no port; give "host:port", such as "localhost:7700"`}
		}
	}
	return nil
}

// New returns a client that calls through a connection of the program's own: a fake, or one with other settings of gRPC.
// Options for connections have no effect. Close does not close the connection.
func New(connection grpc.ClientConnInterface, options ...Option) (*Client, error) {
	s, err := makeSettings(options)
	if err != nil {
		return nil, err
	}
	client := &Client{conn: &conn{transport: foreign{connection}, settings: s, schemas: newSchemas()}, closes: func() error { return nil }}
	if s.session {
		return client.Session(), nil
	}
	return client, nil
}

// String returns the address.
func (c *Client) String() string { return "armature.Client(" + c.conn.address + ")" }

// Close closes the connections. Calls that are under way fail. A further Close returns what the first one did.
func (c *Client) Close() error { return c.closes() }

func (c *channels) close() error {
	var errs []error
	for _, connection := range c.connections {
		errs = append(errs, connection.Close())
	}
	return errors.Join(errs...)
}

// Session returns a client that shares the connections and reads its own writes on global indexes, which follow their
// table with a short delay: a Query or Scan of an index waits until the index has the writes that were made through the
// session. GetItem and reads of tables are not concerned: use [Consistent].
//
// `after` are positions that the session must see, too: the ChangeSequence of a write, or the [Client.Position] of another
// session, also of another process. Other writes, and writes whose outcome is unknown, are not waited for. After the
// daemon was replaced by an older copy of its data, reads of indexes fail with ValidationException; begin a new session
// then.
func (c *Client) Session(after ...uint64) *Client {
	shared := *c.conn
	shared.session = &session{sequences: map[string]uint64{}}
	for _, position := range after {
		shared.session.floor = max(shared.session.floor, position)
	}
	return &Client{conn: &shared, closes: c.closes}
}

// Position returns the position of the last write of a session. 0: the client has no session, or it has written nothing.
func (c *Client) Position() uint64 {
	if c.conn.session == nil {
		return 0
	}
	return c.conn.session.highest()
}

// Items is the generated client of the operations on items, with the retries, sessions and errors of this client.
func (c *Client) Items() apiv1.ItemServiceClient { return apiv1.NewItemServiceClient(c.conn) }

// Tables is the generated client of the operations on tables, backups, exports and imports.
func (c *Client) Tables() apiv1.TableServiceClient { return apiv1.NewTableServiceClient(c.conn) }

// Statements is the generated client of PartiQL statements.
func (c *Client) Statements() apiv1.StatementServiceClient {
	return apiv1.NewStatementServiceClient(c.conn)
}

// Streams is the generated client of the changes of tables.
func (c *Client) Streams() apiv1.StreamServiceClient { return apiv1.NewStreamServiceClient(c.conn) }

// Admin is the generated client of the administration of a daemon of the same release.
func (c *Client) Admin() adminv1.AdminServiceClient { return adminv1.NewAdminServiceClient(c.conn) }

// dial makes a connection of gRPC.
func dial(address string, s *settings) (*grpc.ClientConn, error) {
	isSocket := strings.HasPrefix(address, "unix:")
	options := []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(receiveBytesMax),
			grpc.MaxCallSendMsgSize(requestBytesMax)),
		// This package repeats calls, because it knows which ones may be repeated.
		grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A daemon on the same machine restarts within moments. The first pause of gRPC is one second.
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	if s.tls != nil {
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(s.tls)))
	} else {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if s.accessKey != nil {
		if s.tls == nil && !isSocket {
			return nil, &ArgumentError{"WithAccessKey", "the secret would be sent in clear text; use WithTLS"}
		}
		key := *s.accessKey
		key.isSocket = isSocket && s.tls == nil
		options = append(options, grpc.WithPerRPCCredentials(&key))
	}
	if strings.Contains(address, ",") {
		list, err := listOf(address)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithResolvers(list))
		address = list.Scheme() + ":///daemon"
	}
	return grpc.NewClient(address, append(options, s.dialOptions...)...)
}

// listOf returns a resolver of several addresses. gRPC takes the first one that it can connect to.
func listOf(addresses string) (*manual.Resolver, error) {
	state := resolver.State{}
	for _, address := range strings.Split(addresses, ",") {
		address = strings.TrimSpace(address)
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, &ArgumentError{"address", err.Error()}
		}
		// Each address has an endpoint and a name of its own: certificates name their host.
		one := resolver.Address{Addr: address, ServerName: host}
		state.Addresses = append(state.Addresses, one)
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{one}})
	}
	list := manual.NewBuilderWithScheme("armature")
	list.InitialState(state)
	return list, nil
}

// contextWithTimeout gives a context without a deadline the timeout of the client.
func (c *Client) contextWithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, hasDeadline := ctx.Deadline(); hasDeadline {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.conn.settings.timeout)
}
