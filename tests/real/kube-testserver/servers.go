// The two servers: etcd, embedded, and kube-apiserver, run by the code of its own command.
//
// Always true: every default of kube-apiserver stays as it is, but for what a lone server on one machine can't have
// (service accounts, endpoints of its own). What the tests learn from it must hold for a real one.
//
// Not here: keys (keys.go), users (users.go).
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const (
	loopback = "127.0.0.1"
	// etcdBytesMax holds about a million small objects; etcd's own default of 2 GiB is less than a scale test writes.
	etcdBytesMax = 4 << 30
	readyPoll    = 20 * time.Millisecond
)

type storage struct {
	url    string
	failed <-chan error
}

// startEtcd returns when etcd can be written to. It does not sync to disk: losing the data loses nothing.
func startEtcd(ctx context.Context, dir string) (*storage, error) {
	anyPort := []url.URL{{Scheme: "http", Host: loopback + ":0"}}
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	config.LogLevel, config.LogOutputs = "warn", []string{filepath.Join(dir, "etcd.log")}
	config.ListenClientUrls, config.ListenPeerUrls = anyPort, anyPort
	config.EnableGRPCGateway = false // it would dial the port as configured, which is 0, and complain every few seconds
	config.UnsafeNoFsync = true
	config.QuotaBackendBytes = etcdBytesMax
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return &storage{url: "http://" + etcd.Clients[0].Addr().String(), failed: etcd.Err()}, nil
	case err := <-etcd.Err():
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type apiServer struct {
	address string
	ended   <-chan error
}

// startAPIServer returns when the server has begun to start; waitReady says when it can be used.
func startAPIServer(ctx context.Context, asked settings, etcd *storage) (*apiServer, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(asked.port)))
	if err != nil {
		return nil, err
	}
	chosen := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range chosen.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(append(apiServerFlags(asked, etcd), asked.apiserver...)); err != nil {
		return nil, err
	}
	chosen.SecureServing.Listener = listener
	chosen.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	completed, err := chosen.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if problems := completed.Validate(); len(problems) > 0 {
		return nil, fmt.Errorf("its flags are not valid: %w", problems[0])
	}
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, completed) }()
	return &apiServer{address: listener.Addr().String(), ended: ended}, nil
}

func apiServerFlags(asked settings, etcd *storage) []string {
	in := func(name string) string { return filepath.Join(asked.dir, name) }
	return []string{
		"--etcd-servers=" + etcd.url,
		"--bind-address=" + loopback,
		"--disable-http2-serving=" + strconv.FormatBool(!asked.http2),
		"--tls-cert-file=" + in("server.crt"),
		"--tls-private-key-file=" + in("server.key"),
		"--client-ca-file=" + in("ca.crt"),
		"--token-auth-file=" + tokensPath(asked.dir),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + in("serviceaccount.key"),
		"--service-account-signing-key-file=" + in("serviceaccount.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		// Pods could not be created otherwise: no controller makes the "default" service account.
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
	}
}

// waitReady returns nil once /readyz answered 200, and the last answer if it did not do so in time.
func (api *apiServer) waitReady(ctx context.Context, authority *x509.Certificate, within time.Duration) error {
	trusted := x509.NewCertPool()
	trusted.AddCert(authority)
	client := http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}},
	}
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	last := "nothing yet"
	for {
		if last = askReady(&client, api.address); last == "" {
			return nil
		}
		select {
		case <-time.After(readyPoll):
		case <-deadline.C:
			return fmt.Errorf("kube-apiserver was not ready within %s; /readyz said: %s", within, last)
		case err := <-api.ended:
			return fmt.Errorf("kube-apiserver ended while starting: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// askReady returns what stands against being ready, or nothing.
func askReady(client *http.Client, address string) string {
	request, err := http.NewRequest(http.MethodGet, "https://"+address+"/readyz", nil)
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+users[0].token())
	answer, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	return fmt.Sprintf("%s: %s", answer.Status, text)
}
