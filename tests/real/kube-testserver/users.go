// Who may log in, and the kubeconfig that says so: one context for each user, named after them.
//
// Always true: only admin has rights from the start. nobody never gets any; limited is for tests that bind it to a
// role of their own.
//
// Not here: roles and bindings, which each test makes for itself.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mastersGroup is the group that kube-apiserver lets do everything, before it asks RBAC.
const mastersGroup = "system:masters"

type user struct {
	name   string
	groups []string
}

// token is guessable on purpose: a test can name it, and the server is reachable from this machine alone.
func (u user) token() string { return u.name + "-token" }

var users = []user{
	{name: "admin", groups: []string{mastersGroup}},
	{name: "nobody"},
	{name: "limited"},
}

func tokensPath(dir string) string { return filepath.Join(dir, "tokens.csv") }

// writeTokens writes the file that --token-auth-file reads: token, user, uid, groups.
func writeTokens(dir string) error {
	var lines strings.Builder
	for _, u := range users {
		fmt.Fprintf(&lines, "%s,%s,%s-uid", u.token(), u.name, u.name)
		if len(u.groups) > 0 {
			fmt.Fprintf(&lines, ",\"%s\"", strings.Join(u.groups, ","))
		}
		lines.WriteByte('\n')
	}
	return os.WriteFile(tokensPath(dir), []byte(lines.String()), 0o600)
}

// writeKubeconfig returns the path of a kubeconfig for address. JSON is YAML, so any client reads it.
func writeKubeconfig(dir, address string) (string, error) {
	type object = map[string]any
	logins, contexts := []object{}, []object{}
	login := func(name string, credentials object) {
		logins = append(logins, object{"name": name, "user": credentials})
		contexts = append(contexts, object{"name": name, "context": object{"cluster": "test", "user": name}})
	}
	for _, u := range users {
		login(u.name, object{"token": u.token()})
	}
	login("admin-cert", object{
		"client-certificate": filepath.Join(dir, "admin.crt"),
		"client-key":         filepath.Join(dir, "admin.key"),
	})
	text, err := json.MarshalIndent(object{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": users[0].name,
		"clusters": []object{{"name": "test", "cluster": object{
			"server":                "https://" + address,
			"certificate-authority": filepath.Join(dir, "ca.crt"),
		}}},
		"users":    logins,
		"contexts": contexts,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kubeconfig")
	return path, os.WriteFile(path, append(text, '\n'), 0o600)
}
