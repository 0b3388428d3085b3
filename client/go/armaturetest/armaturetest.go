//go:build unix

// Package armaturetest starts a daemon for tests.
//
//	func TestUsers(t *testing.T) {
//		client := armaturetest.Start(t).Client()
//		...
//	}
package armaturetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	armature "github.com/armaturedb/armature/client/go"
)

// BinaryVariable is the environment variable with the path of the daemon. Without it, armatured is looked for in PATH.
const BinaryVariable = "ARMATURED"

// startTime bounds the start of a daemon, and its stop before it is killed.
const startTime = 30 * time.Second

// Options are the settings of a daemon. Zero values are the defaults.
type Options struct {
	Binary    string   // path of the daemon; empty: see BinaryVariable
	Directory string   // of the data; empty: a temporary one, removed by Close
	Args      []string // further arguments, such as "--durability=os"
}

// Daemon is a daemon on a loopback address with a free port. Its methods are not safe for concurrent use.
type Daemon struct {
	options   Options
	temporary string // removed by Close; may be empty
	guard     *guard
	process   *process
	address   string // kept over restarts
	clients   []*armature.Client
}

// process is a running daemon.
type process struct {
	command *exec.Cmd
	exited  chan struct{} // closed when it has ended
	errors  *tail
}

// Start starts a daemon that the end of the test stops. The test is skipped if there is no daemon on this machine.
func Start(t testing.TB, args ...string) *Daemon {
	t.Helper()
	if _, err := findBinary(""); err != nil {
		t.Skip(err)
	}
	daemon, err := Run(Options{Args: append([]string{"--durability=os"}, args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := daemon.Close(); err != nil {
			t.Error(err)
		}
	})
	return daemon
}

// Run starts a daemon. The caller closes it; without that, it ends with this process.
func Run(options Options) (*Daemon, error) {
	binary, err := findBinary(options.Binary)
	if err != nil {
		return nil, err
	}
	options.Binary = binary
	daemon := &Daemon{options: options, address: "127.0.0.1:0"}
	if options.Directory == "" {
		daemon.temporary, err = os.MkdirTemp("", "armature-")
		if err != nil {
			return nil, err
		}
		daemon.options.Directory = filepath.Join(daemon.temporary, "data")
	}
	if err := daemon.Start(); err != nil {
		return nil, errors.Join(err, daemon.removeFiles())
	}
	return daemon, nil
}

func findBinary(path string) (string, error) {
	if path == "" {
		path = os.Getenv(BinaryVariable)
	}
	if path == "" {
		path = "armatured"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("armaturetest: no daemon: set %s to the path of armatured: %w", BinaryVariable, err)
	}
	return filepath.Abs(found)
}

// Address returns the address for armature.Open. It stays the same over restarts.
func (d *Daemon) Address() string { return d.address }

// Directory returns the directory of the data.
func (d *Daemon) Directory() string { return d.options.Directory }

// Client returns a client of the daemon, which Close closes. It panics for wrong options.
func (d *Daemon) Client(options ...armature.Option) *armature.Client {
	client, err := armature.Open(d.address, options...)
	if err != nil {
		panic(err)
	}
	d.clients = append(d.clients, client)
	return client
}

// Start starts the daemon again, after a Stop or Kill, with the same address and data.
func (d *Daemon) Start() error {
	if d.process != nil {
		return errors.New("armaturetest: the daemon is running")
	}
	if d.guard == nil {
		guard, err := newGuard(d.temporary)
		if err != nil {
			return err
		}
		d.guard = guard
	}
	args := append([]string{
		"--data_dir=" + d.options.Directory, "--grpc_listen=" + d.address, "--http_listen=off",
	}, d.options.Args...)
	command := exec.Command(d.options.Binary, args...)
	p := &process{command: command, exited: make(chan struct{}), errors: &tail{}}
	command.Stderr = p.errors
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("armaturetest: %w", err)
	}
	guard := d.guard
	watched := guard.watch(command.Process.Pid)
	ready := make(chan string, 1)
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if address, ok := addressIn(lines.Text()); ok {
				select {
				case ready <- address:
				default:
				}
			}
		}
		_ = command.Wait()
		_ = guard.watch(0) // its number may become that of another process
	}()
	d.process = p
	if watched != nil {
		return errors.Join(watched, d.Kill())
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	select {
	case d.address = <-ready:
		return nil
	case <-p.exited:
		d.process = nil
		return fmt.Errorf("armaturetest: the daemon has ended: %s", p.errors)
	case <-ctx.Done():
		_ = d.Kill()
		return fmt.Errorf("armaturetest: the daemon was not ready in time: %s", p.errors)
	}
}

// addressIn returns the address in the line "ready grpc=ADDRESS ...".
func addressIn(line string) (string, bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != "ready" {
		return "", false
	}
	for _, field := range fields[1:] {
		if address, ok := strings.CutPrefix(field, "grpc="); ok {
			return address, true
		}
	}
	return "", false
}

// Pid returns the number of the process; 0 if the daemon is not running.
func (d *Daemon) Pid() int {
	if d.process == nil {
		return 0
	}
	return d.process.command.Process.Pid
}

// Signal sends a signal to the process, such as SIGSTOP.
func (d *Daemon) Signal(signal os.Signal) error {
	if d.process == nil {
		return errors.New("armaturetest: the daemon is not running")
	}
	return d.process.command.Process.Signal(signal)
}

// Stop ends the daemon by SIGTERM and waits until it has ended. Data and address stay.
func (d *Daemon) Stop() error {
	if d.process == nil {
		return nil
	}
	_ = d.Signal(syscall.SIGTERM)
	_ = d.Signal(syscall.SIGCONT) // a test may have stopped the process
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	select {
	case <-d.process.exited:
		d.process = nil
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("armaturetest: the daemon did not stop in time"), d.Kill())
	}
}

// Kill ends the daemon by SIGKILL, as a crash would. Data and address stay.
func (d *Daemon) Kill() error {
	if d.process == nil {
		return nil
	}
	err := d.Signal(os.Kill)
	<-d.process.exited
	d.process = nil
	return err
}

// Close closes the clients, stops the daemon, and removes its data if they are temporary.
func (d *Daemon) Close() error {
	for _, client := range d.clients {
		_ = client.Close()
	}
	d.clients = nil
	return errors.Join(d.Stop(), d.removeFiles())
}

// removeFiles removes the temporary directory of a daemon that has ended.
func (d *Daemon) removeFiles() error {
	if d.guard != nil {
		d.guard.close()
		d.guard = nil
	}
	if d.temporary == "" {
		return nil
	}
	return os.RemoveAll(d.temporary) // what the guard could not remove
}

// tail keeps the end of the daemon's log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytesMax = 4096

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if surplus := len(t.text) - tailBytesMax; surplus > 0 {
		t.text = t.text[surplus:]
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
