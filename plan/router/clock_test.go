package router

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"7시": "07:00", "07시": "07:00", "19시": "19:00", "0시": "00:00", "7시반": "07:30", "7시30분": "07:30", "7시5분": "07:05", "7:30": "07:30", "19:05": "19:05",
		"오전7시": "07:00", "오전12시": "00:00", "오전0시": "00:00", "오후7시30분": "19:30", "오후12시": "12:00", "오후13시": "13:00", "오후7:30": "19:30",
		"아침7시": "07:00", "저녁7시": "19:00", "새벽2시": "02:00", "새벽12시": "00:00", "낮12시": "12:00", "낮2시": "14:00", "정오": "12:00", "자정": "00:00",
		"일곱시": "07:00", "한시": "01:00", "열시": "10:00", "열한시반": "11:30", "오후열두시": "12:00", "７시": "07:00",
		"24시": "", "25:00": "", "오전13시": "", "오후0시": "", "저녁12시": "", "아침12시": "", "아침3시": "", "새벽7시": "", "낮8시": "", "7시60분": "", "7": "", "7분": "", "시": "",
		"밤10시": "", "7시알람": "", "일곱": "", "-7시": "", "7:3": "", "": "",
	} {
		if got, ok := timeOfDay(said, "ko"); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", said, got, ok, want)
		}
	}
	for said, want := range map[string]string{
		"7": "07:00", "7am": "07:00", "7pm": "19:00", "12am": "00:00", "12pm": "12:00", "7:30": "07:30", "7:30pm": "19:30", "7oclock": "07:00", "19": "19:00", "noon": "12:00", "midnight": "00:00",
		"13pm": "", "0am": "", "24": "", "7:60": "", "am": "", "7시": "", "seven": "", "730": "",
	} {
		if got, ok := timeOfDay(said, "en"); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", said, got, ok, want)
		}
	}
}

// What is said in 24 hours is taken as it is said, and whatever is read is a time of a day.
func TestTimeOfDayIsNeverGuessed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, m := rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")
		want := fmt.Sprintf("%02d:%02d", h, m)
		for _, said := range []string{fmt.Sprintf("%d시%d분", h, m), want} {
			if got, ok := timeOfDay(said, "ko"); !ok || got != want {
				t.Fatalf("%q: %q", said, got)
			}
		}
		text := rapid.StringMatching(`(오전|오후|새벽|아침|낮|저녁|)[0-9열한두일곱]{0,3}(시|:|)[0-9]{0,2}(분|반|)`).Draw(t, "text")
		if got, ok := timeOfDay(text, "ko"); ok && !isTime(got) {
			t.Fatalf("%q: %q", text, got)
		}
	})
}

func isTime(s string) bool {
	var h, m int
	n, err := fmt.Sscanf(s, "%02d:%02d", &h, &m)
	return err == nil && n == 2 && h >= 0 && h <= 23 && m >= 0 && m <= 59 && len(s) == 5
}
