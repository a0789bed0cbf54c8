package robot

import (
	"slices"

	"errand/deviceio/wire"
)

// comeToMe is a method with a long life of its own inside the device (vendor checklist, 19.comToMe): it hears where
// a voice came from, drives there, looks for the person and may follow. How much of that is allowed depends on the
// rollout stage, and from stage 1 on only for a registered speaker.
//
//	stage   allowed                                             effect
//	0-1     answers                                             answered
//	0-2     hears the direction and turns                       turned
//	1       speaker check, direction, drives to the room        came
//	2       the same, and looks for the person                  came
//	3       the same, and follows with commandType=follow       came, followed
var rolloutStages = []string{"0-1", "0-2", "1", "2", "3"}

const (
	stageTurns   = 1 // index in rolloutStages from which it is allowed
	stageDrives  = 2
	stageLooks   = 3
	stageFollows = 4
)

// gateSpeaker is the gate of the first phase from stage 1 on: behind it the robot listens and moves.
const gateSpeaker = "speaker"

func rollout(params map[string]any) (level int, given string) {
	given, _ = text(params, "rolloutStage", "rollout_stage")
	if given == "" {
		given = "1"
	}
	return slices.Index(rolloutStages, given), given
}

func follows(params map[string]any) bool {
	command, _ := text(params, "commandType", "command_type")
	return command == "follow" || command == "followMe" || command == "follow_me"
}

func checkComeToMe(_ Home, params map[string]any) *wire.Reason {
	level, given := rollout(params)
	if level < 0 {
		return invalid("rolloutStage", "want one of 0-1, 0-2, 1, 2, 3")
	}
	if follows(params) && level < stageFollows {
		return because(ReasonStageNotAllowed, map[string]any{"rolloutStage": given, "commandType": "follow", "needs": rolloutStages[stageFollows]})
	}
	return nil
}

func comeToMe(h Home, t *Task) []phase {
	level, _ := rollout(t.Spec.Params)
	var phases []phase
	add := func(stage string, secs float64, gate string) {
		phases = append(phases, phase{Kind: phaseDwell, Stage: stage, Seconds: secs, Gate: gate})
	}
	if level < stageTurns {
		add("answering", 1, "")
		return phases
	}
	if level >= stageDrives {
		add("checking_speaker", 0.5, "")
		add("listening", 1, gateSpeaker)
		phases = append(phases, drive(h, t.RoomID))
	} else {
		add("listening", 1, "")
		add("turning", 1, "")
	}
	if level >= stageLooks {
		add("looking", 2, "")
	}
	if level >= stageFollows && follows(t.Spec.Params) {
		add("following", 10, "")
	}
	return phases
}

// speakerGate answers whether the person speaking is a registered one; nil opens the gate.
func speakerGate(h Home, t *Task) *wire.Reason {
	speaker, _ := text(t.Spec.Params, "speakerId", "speaker_id")
	if slices.Contains(h.Speakers, speaker) {
		return nil
	}
	_, stage := rollout(t.Spec.Params)
	return because(ReasonSpeakerUnknown, map[string]any{"speakerId": speaker, "rolloutStage": stage})
}

func come(_ Home, _ *World, t *Task, _ int64) string {
	switch level, _ := rollout(t.Spec.Params); {
	case level < stageTurns:
		return "answered"
	case level < stageDrives:
		return "turned"
	case follows(t.Spec.Params):
		return "followed"
	}
	return "came"
}

func came(h Home, w *World, t *Task) map[string]any {
	level, stage := rollout(t.Spec.Params)
	room := h.RoomAt(w.X, w.Y)
	result := map[string]any{"rolloutStage": stage, "area_id": room.ID, "current_room_name": room.Name}
	if level >= stageTurns {
		result["doa_degrees"] = 42.0
	}
	for _, slot := range []string{"commandType", "roomName", "speakerId"} {
		if v, given := t.Spec.Params[slot]; given {
			result[slot] = v
		}
	}
	return result
}
