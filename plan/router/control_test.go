package router_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"errand/plan/router"
)

// controls are sentences that steer, by what they mean.
var controls = map[router.Control][]string{
	router.Stop: {"멈춰", "멈춰!", "멈춰줘", "멈춰 주세요", "멈추세요", "멈춰라", "멈춰요", "좀 멈춰", "지금 당장 멈춰", "정지", "정지해", "스톱!", "스탑", "거기 서", "움직이지 마",
		"가지 마세요", "멈춰 멈춰 멈춰!", "야 멈춰", "아니 멈춰", "잠깐 멈춰", "그만 멈춰", "다 멈춰", "멈춰 줄래?", "멈춰 주실 수 있나요?",
		"stop", "Stop!", "STOP IT", "please stop", "stop stop stop", "hey, stop", "no, stop", "halt", "freeze", "don't move", "could you stop?", "stop moving", "stop, please"},
	router.Cancel: {"취소", "취소해", "취소해줘", "취소해 주세요", "취소하세요", "그만", "그만해", "그만해 주세요", "그만둬", "됐어", "됐어요", "하던 거 취소해", "이제 그만", "하지 마", "없던 일로 해줘",
		"cancel", "cancel it", "cancel the plan", "Please cancel that.", "abort", "never mind", "Nevermind", "forget it", "call it off", "quit", "can you cancel that?"},
	router.Pause: {"잠깐", "잠깐만", "잠깐만요", "잠시만요", "잠깐만 기다려", "기다려", "기다려 줘", "기다려 주세요", "기다리고 있어", "일시정지", "일시 정지해", "잠깐만, 기다려 봐",
		"wait", "wait a minute", "Wait!", "hold on", "hang on a second", "hold on, wait", "pause", "pause it", "just a moment", "one sec"},
	router.Resume: {"계속", "계속해", "계속해줘", "계속하세요", "계속 진행해 주세요", "이어서 해줘", "다시 시작해", "재개해", "그럼 계속해", "응, 계속해",
		"continue", "resume", "go on", "carry on", "please continue", "keep going", "ok, go on", "you can continue", "go ahead", "yes, go ahead"},
	router.Yes:   {"응", "네", "예", "응응", "그래", "좋아요", "그렇게 해", "네, 그렇게 해 주세요", "오케이", "yes", "Yeah", "yep", "sure", "okay", "yes please", "of course", "do it"},
	router.No:    {"아니", "아니요", "아뇨", "아니, 싫어", "안 돼", "no", "nope", "No, thanks", "not now"},
	router.Retry: {"다시", "다시 해줘", "다시 해 봐", "한 번 더 해줘", "try again", "again", "retry", "please try again"},
	router.Skip:  {"건너뛰어", "넘어가 줘", "그건 빼 줘", "skip", "skip that"},
	router.Mixed: {"청소 취소하고 안방으로 가", "취소하고 안방으로 가줘", "그만하고 돌아와", "청소 말고 취소", "cancel the cleaning and go to the bedroom", "멈춰 있지 마", "안방에서 멈춰", "don't stop"},
}

func TestWordsThatSteerAreUnderstoodWithoutAModel(t *testing.T) {
	t.Parallel()
	for want, sentences := range controls {
		for _, text := range sentences {
			for _, spelled := range []string{text, norm.NFD.String(text), "  " + text + " … "} {
				heard, ok := router.Listen(builtin, spelled)
				if !ok || heard.Control != want || heard.Rest {
					t.Errorf("%q: got %+v %t, want %s", spelled, heard, ok, want)
				}
			}
		}
	}
}

// What begins with a word for stopping stops, and what else was said is not taken.
func TestAStopIsTakenWhateverFollows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"멈춰 위험해", "멈춰! 그 앞에 아기가 있어", "멈추고 안방으로 가", "stop, you are going to hit it", "stop cleaning", "거기 서 떨어진다", "stop and go to the kitchen"} {
		if heard, ok := router.Listen(builtin, text); !ok || heard.Control != router.Stop || !heard.Rest {
			t.Errorf("%q: got %+v %t", text, heard, ok)
		}
	}
}

// A wish is no control, though it may share a word with one.
func TestAWishDoesNotSteer(t *testing.T) {
	t.Parallel()
	sentences := slices.Concat(nearMisses, []string{"안방으로 가줘", "안방에서 기다려", "계속 청소해", "응 청소해줘", "wait in the kitchen", "go to the kitchen", "continue cleaning tomorrow", "다시 안방으로 가",
		"멈춰?", "stop?", "취소됐어?", "", "   ", "?!", "계속 기다려 계속", strings.Repeat("응 ", 120) + "하"})
	steering := slices.Concat(controls[router.Cancel], controls[router.Yes], []string{"해줘"})
	for _, text := range sentences {
		heard, ok := router.Listen(builtin, text)
		if slices.Contains(steering, text) {
			continue // no wish either
		}
		if ok && heard.Control != router.Mixed && heard.Control != router.Stop {
			t.Errorf("%q: steers: %+v", text, heard)
		}
	}
	for routine, text := range map[string]string{"go_to_room": "안방으로 가줘", "clean_room": "안방 청소해줘"} {
		if heard, ok := router.Listen(builtin, text); ok {
			t.Errorf("%s: %q steers: %+v", routine, text, heard)
		}
	}
}

