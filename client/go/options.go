package armature

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
)

// Option is a setting of a client.
type Option func(*settings) error

// settings are the settings of a client, constant after Open.
type settings struct {
	timeout     time.Duration
	retry       Retry
	observer    Observer
	tls         *tls.Config
	accessKey   *accessKey
	dialOptions []grpc.DialOption
	connections int
	session     bool
}

func makeSettings(options []Option) (*settings, error) {
	s := &settings{timeout: 10 * time.Second, retry: DefaultRetry, connections: 1}
	return s, Options(options...)(s)
}

// Options is several options as one.
func Options(options ...Option) Option {
	return func(s *settings) error {
		for _, option := range options {
			if err := option(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// WithTimeout is the time that a call with all its attempts may take, if its context has no deadline. 10 seconds by
// default.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) error {
		if timeout <= 0 {
			return &ArgumentError{"WithTimeout", "must be positive"}
		}
		s.timeout = timeout
		return nil
	}
}

// WithRetry replaces [DefaultRetry].
func WithRetry(retry Retry) Option {
	return func(s *settings) error {
		if retry.MaxAttempts < 1 || retry.Initial < 0 || retry.Max < retry.Initial {
			return &ArgumentError{"WithRetry", "MaxAttempts must be at least 1, and Max at least Initial"}
		}
		s.retry = retry
		return nil
	}
}

// WithReadYourWrites makes reads of indexes see the writes of this client: see [Client.Session].
func WithReadYourWrites() Option {
	return func(s *settings) error {
		s.session = true
		return nil
	}
}

// WithObserver makes the client tell an observer of its calls.
func WithObserver(observer Observer) Option {
	return func(s *settings) error {
		s.observer = observer
		return nil
	}
}

// WithTLS encrypts the connection. A nil configuration trusts the authorities of the system. Certificates of the
// configuration authenticate the client.
func WithTLS(config *tls.Config) Option {
	return func(s *settings) error {
		if config == nil {
			config = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		s.tls = config
		return nil
	}
}

// WithTLSFiles encrypts the connection, with PEM files: the authorities of the daemon's certificate ("": those of the
// system), the client's certificate and its key ("": none).
func WithTLSFiles(authorities, certificate, key string) Option {
	return func(s *settings) error {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if authorities != "" {
			pem, err := os.ReadFile(authorities)
			if err != nil {
				return fmt.Errorf("armature: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return &ArgumentError{authorities, "has no certificate"}
			}
		}
		if certificate != "" || key != "" {
			pair, err := tls.LoadX509KeyPair(certificate, key)
			if err != nil {
				return fmt.Errorf("armature: %w", err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		s.tls = config
		return nil
	}
}

// WithAccessKey authenticates the client by an access key of the daemon's credentials file. It needs TLS, or a Unix
// socket: [Open] refuses to send the secret in clear text.
func WithAccessKey(id, secret string) Option {
	return func(s *settings) error {
		if id == "" || secret == "" {
			return &ArgumentError{"WithAccessKey", "needs an id and a secret"}
		}
		s.accessKey = &accessKey{header: "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))}
		return nil
	}
}

// WithConnections makes calls use so many connections in turns: 1 by default, at most 64. More than one helps programs
// that keep several processors busy with calls.
func WithConnections(count int) Option {
	return func(s *settings) error {
		if count < 1 || count > 64 {
			return &ArgumentError{"WithConnections", "must be 1 to 64"}
		}
		s.connections = count
		return nil
	}
}

// WithDialOptions adds options of gRPC, such as interceptors and stats handlers.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) error {
		s.dialOptions = append(s.dialOptions, options...)
		return nil
	}
}

// accessKey is sent with every call.
type accessKey struct {
	header   string
	isSocket bool
}

// GetRequestMetadata returns the header of a call.
func (k *accessKey) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": k.header}, nil
}

// RequireTransportSecurity keeps gRPC from sending the secret in clear text.
func (k *accessKey) RequireTransportSecurity() bool { return !k.isSocket }
