package router_test

import (
	"testing"

	"golang.org/x/text/unicode/norm"

	"errand/plan/router"
)

func TestChooseObject(t *testing.T) {
	alarms := []string{"07:00 출근", "07:00 운동"}
	lamps := []string{"안방 스탠드", "거실 스탠드", "거실 조명"}
	english := []string{"the reading lamp in the bedroom", "the floor lamp in the living room"}
	for _, tt := range []struct {
		text   string
		labels []string
		want   int // -1: none
	}{
		{"두 번째 거", alarms, 1}, {"첫 번째요", alarms, 0}, {"2번", alarms, 1}, {"둘째 걸로", alarms, 1},
		{"운동", alarms, 1}, {"운동 알람", alarms, 1}, {"출근 거", alarms, 0}, {norm.NFD.String("운동 알람으로"), alarms, 1},
		{"안방", lamps, 0}, {"거실 조명", lamps, 2},
		{"the second one", english, 1}, {"number two", english, 1}, {"the reading lamp", english, 0}, {"Bedroom", english, 0},
		// Not one of them, or more than one: nobody guesses.
		{"세 번째", alarms, -1}, {"7시", alarms, -1}, {"출근이랑 운동", alarms, -1}, {"거실", lamps, -1}, {"스탠드", lamps, -1}, {"", alarms, -1},
		{"안방 조명", lamps, -1}, {"the lamp", english, -1}, {"아무거나", alarms, -1},
		// A wish is no choice, though it names a place that one of them is in.
		{"안방으로 가줘", lamps, -1}, {"안방으로 가서 청정하고 복귀해줘", lamps, -1}, {"go to the bedroom and clean", english, -1},
	} {
		got, ok := router.ChooseObject(tt.text, tt.labels)
		if ok != (tt.want >= 0) || (ok && got != tt.want) {
			t.Errorf("%q of %q: %d, %v; want %d", tt.text, tt.labels, got, ok, tt.want)
		}
	}
}