func TestAnAnswerIsTakenOnlyWhereItFits(t *testing.T) {
	t.Parallel()
	goOn, again, wait := []string{"continue", "stop"}, []string{"retry", "skip", "stop"}, []string{"wait", "stop"}
	for _, tt := range []struct {
		text    string
		choices []string
		want    string
	}{
		{"응", goOn, "continue"}, {"네, 계속해 주세요", goOn, "continue"}, {"yes", goOn, "continue"}, {"go ahead", goOn, "continue"}, {"아니", goOn, "stop"}, {"no", goOn, "stop"},
		{"다시 해줘", again, "retry"}, {"skip it", again, "skip"}, {"건너뛰어", again, "skip"}, {"잠깐 기다려", wait, "wait"}, {"Wait", wait, "wait"},
		{"응", again, ""}, {"아니", wait, ""}, {"다시", goOn, ""}, {"계속해", wait, ""}, {"멈춰", goOn, ""}, {"안방으로 가줘", goOn, ""}, {"", goOn, ""}, {"stop and go", goOn, ""},
		{"파란 방!", []string{"파란 방", "빨간 방"}, "파란 방"}, {"the Red room", []string{"blue room", "red room"}, "red room"}, {"yes", []string{"yes", "no"}, "yes"}, {"아뇨", []string{"yes", "no"}, "no"},
	} {
		if got, ok := router.Choose(builtin, tt.text, tt.choices); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%q to %v: got %q %t, want %q", tt.text, tt.choices, got, ok, tt.want)
		}
	}
}

func TestAFollowUpIsKnownByItsFirstWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"그리고 거실도 청소해줘": "거실 청소해줘", "끝나면 복귀해": "복귀해", "다 끝나면 안방으로 가줘": "안방으로 가줘", "그거 끝나면 복귀해줘": "복귀해줘", "그 다음에 안방도 청소해줘": "안방 청소해줘",
		"and then go to the kitchen": "go to the kitchen", "And clean 거실 too.": "clean 거실", "when you're done, clean 안방": "clean 안방", "after that go to 거실": "go to 거실",
		norm.NFD.String("그리고 거실도 청소해줘"): "거실 청소해줘", "그리고, 복귀해": "복귀해",
	} {
		got, ok := router.FollowUp(builtin, text, home)
		if !ok || got != want {
			t.Errorf("%q: got %q %t, want %q", text, got, ok, want)
		}
		if _, err := router.Match(builtin, router.Utterance{Text: got, Rooms: home}); err != nil && !strings.Contains(got, "kitchen") {
			t.Errorf("%q: the wish %q fits no routine: %v", text, got, err)
		}
	}
	for _, text := range []string{"안방으로 가줘", "그리고", "끝나면", "회의 끝나면 복귀해", "", "android", "thenceforth go", "그리고?", "거실 청소하고 그리고 복귀해"} {
		if got, ok := router.FollowUp(builtin, text, home); ok {
			t.Errorf("%q is a follow-up that asks for %q", text, got)
		}
	}
}

// However a control is spelled and spaced, it means the same, and never takes long.
func TestControlsSurviveMangling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]router.Control{router.Stop, router.Cancel, router.Pause, router.Resume, router.No}).Draw(t, "kind")
		text := rapid.SampledFrom(controls[kind]).Draw(t, "text")
		if strings.HasSuffix(text, "?") {
			return
		}
		if heard, ok := router.Listen(builtin, mangle(t, text)); !ok || heard.Control != kind {
			t.Fatalf("%q: got %+v %t, want %s", text, heard, ok, kind)
		}
	})
}

func FuzzListen(f *testing.F) {
	for _, sentences := range controls {
		f.Add(sentences[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		heard, ok := router.Listen(builtin, text)
		if ok == (heard.Control == "") {
			t.Fatalf("%q: %+v, %t", text, heard, ok)
		}
		if choice, ok := router.Choose(builtin, text, []string{"continue", "stop"}); ok && choice != "continue" && choice != "stop" {
			t.Fatalf("%q answers %q", text, choice)
		}
	})
}

func BenchmarkListen(b *testing.B) {
	text := strings.Repeat("응 ", 7) + "하"
	for b.Loop() {
		if _, ok := router.Listen(builtin, text); ok {
			b.Fatal("took it")
		}
	}
}

// Letters whose small form is longer are letters like any other.
func TestAFollowUpInAnyLetters(t *testing.T) {
	t.Parallel()
	wish, ok := router.FollowUp(builtin, "and then clean ȺȺȺȺȺȺȺȺ TOO", nil)
	if !ok || wish != "clean ȺȺȺȺȺȺȺȺ" {
		t.Errorf("%q, %v", wish, ok)
	}
}
