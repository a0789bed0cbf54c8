package config_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"errand/internal/config"
)

type settings struct {
	Listen  string        `split_words:"true" default:"127.0.0.1:7410" desc:"address to listen on"`
	Token   string        `required:"true" secret:"true" desc:"token of every request"`
	Wait    time.Duration `default:"3s" unit:"duration" desc:"how long to wait"`
	APIBase string        `split_words:"true" desc:"where the API is"`
	shared
}

type shared struct {
	Workers int `default:"4" unit:"count" desc:"how many"`
}

func TestLoadReportsEveryProblemAtOnce(t *testing.T) {
	t.Setenv("ERRAND_WAIT", "soon")
	t.Setenv("ERRAND_WORKERS", "many")
	err := config.Load(new(settings))
	if !errors.Is(err, config.ErrSettings) {
		t.Fatalf("Load = %v, want ErrSettings", err)
	}
	for _, want := range []string{
		`ERRAND_WAIT: "soon" is not a duration such as 30s or 5m: how long to wait`,
		`ERRAND_WORKERS: "many" is not a whole number: how many (count)`,
		`ERRAND_TOKEN is not set: token of every request`,
		"`errand config`",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestLoadFillsDefaultsAndSplitsWordsAsEnvconfigDoes(t *testing.T) {
	t.Setenv("ERRAND_TOKEN", "secret-1")
	t.Setenv("ERRAND_API_BASE", "http://a")
	t.Setenv("TOKEN", "not ours")
	var s settings
	if err := config.Load(&s); err != nil {
		t.Fatal(err)
	}
	want := settings{Listen: "127.0.0.1:7410", Token: "secret-1", Wait: 3 * time.Second, APIBase: "http://a", shared: shared{Workers: 4}}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

func TestLoadKeepsSecretsOutOfItsErrors(t *testing.T) {
	type s struct {
		Key int `secret:"true" desc:"a key"`
	}
	t.Setenv("ERRAND_KEY", "hunter2")
	if err := config.Load(new(s)); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Load = %v, want an error without the secret", err)
	}
}

func TestARequiredSettingMayNotBeEmpty(t *testing.T) {
	t.Setenv("ERRAND_TOKEN", "")
	if err := config.Load(new(settings)); err == nil || !strings.Contains(err.Error(), "ERRAND_TOKEN is empty") {
		t.Errorf("Load = %v, want ERRAND_TOKEN is empty", err)
	}
}

func TestTableMasksSecretsAndMarksWhatIsSet(t *testing.T) {
	t.Setenv("ERRAND_TOKEN", "hunter2")
	t.Setenv("TEMPORAL_API_KEY", "hunter3")
	var out bytes.Buffer
	if err := config.Write(&out, config.Section{Process: "api", About: "the HTTP API", Spec: new(settings)}); err != nil {
		t.Fatal(err)
	}
	if err := config.WriteTemporal(&out); err != nil {
		t.Fatal(err)
	}
	table := out.String()
	for _, secret := range []string{"hunter2", "hunter3"} {
		if strings.Contains(table, secret) {
			t.Errorf("the table shows the secret %s:\n%s", secret, table)
		}
	}
	for _, want := range []string{"api: the HTTP API", "ERRAND_LISTEN", "*********", "ERRAND_WAIT", "TEMPORAL_ADDRESS", "required"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

func TestDialSaysWhereTemporalWasSoughtAndWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_ADDRESS", address)
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_, err = config.Dial(ctx, slog.New(slog.DiscardHandler))
	if !errors.Is(err, config.ErrUnreachable) {
		t.Fatalf("Dial = %v, want ErrUnreachable", err)
	}
	for _, want := range []string{address, "errand dev", "TEMPORAL_ADDRESS"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q: %v", want, err)
		}
	}
}

// Over the loopback, compressing each request costs more than it saves; over a network it does not.
func TestOnlyAServerOfAnotherMachineIsSentCompressedRequests(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull)
	for address, compressed := range map[string]bool{"": false, "127.0.0.1:7233": false, "localhost:7233": false, "[::1]:7233": false,
		"temporal:7233": true, "10.0.0.7:7233": true, "nonsense": true} {
		t.Setenv("TEMPORAL_ADDRESS", address)
		options, err := config.ClientOptions(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, never := options.ConnectionOptions.GrpcCompression.(*client.GrpcCompressionNone); never == compressed {
			t.Errorf("%q: never compressed is %v", address, never)
		}
	}
}
