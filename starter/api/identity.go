package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// planID is "p-" and 24 hex digits of a hash over who and what: the same request always gets the same plan
// (design §6 Idempotency). Each part is prefixed with its length by JSON's quotes, so that no two lists collide.
func planID(parts ...string) string {
	return "p-" + hashJSON(parts)[:24]
}

// randomPlanID is for a request that carries no key: asking again is then another plan.
func randomPlanID() string { return planID("random", rand.Text()) }

// hashJSON is the hex SHA-256 of a value's JSON. encoding/json sorts the keys of maps, so equal values hash equally.
func hashJSON(v any) string {
	canonical, err := json.Marshal(v)
	if err != nil { // only of values that came out of JSON
		panic("api: hash of a value that is not JSON: " + err.Error())
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// short is a device id as a person can read it.
func short(id string) string {
	if len(id) > 12 && !strings.ContainsAny(id, " -") {
		return id[:12] + "…"
	}
	return id
}
