package api

import (
	_ "embed"
	"slices"

	"errand/internal/border"
)

//go:embed schema/utterance.schema.json
var utteranceJSON []byte

//go:embed schema/submission.schema.json
var submissionJSON []byte

//go:embed schema/forget.schema.json
var forgetJSON []byte

//go:embed schema/approve.schema.json
var approveJSON []byte

//go:embed schema/stop.schema.json
var stopJSON []byte

//go:embed schema/invite.schema.json
var inviteJSON []byte

//go:embed schema/home.schema.json
var homeJSON []byte

//go:embed schema/user.schema.json
var userJSON []byte

//go:embed schema/move.schema.json
var moveJSON []byte

//go:embed schema/control.schema.json
var controlJSON []byte

var (
	utteranceSchema  = border.MustCompile("utterance.schema.json", utteranceJSON)
	submissionSchema = border.MustCompile("submission.schema.json", submissionJSON)
	forgetSchema     = border.MustCompile("forget.schema.json", forgetJSON)
	approveSchema    = border.MustCompile("approve.schema.json", approveJSON)
	stopSchema       = border.MustCompile("stop.schema.json", stopJSON)
	inviteSchema     = border.MustCompile("invite.schema.json", inviteJSON)
	homeSchema       = border.MustCompile("home.schema.json", homeJSON)
	userSchema       = border.MustCompile("user.schema.json", userJSON)
	moveSchema       = border.MustCompile("move.schema.json", moveJSON)
	controlSchema    = border.MustCompile("control.schema.json", controlJSON)
)

// UtteranceSchema returns the JSON Schema (2020-12) of an utterance.
func UtteranceSchema() []byte { return slices.Clone(utteranceJSON) }
