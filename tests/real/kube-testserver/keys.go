// Keys and certificates: one authority, and what it signs for the server and for the admin who logs in by certificate.
//
// Always true: private keys are readable by their owner alone, and each start makes new ones.
//
// Not here: which user has which rights (users.go).
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validFor is longer than any test run, and short enough that a forgotten folder is worth nothing.
const validFor = 30 * 24 * time.Hour

// keyring is the authority and what the rest of the program needs of it.
type keyring struct {
	dir          string
	authority    *x509.Certificate
	authorityKey *ecdsa.PrivateKey
}

// writeKeys writes ca, server, admin and serviceaccount as .crt and .key into dir.
func writeKeys(dir string) (*keyring, error) {
	ring := &keyring{dir: dir}
	if err := ring.makeAuthority(); err != nil {
		return nil, err
	}
	signed := map[string]*x509.Certificate{
		"server": {
			Subject:     pkix.Name{CommonName: "kube-apiserver"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default.svc"},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		},
		"admin": {
			Subject:     pkix.Name{CommonName: "admin", Organization: []string{mastersGroup}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		},
		"serviceaccount": {Subject: pkix.Name{CommonName: "service-account-tokens"}},
	}
	for name, template := range signed {
		if _, _, err := ring.sign(name, template); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return ring, nil
}

func (ring *keyring) makeAuthority() error {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kube-testserver"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	authority, key, err := ring.sign("ca", template)
	ring.authority, ring.authorityKey = authority, key
	return err
}

// sign makes a key and its certificate and writes both. Without an authority yet, the certificate signs itself.
func (ring *keyring) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, nil, err
	}
	template.KeyUsage |= x509.KeyUsageDigitalSignature
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = template.NotBefore.Add(validFor)
	parent, parentKey := ring.authority, ring.authorityKey
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	if err := writePEM(filepath.Join(ring.dir, name+".crt"), "CERTIFICATE", der); err != nil {
		return nil, nil, err
	}
	if err := writePEM(filepath.Join(ring.dir, name+".key"), "EC PRIVATE KEY", keyDER); err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return certificate, key, err
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
