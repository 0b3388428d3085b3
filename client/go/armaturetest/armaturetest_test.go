//go:build unix

package armaturetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeVariable is the environment variable by which a test starts this program again, as one with a daemon.
const fakeVariable = "ARMATURETEST_FAKE"

// fake is a program in the place of the daemon: it says that it serves, and waits.
const fake = `#!/bin/sh
mkdir -p "${1#--data_dir=}"
echo 'ready grpc=127.0.0.1:1'
exec sleep 1000
`

func TestMain(m *testing.M) {
	if binary := os.Getenv(fakeVariable); binary != "" {
		daemon, err := Run(Options{Binary: binary})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(daemon.Pid(), daemon.temporary)
		select {} // until the test ends it
	}
	os.Exit(m.Run())
}

func makeFake(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "armatured")
	if err := os.WriteFile(binary, []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	return binary
}

// isRunning: a process that nobody waits for does not run.
func isRunning(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return syscall.Kill(pid, 0) == nil && !strings.Contains(string(status), "State:\tZ")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestADaemonAndItsFilesEndWithTheProcess(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGKILL, syscall.SIGINT} {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), fakeVariable+"="+makeFake(t))
		output, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(output).ReadString('\n')
		var pid int
		var directory string
		if _, err := fmt.Sscan(line, &pid, &directory); err != nil {
			t.Fatal(line, err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		if !isRunning(pid) || !exists(directory) {
			t.Error("the daemon does not run")
		}
		_ = command.Process.Signal(signal)
		_ = command.Wait()
		deadline := time.Now().Add(10 * time.Second)
		for isRunning(pid) || exists(directory) {
			if time.Now().After(deadline) {
				t.Fatalf("after %v: the daemon runs: %v, its files are there: %v", signal, isRunning(pid), exists(directory))
			}
			runtime.Gosched()
		}
	}
}

func TestAClosedDaemonLeavesNothing(t *testing.T) {
	daemon, err := Run(Options{Binary: makeFake(t)})
	if err != nil {
		t.Fatal(err)
	}
	pid := daemon.Pid()
	if err := daemon.Kill(); err != nil {
		t.Error(err)
	}
	if isRunning(pid) || !exists(daemon.Directory()) {
		t.Error("a killed daemon runs, or has lost its data")
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	pid = daemon.Pid()
	if err := daemon.Close(); err != nil || isRunning(pid) || exists(daemon.temporary) {
		t.Errorf("%v, running: %v, files: %v", err, isRunning(pid), exists(daemon.temporary))
	}
	if err := daemon.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}
