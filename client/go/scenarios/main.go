// The command scenarios runs tests/clients/scenarios by the Go client.
//
//	scenarios [-run TEXT] DIRECTORY
//
// The variable ARMATURED has the path of the daemon. -run selects scenarios whose name has the text.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	armature "github.com/armaturedb/armature/client/go"
)

// untilTime is the time that a step with `until` may take.
const untilTime = 20 * time.Second

// stepMembers are members of a step that are not its operation.
var stepMembers = map[string]bool{
	"with": true, "timeout": true, "expect": true, "unordered": true, "error": true, "repeat": true, "until": true,
}

func main() {
	selected := flag.String("run", "", "text in the names of the scenarios to run")
	verbose := flag.Bool("v", false, "print all names")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: scenarios [-run TEXT] DIRECTORY")
		os.Exit(2)
	}
	w := &world{armatured: os.Getenv("ARMATURED"), scenarios: flag.Arg(0)}
	defer w.close()
	scenarios, err := w.load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var shared, own []node
	for _, scenario := range scenarios {
		if !strings.Contains(scenario["name"].(string), *selected) {
			continue
		}
		if _, hasOwn := scenario["daemon"].(node); hasOwn {
			own = append(own, scenario)
		} else {
			shared = append(shared, scenario)
		}
	}
	passed, failed := w.runAll(shared, own, *verbose)
	w.close()
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// runAll runs the scenarios with daemons of their own beside the others: they mostly wait.
func (w *world) runAll(shared, own []node, verbose bool) (passed, failed int) {
	var mu sync.Mutex
	runEach := func(scenarios <-chan node) {
		for scenario := range scenarios {
			err := w.run(scenario)
			mu.Lock()
			if verbose {
				fmt.Println(scenario["name"])
			}
			if err != nil {
				failed++
				fmt.Printf("failed: %s: %v\n", scenario["name"], err)
			} else {
				passed++
			}
			mu.Unlock()
		}
	}
	var running sync.WaitGroup
	for i, list := range [][]node{shared, own} {
		scenarios := make(chan node, len(list))
		for _, scenario := range list {
			scenarios <- scenario
		}
		close(scenarios)
		for range i + 1 { // one for the shared daemon, two for the others
			running.Add(1)
			go func() {
				defer running.Done()
				runEach(scenarios)
			}()
		}
	}
	running.Wait()
	return passed, failed
}

func (w *world) load() ([]node, error) {
	files, err := filepath.Glob(filepath.Join(w.scenarios, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []node
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if filepath.Base(file) == "tables.yaml" {
			err = yaml.Unmarshal(text, &w.tables)
		} else {
			var scenarios []node
			err = yaml.Unmarshal(text, &scenarios)
			all = append(all, scenarios...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// run executes one scenario. The shared daemon is used by one goroutine. A panic is an operation that the runner does not know, or a form of it.
func (w *world) run(scenario node) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("%v\n%s", failure, debug.Stack())
		}
	}()
	p, err := w.placeOf(scenario)
	if err != nil {
		return err
	}
	isShared := p.isShared
	isClean := false
	defer func() {
		if !isShared {
			p.close()
		} else if !isClean {
			p.close() // its tables are left
			w.shared = nil
		}
	}()
	clients := map[string]*armature.Client{}
	defer func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}()
	options := node{"default": node{}}
	given, _ := scenario["clients"].(node)
	for name, one := range given {
		options[name] = one
	}
	options["(owner)"] = p.ownerOptions()
	for name, one := range options {
		members, _ := one.(node)
		if clients[name], err = p.open(members); err != nil {
			return err
		}
	}
	owner := clients["(owner)"]
	for _, table := range texts(scenario["tables"]) {
		if err := createTable(context.Background(), owner, table, w.tables[table].(node)); err != nil {
			return err
		}
	}
	o := &operations{tables: w.tables, watches: map[string]*watch{}}
	defer o.close()
	for i, step := range scenario["steps"].([]any) {
		if err := w.step(p, clients, o, step.(node)); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	o.close()
	if !isShared {
		return nil
	}
	isClean = deleteAll(owner) == nil
	return nil
}

func deleteAll(client *armature.Client) error {
	tables, err := client.ListTables(context.Background())
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := client.DeleteTable(context.Background(), table); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) step(p *place, clients map[string]*armature.Client, o *operations, step node) error {
	times := 1
	if repeat, ok := step["repeat"].(int); ok {
		times = repeat
	}
	client := clients["default"]
	if name, ok := step["with"].(string); ok {
		client = clients[name]
	}
	for kind, given := range step {
		if stepMembers[kind] {
			continue
		}
		for range times {
			var err error
			switch kind {
			case "daemon":
				err = p.daemonStep(given.(string))
			case "proxy":
				err = p.proxy.step(given)
			case "connect":
				err = connect(p, given.(node), step)
			default:
				err = call(client, o, kind, given, step)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the step has no operation")
}

// connect makes a client and closes it.
func connect(p *place, options, step node) error {
	client, err := p.open(options)
	if err == nil {
		err = client.Close()
	}
	if wanted, ok := step["error"].(node); ok {
		return checkError(err, wanted)
	}
	return err
}

// call makes a call and compares its result.
func call(client *armature.Client, o *operations, kind string, given any, step node) error {
	do := operationOf(kind)
	if do == nil {
		return fmt.Errorf("unknown operation %s", kind)
	}
	for begin := time.Now(); ; {
		result, err := callOnce(client, o, do, given, step)
		if wanted, ok := step["error"].(node); ok {
			if err == nil && step["until"] == true && time.Since(begin) < untilTime {
				continue
			}
			if err == nil {
				return fmt.Errorf("the result %v instead of an error %v", result, wanted)
			}
			if err = checkError(err, wanted); err == nil || step["until"] != true || time.Since(begin) > untilTime {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		expected, ok := step["expect"]
		if !ok || same(result, native(expected), step["unordered"] == true) {
			return nil
		}
		if step["until"] != true || time.Since(begin) > untilTime {
			return fmt.Errorf("%s gives %v instead of %v", kind, result, expected)
		}
	}
}

func callOnce(client *armature.Client, o *operations, do operation, given any, step node) (any, error) {
	ctx := context.Background()
	if seconds, ok := step["timeout"]; ok {
		if secondsOf(seconds) <= 0 {
			// A deadline of Go may have passed before the call; the package refuses such a timeout of a client.
			_, err := armature.Open("localhost:1", armature.WithTimeout(secondsOf(seconds)))
			return nil, err
		}
		limited, cancel := context.WithTimeout(ctx, secondsOf(seconds))
		defer cancel()
		ctx = limited
	}
	return do(o, ctx, client, given)
}

func same(a, b any, unordered bool) bool {
	return reflect.DeepEqual(comparable(a, unordered), comparable(b, unordered))
}
