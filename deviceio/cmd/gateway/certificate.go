package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"errand/deviceio/certificate"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/internal/config"
)

// certificateFile is the file with the gateway's certificates, beside the registry.
const certificateFile = "gateway-tls.json"

// certificates is the store that the settings name, with its folder.
func certificates(s *config.Gateway) (*certificate.Store, error) {
	place := filepath.Join(".errand", certificateFile)
	if !registry.IsURL(s.Registry) {
		place = filepath.Join(filepath.Dir(s.Registry), certificateFile)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the gateway's certificate cannot be made: %w", err)
	}
	return certificate.Open(place, certificate.Files{Cert: s.GatewayTLSCert, Key: s.GatewayTLSKey}, s.GatewayTLSLead), nil
}

// keepCertificate is the gateway's certificate, made at the first start; nil where it speaks no TLS.
func keepCertificate(s *config.Gateway, logger *slog.Logger) (*certificate.Keeper, error) {
	if !s.UsesTLS() {
		return nil, nil //nolint:nilnil // no TLS is no error
	}
	store, err := certificates(s)
	if err != nil {
		return nil, err
	}
	return certificate.Keep(store, logger)
}

// recordTime bounds telling the registry of a certificate.
const recordTime = 10 * time.Second

// secure puts TLS on the listener, where there is a certificate, and follows what becomes of it until ctx ends; rotating is closed
// when nothing does any more.
func (p process) secure(ctx context.Context) (l net.Listener, rotating <-chan struct{}, err error) {
	done := make(chan struct{})
	if p.keeper == nil {
		close(done)
		return p.listener, done, nil
	}
	tell := func(st certificate.Standing) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		defer cancel()
		return p.gateway.Shows(ctx, notice(st))
	}
	if err := tell(p.keeper.Standing()); err != nil {
		return nil, nil, err
	}
	p.log.Info("the gateway shows its certificate", "sha256", p.keeper.Standing().InUse.Fingerprint)
	go func() {
		defer close(done)
		p.keeper.Run(ctx, func(st certificate.Standing) {
			n := notice(st)
			p.log.Warn("the gateway's certificate", "sha256", n.Fingerprint, "next", n.NextFingerprint, "switch_at", switchAt(st))
			if err := tell(st); err != nil {
				p.log.Error("invites tell an old certificate", "error", err)
			}
		})
	}()
	return tls.NewListener(p.listener, p.keeper.Config()), done, nil
}

func notice(st certificate.Standing) wire.CertificateNotice {
	n := wire.CertificateNotice{Fingerprint: st.InUse.Fingerprint}
	if st.Next != nil {
		n.NextFingerprint, n.SwitchAtMs = st.Next.Fingerprint, st.Next.From.UnixMilli()
	}
	return n
}

func switchAt(st certificate.Standing) string {
	if st.Next == nil {
		return ""
	}
	return st.Next.From.Format(time.RFC3339)
}

// command runs the gateway, or what its arguments ask for:
//
//	gateway               serve
//	gateway certificate   show the certificate in use, and the next one
//	gateway rotate [IN]   make another certificate, announced for ERRAND_GATEWAY_TLS_LEAD, or for IN such as 24h
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return run(ctx, out)
	}
	var s config.Gateway
	if err := config.Load(&s); err != nil {
		return err
	}
	store, err := certificates(&s)
	if err != nil {
		return err
	}
	var st certificate.Standing
	switch {
	case args[0] == "certificate" && len(args) == 1:
		st, err = store.Read()
	case args[0] == "rotate" && len(args) <= 2:
		lead := s.GatewayTLSLead
		if len(args) == 2 {
			if lead, err = time.ParseDuration(args[1]); err != nil || lead < 0 {
				return fmt.Errorf("%q is not a duration such as 24h", args[1])
			}
		}
		if _, err = store.Read(); err == nil { // what is in use must be there, and whole
			st, err = store.Rotate(lead)
		}
	default:
		return fmt.Errorf("%q: the gateway serves without arguments, and knows certificate and rotate [IN]", args)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "in use  %s\n", st.InUse.Fingerprint)
	if st.Next != nil {
		fmt.Fprintf(out, "next    %s from %s\n", st.Next.Fingerprint, switchAt(st))
	}
	return nil
}
