//go:build unix

package armaturetest

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a process that ends the daemon and removes its temporary files when this process ends without a Close: by a
// signal, a panic, or the time limit of `go test`.
type guard struct {
	command *exec.Cmd
	input   io.WriteCloser
}

// guardScript reads the numbers of the daemon's processes, the last of which is running; an empty line: none is. The input
// ends with this process. The signals that end a group of processes are not for the guard. A daemon that is being killed
// may still make a file.
const guardScript = `
trap '' HUP INT TERM
pid=
while read -r line; do pid=$line; done
[ -z "$pid" ] || kill -9 "$pid"
[ -n "$1" ] || exit 0
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$1" && exit 0
  sleep 0.1
done
`

// newGuard starts a guard. `temporary` is the directory to remove; it may be empty.
func newGuard(temporary string) (*guard, error) {
	command := exec.Command("sh", "-c", guardScript, "armaturetest", temporary)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("armaturetest: %w", err)
	}
	return &guard{command, input}, nil
}

// watch sets the process that ends with this one. 0: none.
func (g *guard) watch(pid int) error {
	line := "\n"
	if pid != 0 {
		line = fmt.Sprintln(pid)
	}
	if _, err := io.WriteString(g.input, line); err != nil {
		return fmt.Errorf("armaturetest: the guard of the daemon: %w", err)
	}
	return nil
}

// close ends the guard, which removes the temporary directory. The daemon has ended.
func (g *guard) close() {
	_ = g.input.Close()
	_ = g.command.Wait()
}
