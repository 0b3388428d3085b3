package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	armature "github.com/armaturedb/armature/client/go"
	"github.com/armaturedb/armature/client/go/armaturetest"
)

// world is shared by all scenarios.
type world struct {
	armatured    string
	scenarios    string // directory
	tables       node
	shared       *place
	mu           sync.Mutex
	certificates string // directory; empty: not made yet; guarded by mu
}

func (w *world) close() {
	if w.shared != nil {
		w.shared.close()
		w.shared = nil
	}
	if w.certificates != "" {
		_ = os.RemoveAll(w.certificates)
	}
}

func (w *world) certificateDirectory() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.certificates != "" {
		return w.certificates, nil
	}
	directory, err := os.MkdirTemp("", "armature-")
	if err != nil {
		return "", err
	}
	w.certificates = directory
	output, err := exec.Command(filepath.Join(w.scenarios, "certificates"), directory).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("certificates: %w: %s", err, output)
	}
	return directory, nil
}

// place is a daemon with its proxy.
type place struct {
	world    *world
	options  node
	daemon   *armaturetest.Daemon
	proxy    *proxy
	isShared bool
	dead     int // a bound socket that does not listen; 0: none
}

// placeOf returns the daemon of a scenario: its own, or the shared one.
func (w *world) placeOf(scenario node) (*place, error) {
	options, own := scenario["daemon"].(node)
	if !own && w.shared != nil {
		return w.shared, nil
	}
	args := append([]string{"--durability=os"}, texts(options["flags"])...)
	if options["tls"] == true || options["credentials"] == true {
		directory, err := w.certificateDirectory()
		if err != nil {
			return nil, err
		}
		if options["tls"] == true {
			args = append(args, "--tls_cert="+directory+"/server.pem", "--tls_key="+directory+"/server.key")
		}
		if options["client_certificates"] == true {
			args = append(args, "--tls_client_ca="+directory+"/ca.pem")
		}
		if options["credentials"] == true {
			args = append(args, "--credentials_file="+directory+"/credentials.json")
		}
	}
	daemon, err := armaturetest.Run(armaturetest.Options{Binary: w.armatured, Args: args})
	if err != nil {
		return nil, err
	}
	p := &place{world: w, options: options, daemon: daemon, isShared: !own}
	if !own {
		w.shared = p
	}
	return p, nil
}

func (p *place) close() {
	if p.proxy != nil {
		p.proxy.close()
	}
	if p.dead != 0 {
		_ = syscall.Close(p.dead)
	}
	if err := p.daemon.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// ownerOptions are those of the client that makes the tables.
func (p *place) ownerOptions() node {
	options := node{}
	if p.options["tls"] == true {
		options["tls"] = true
	}
	if p.options["credentials"] == true {
		options["access_key"] = []any{"writer", "secret-of-the-writer"}
	}
	return options
}

func (p *place) open(options node) (*armature.Client, error) {
	var settings []armature.Option
	if seconds, ok := options["timeout"]; ok {
		settings = append(settings, armature.WithTimeout(secondsOf(seconds)))
	}
	if options["retries"] == false {
		settings = append(settings, armature.WithRetry(armature.Retry{MaxAttempts: 1}))
	}
	if key := texts(options["access_key"]); len(key) == 2 {
		settings = append(settings, armature.WithAccessKey(key[0], key[1]))
	}
	if options["session"] == true {
		settings = append(settings, armature.WithReadYourWrites())
	}
	if options["tls"] == "system" {
		settings = append(settings, armature.WithTLS(nil))
	}
	if options["tls"] == true {
		directory, err := p.world.certificateDirectory()
		if err != nil {
			return nil, err
		}
		certificate, key := "", ""
		if options["certificate"] == true {
			certificate, key = directory+"/client.pem", directory+"/client.key"
		}
		settings = append(settings, armature.WithTLSFiles(directory+"/ca.pem", certificate, key))
	}
	address, err := p.addressOf(options)
	if err != nil {
		return nil, err
	}
	return armature.Open(address, settings...)
}

func secondsOf(v any) time.Duration {
	switch v := v.(type) {
	case int:
		return time.Duration(v) * time.Second
	case float64:
		return time.Duration(v * float64(time.Second))
	default:
		panic(fmt.Sprintf("the time %v", v))
	}
}

func (p *place) addressOf(options node) (string, error) {
	if options["proxy"] == true {
		if p.proxy == nil {
			made, err := startProxy(filepath.Join(p.world.scenarios, "proxy.py"), p.daemon.Address())
			if err != nil {
				return "", err
			}
			p.proxy = made
		}
		return p.proxy.address, nil
	}
	list := texts(options["addresses"])
	if len(list) == 0 {
		return p.daemon.Address(), nil
	}
	for i, name := range list {
		list[i] = p.daemon.Address()
		switch name {
		case "unresolved":
			list[i] = "nothing.invalid:7700"
		case "dead":
			address, err := p.deadAddress()
			if err != nil {
				return "", err
			}
			list[i] = address
		}
	}
	return strings.Join(list, ","), nil
}

// deadAddress returns an address where nobody listens: the port stays bound, so that nobody else takes it.
func (p *place) deadAddress() (string, error) {
	if p.dead == 0 {
		socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return "", err
		}
		p.dead = socket
		if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return "", err
		}
	}
	name, err := syscall.Getsockname(p.dead)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(name.(*syscall.SockaddrInet4).Port)), nil
}

func (p *place) daemonStep(command string) error {
	switch command {
	case "kill":
		return p.daemon.Kill()
	case "stop":
		return p.daemon.Stop()
	case "start":
		return p.daemon.Start()
	case "restart":
		return errors.Join(p.daemon.Kill(), p.daemon.Start())
	case "pause":
		return errors.Join(p.daemon.Signal(syscall.SIGSTOP), awaitStopped(p.daemon.Pid()))
	case "continue":
		return p.daemon.Signal(syscall.SIGCONT)
	default:
		return fmt.Errorf("unknown step of the daemon: %s", command)
	}
}

// awaitStopped waits until SIGSTOP has acted on a process: its signal may take a moment.
func awaitStopped(pid int) error {
	for begin := time.Now(); time.Since(begin) < untilTime; {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return err
		}
		if _, behindName, ok := strings.Cut(string(state), ") "); ok && strings.HasPrefix(behindName, "T") {
			return nil
		}
	}
	return errors.New("the daemon does not stop")
}

// proxy is the proxy of the scenarios, as a process.
type proxy struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	address string
}

func startProxy(program, daemon string) (*proxy, error) {
	command := exec.Command("python3", program, daemon)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &proxy{command: command, input: input, output: bufio.NewReader(output)}
	line, err := p.output.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the proxy: %w", err)
	}
	p.address = strings.TrimSpace(strings.TrimPrefix(line, "ready "))
	return p, nil
}

func (p *proxy) step(v any) error {
	text, _ := v.(string)
	if m, ok := v.(node); ok {
		text = "lose_answer_to " + m["lose_answer_to"].(string)
	}
	if _, err := io.WriteString(p.input, text+"\n"); err != nil {
		return err
	}
	line, err := p.output.ReadString('\n')
	if err == nil && strings.TrimSpace(line) != "ok" {
		err = fmt.Errorf("the proxy answers %q", line)
	}
	return err
}

func (p *proxy) close() {
	_ = p.input.Close()
	_ = p.command.Wait()
}
