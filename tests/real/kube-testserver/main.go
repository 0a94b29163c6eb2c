// kube-testserver is a real kube-apiserver and the etcd it needs, in one process, for trueup's tests.
//
//	kube-testserver --dir DIR [--port N] [--http2=false] [--stdin-lease] [--temporary] [-- kube-apiserver flags]
//
// Once /readyz answers 200 it prints one line, the path of a kubeconfig, and serves until SIGTERM or SIGINT.
// With --stdin-lease it also ends when its stdin closes, and with --temporary it takes DIR along, so that a test that
// was killed leaves nothing behind.
//
// Always true:
//   - it listens on the loopback address alone;
//   - nothing is written outside DIR;
//   - the line on stdout means "ready", and no other line is ever written there.
//
// Not here: controllers, nodes, a scheduler. A namespace that is deleted stays Terminating for ever, and no garbage
// is collected; the tests give each case its own namespace instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// readyWithin is how long the start may take: about 3 s on an idle machine, so 20 times that on one busy compiling.
const readyWithin = 60 * time.Second

// settings is the command line, parsed.
type settings struct {
	dir        string
	port       int
	http2      bool
	stdinLease bool
	temporary  bool
	apiserver  []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	asked, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = serve(ctx, stop, asked)
		if asked.temporary {
			err = errors.Join(err, removeAll(asked.dir))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube-testserver:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var asked settings
	flags := flag.NewFlagSet("kube-testserver", flag.ContinueOnError)
	flags.StringVar(&asked.dir, "dir", "", "folder for keys, kubeconfig, etcd data and logs; created when missing")
	flags.IntVar(&asked.port, "port", 0, "secure port; 0 takes a free one")
	flags.BoolVar(&asked.http2, "http2", true, "offer HTTP/2 besides HTTP/1.1")
	flags.BoolVar(&asked.stdinLease, "stdin-lease", false, "end when stdin reaches its end")
	flags.BoolVar(&asked.temporary, "temporary", false, "remove the folder at the end")
	if err := flags.Parse(args); err != nil {
		return asked, err
	}
	if asked.dir == "" {
		return asked, errors.New("--dir is missing: name a folder for keys, kubeconfig and etcd data")
	}
	dir, err := filepath.Abs(asked.dir)
	asked.dir, asked.apiserver = dir, flags.Args()
	return asked, err
}

// serve runs both servers until ctx ends, or until one of them gives up.
func serve(ctx context.Context, stop context.CancelFunc, asked settings) error {
	if asked.stdinLease {
		// From the first moment on: the test may be killed while the servers are still starting.
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); stop() }()
	}
	if err := os.MkdirAll(asked.dir, 0o700); err != nil {
		return fmt.Errorf("making the state folder: %w", err)
	}
	keys, err := writeKeys(asked.dir)
	if err != nil {
		return fmt.Errorf("making keys and certificates: %w", err)
	}
	if err := writeTokens(asked.dir); err != nil {
		return fmt.Errorf("writing the users' tokens: %w", err)
	}
	storage, err := startEtcd(ctx, asked.dir)
	if err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	api, err := startAPIServer(ctx, asked, storage)
	if err != nil {
		return fmt.Errorf("starting kube-apiserver: %w", err)
	}
	if err := api.waitReady(ctx, keys.authority, readyWithin); err != nil {
		return err
	}
	kubeconfig, err := writeKubeconfig(asked.dir, api.address)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	fmt.Println(kubeconfig)

	// etcd is not closed: it would wait about 8 s for the API server's watches, and its data is disposable.
	select {
	case <-ctx.Done():
		return nil
	case err := <-api.ended:
		return fmt.Errorf("kube-apiserver exited unexpectedly: %w", err)
	case err := <-storage.failed:
		return fmt.Errorf("etcd failed: %w", err)
	}
}

// removeAll tries more than once: etcd is still running and may add a file to a folder that was just emptied.
func removeAll(dir string) error {
	var err error
	for range 5 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}
