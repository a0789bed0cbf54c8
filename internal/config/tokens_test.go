package config_test

import (
	"strings"
	"testing"

	"errand/internal/config"
)

func TestFurtherTokensHaveOwners(t *testing.T) {
	t.Setenv("ERRAND_TOKEN", "the-main-token-of-this-api")
	t.Setenv("ERRAND_TOKENS", "mina:a-token-of-mina-herself,phone:the-token-of-a-phone")
	var s config.API
	if err := config.Load(&s); err != nil {
		t.Fatal(err)
	}
	if len(s.Tokens) != 2 || s.Tokens["mina"] != "a-token-of-mina-herself" || s.Tokens["phone"] != "the-token-of-a-phone" {
		t.Errorf("read %v", s.Tokens)
	}
	for given, says := range map[string]string{
		"mina:short":                      `the token of "mina" has 5 bytes`,
		"api:a-token-of-someone-else":     `"api" cannot be an owner`,
		"Mina K:a-token-of-someone-else":  `"Mina K" cannot be an owner`,
		"mina:the-main-token-of-this-api": `"api" and "mina" have the same token`,
		"a-token-without-an-owner":        "ERRAND_TOKENS: its value is not a list such as name:value,name:value",
	} {
		t.Setenv("ERRAND_TOKENS", given)
		err := config.Load(new(config.API))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", given, err)
		}
		if secret := strings.TrimPrefix(given, "mina:"); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows the token: %v", given, err)
		}
	}
}
