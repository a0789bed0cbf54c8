package router_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
	"errand/catalog/load"
	"errand/plan"
	"errand/plan/router"
)

var builtin = load.Builtin()

var home = []catalog.Room{
	{ID: "1", Name: "거실"}, {ID: "3", Name: "서재"}, {ID: "4", Name: "주방"}, {ID: "6", Name: "안방"}, {ID: "7", Name: "아이 방"},
	{ID: "8", Name: "Bedroom"}, {ID: "9", Name: "Kitchen"}, {ID: "10", Name: "Living Room"}, {ID: "11", Name: "2층"}, {ID: "12", Name: "안방 화장실"},
}

func match(text string) (router.Matched, error) {
	return router.Match(builtin, router.Utterance{Text: text, Locale: "ko-KR", Rooms: home})
}

func TestMatchTakesEveryPhrasing(t *testing.T) {
	t.Parallel()
	phrasings := map[string]map[string]string{
		"go_to_room": {
			"안방으로 가줘": "안방", "안방으로 가": "안방", "안방으로 가 줘": "안방", "안방으로가줘": "안방", "안방 가줘": "안방", "안방에 가줘": "안방",
			"거실로 가줘": "거실", "거실로 이동해줘": "거실", "거실로 이동해": "거실", "거실로 이동": "", "서재로 가주세요": "서재", "서재로 가 주세요.": "서재",
			"서재로 가세요": "서재", "주방으로 와줘": "주방", "주방으로 오세요": "주방", "주방으로 와": "주방", "주방으로 좀 가줘": "주방", "주방으로 가줘!": "주방",
			"아이 방으로 가줘": "아이 방", "아이방으로 가줘": "아이 방", "안방으로 가줄래?": "안방", "안방으로 가 줄 수 있어?": "안방", "안방으로 가주실래요": "안방",
			"안방으로 가라": "안방", "안방으로 가줬으면 좋겠어": "안방", "안방으로 이동 부탁해": "안방", "안방으로 이동 부탁드립니다": "안방", "2층으로 가": "2층",
			"제발 안방으로 가줘": "안방", "지금 안방으로 가줘": "안방", "안방으로 움직여줘": "안방", "안방으로 움직이세요": "안방", "안방 화장실로 가줘": "안방 화장실",
			"Bedroom으로 가줘": "Bedroom", "kitchen으로 가줘": "Kitchen", "안방으로 가 있어줘": "안방", "안방으로 출발해": "안방",
			"go to the bedroom": "Bedroom", "Go to the kitchen.": "Kitchen", "please go to the living room": "Living Room", "go to the livingroom": "Living Room",
			"move to bedroom": "Bedroom", "Could you please go to the kitchen?": "Kitchen", "can you go to the kitchen": "Kitchen", "go to 안방": "안방",
			"head over to the kitchen please": "Kitchen", "go into the kitchen, please": "Kitchen", "I want you to go to the kitchen": "Kitchen",
			"GO TO THE KITCHEN!!": "Kitchen", "drive to the kitchen for me": "Kitchen", "I'd like you to move to the kitchen": "Kitchen",
		},
		"purify_room_and_return": {
			"안방으로 가서 청정하고 복귀해줘": "안방", "안방으로 가서 청정하고 복귀해 줘": "안방", "안방으로가서청정하고복귀해줘": "안방", "안방에 가서 청정하고 돌아와": "안방",
			"안방 가서 공기 청정하고 복귀해주세요": "안방", "안방으로 가서 공기를 청정하고 돌아와줘": "안방", "거실로 가서 정화하고 충전대로 돌아가줘": "거실",
			"거실로 가서 공기 청정한 다음 복귀해줘": "거실", "거실로 가서 청정한 뒤에 돌아와": "거실", "거실로 이동해서 청정하고 복귀하세요": "거실",
			"거실 공기 청정하고 복귀해": "거실", "거실로 가서 청정하고 복귀 부탁해": "거실", "거실로 가서 청정하고 복귀해줄래?": "거실", "안방으로, 가서 청정하고, 복귀해줘.": "안방",
			"안방으로 가서 청정해주고 복귀해줘": "안방", "아이방으로 가서 청정하고 충전하러 가": "아이 방",
			"go to the bedroom, purify the air and come back": "Bedroom", "Go to the bedroom and clean the air and return": "Bedroom",
			"purify the air in the kitchen and return to your station": "Kitchen", "go to the kitchen, purify the air, then come back": "Kitchen",
			"purify the kitchen and go back": "Kitchen", "Can you go to the bedroom, purify the air and return?": "Bedroom",
		},
		"purify_room": {
			"안방으로 가서 청정해줘": "안방", "안방 공기 청정해줘": "안방", "안방 청정해줘": "안방", "안방의 공기를 정화해주세요": "안방", "안방 가서 공기 좀 청정해": "안방",
			"서재로 이동해서 공기 정화해줘": "서재", "서재 공기 청정 부탁해": "서재", "go to the kitchen and purify the air": "Kitchen", "purify the kitchen": "Kitchen",
			"clean the air in the kitchen": "Kitchen", "purify the air in the living room please": "Living Room",
		},
		"clean_room": {
			"안방 청소해줘": "안방", "안방 청소해": "안방", "안방을 청소해줘": "안방", "안방 청소를 해줘": "안방", "안방 청소 좀 해줘": "안방", "안방 청소좀 해줘": "안방",
			"안방 청소 부탁해": "안방", "안방 청소를 부탁드려요": "안방", "안방 청소하세요": "안방", "주방으로 가서 청소해줘": "주방", "주방 가서 청소해": "주방",
			"안방 청소해줄래?": "안방", "아이 방 청소해 주세요": "아이 방", "clean the kitchen": "Kitchen", "vacuum the living room": "Living Room",
			"Would you clean the kitchen?": "Kitchen", "go clean the kitchen": "Kitchen", "go to the kitchen and clean it": "Kitchen", "clean up the kitchen": "Kitchen",
			"clean the kitchen, would you?": "Kitchen", "clean the kitchen, thanks": "Kitchen",
		},
		"clean_room_and_return": {
			"안방 청소하고 복귀해줘": "안방", "안방을 청소하고 돌아와": "안방", "안방 청소한 다음 돌아와줘": "안방", "거실로 가서 청소하고 복귀해": "거실",
			"거실 청소하고 충전하러 가": "거실", "clean the kitchen and come back": "Kitchen", "vacuum the kitchen, then return to your station": "Kitchen",
			"go to the kitchen, clean it and come back": "Kitchen",
		},
	}
	for routine, texts := range phrasings {
		for text, room := range texts {
			if room == "" {
				continue
			}
			got, err := match(text)
			if err != nil || got.RoutineID != routine || got.Slots["room"] != room {
				t.Errorf("%q: got %s in %q, %v; want %s in %q", text, got.RoutineID, got.Slots["room"], err, routine, room)
				continue
			}
			if said := got.Document.Steps[0].Action.Arguments["position_name"]; said != room {
				t.Errorf("%q: sends the robot to %v, want %q", text, said, room)
			}
		}
	}
}

func TestMatchTakesSentencesWithoutARoom(t *testing.T) {
	t.Parallel()
	phrasings := map[string][]string{
		"return_to_station": {"복귀해줘", "복귀해", "복귀하세요", "복귀 부탁해", "충전해", "돌아가", "돌아와줘", "충전대로 가", "충전대로 돌아가 주세요", "충전하러 가",
			"충전기로 가줘", "Return to the station.", "go back to your dock", "go home", "Please go home", "dock", "go charge", "return home", "Could you go home?"},
		"security_on": {"보안 모드 켜줘", "보안모드 켜", "보안 모드를 켜 주세요", "보안 모드 시작해", "경비 모드로 전환해줘", "보안 모드로 바꿔", "집 지켜줘", "집을 지켜", "보안 모드 좀 켜줄래?",
			"turn on security mode", "turn security on", "start security mode", "guard the house", "Can you turn on the security mode?"},
		"come_to_me": {"이리 와", "이리 와줘", "이리로 오세요", "여기로 와", "나한테 와줘", "내가 있는 곳으로 와줘", "come here", "come to me please", "Come over here!"},
		"status": {"상태 알려줘", "지금 상태 어때?", "상태 어때", "배터리 얼마나 남았어?", "배터리 얼마나 남았어", "배터리 몇 퍼센트야?", "지금 어디야?", "로봇 상태를 말해줘",
			"what's your status?", "What is your battery level?", "where are you?", "how much battery is left", "tell me your status"},
	}
	for routine, texts := range phrasings {
		for _, text := range texts {
			if got, err := match(text); err != nil || got.RoutineID != routine || len(got.Slots) != 0 {
				t.Errorf("%q: got %s %v, %v; want %s", text, got.RoutineID, got.Slots, err, routine)
			}
		}
	}
}

// nearMisses each hold a command that must not be obeyed.
var nearMisses = []string{
	// negations
	"안방으로 가지 마", "안방으로 가지마", "안방으로 가지 마세요", "안방으로 가지 말아줘", "안방으로 안 가", "안방으로 안가", "안방으로 안 가줘", "안방으로 가면 안 돼", "안방 청소하지 마",
	"안방 청소하지 말아 주세요", "안방 청소 안 해", "안방 청소 안 해도 돼", "안방 청소 못 해", "복귀하지 마", "복귀 안 해", "보안 모드 켜지 마", "이리 오지 마", "안방 말고 거실로 가줘",
	"안방 빼고 청소해줘", "안방으로 가지 말고 거실로 가줘", "안방은 청소하지 마라", "안방으로 가서 청정하고 복귀하지 마", "안방으로 가지 말고 복귀해줘", "가지 마", "하지 마",
	"don't go to the bedroom", "do not go to the bedroom", "never go to the bedroom", "go to the bedroom, not", "don't clean the kitchen", "please don't go home",
	"stop cleaning the kitchen", "do not come here", "don't turn on security mode", "go anywhere but the kitchen", "not the kitchen",
	// more than the routine takes
	"안방으로 가서 창문 열어줘", "안방 청소하고 창문 열어줘", "창문 열고 안방으로 가줘", "안방으로 가서 청정하고 창문 열고 복귀해줘", "안방이랑 거실 청소해줘", "안방과 거실 청소해줘",
	"안방 거실 청소해줘", "안방에서 거실로 가줘", "안방으로 갔다가 거실로 가줘", "내일 안방 청소해줘", "한 시간 뒤에 안방 청소해줘", "10분 뒤에 복귀해줘", "안방 두 번 청소해줘",
	"엄마한테 안방으로 가라고 해줘", "안방으로 가줘 그리고 음악 틀어줘", "배터리 있으면 안방으로 가줘", "비 오면 안방 청소해줘", "안방 조용히 청소해줘", "천천히 안방으로 가줘",
	"보안 모드 켜고 안방으로 가줘", "복귀하고 보안 모드 켜줘", "안방 침대 밑 청소해줘", "안방 앞으로 가줘", "안방 쪽으로 가줘", "안방까지만 가줘", "안방으로 가서 기다려줘",
	"go to the kitchen and open the window", "go to the kitchen tomorrow", "clean the kitchen and the bedroom", "clean the kitchen twice", "go to the kitchen quietly",
	"go to the kitchen or the bedroom", "if it rains clean the kitchen", "clean the kitchen except the table", "go to the kitchen then open the door",
	"tell mom to go to the kitchen", "clean the kitchen in an hour", "go home and turn on the light",
	// less than the routine needs
	"안방", "안방으로", "안방으로 가서", "안방으로 가서 청정하고", "청소", "안방 청소하고", "가줘", "가", "청정해줘", "으로 가줘", "줘", "해줘", "복귀", "보안 모드", "보안", "모드 켜줘", "이리",
	"go", "go to", "go to the", "the kitchen", "kitchen", "clean", "clean the", "purify", "turn on", "security mode", "go to the kitchen and", "to the kitchen",
	// questions, tales and wishes of another kind
	"안방 청소해?", "안방 청소했어?", "안방 청소했어", "안방으로 갔어?", "안방으로 갈까?", "안방으로 가도 돼?", "안방으로 가?", "언제 안방으로 가?", "왜 안방으로 가", "누가 안방으로 가",
	"안방으로 갈게", "안방으로 가자", "안방으로 간다", "안방으로 가는 중이야", "안방 청소하고 있어", "안방 청소 끝났어?", "안방 청소해야 돼", "안방으로 가래", "안방으로 가라고 했어",
	"복귀했어?", "보안 모드 켜져 있어?", "보안 모드 꺼줘", "보안 모드 켰어", "이리 와?", "안녕히 가세요", "어서 오세요", "잘 가", "안방 청소해줘?",
	"go to the kitchen?", "did you go to the kitchen?", "did you clean the kitchen", "why did you go to the kitchen", "should I go to the kitchen", "are you in the kitchen?",
	"clean the kitchen?", "who cleaned the kitchen?", "you went to the kitchen", "I go to the kitchen", "I want to go to the kitchen", "let's go to the kitchen",
	"turn off security mode", "is security mode on?", "how do I go to the kitchen?", "go to sleep", "go to hell", "clean the windows", "welcome home", "come on",
	// nothing
	"", " ", "?", "...", "안녕", "hello", "음악 틀어줘", "에어컨 켜줘", "멈춰", "취소해", "stop", "😀", "\x00", "\xff\xfe",
}

func TestMatchRefusesNearMisses(t *testing.T) {
	t.Parallel()
	for _, text := range nearMisses {
		got, err := match(text)
		if err == nil {
			t.Errorf("%q: took it as %s %v", text, got.RoutineID, got.Slots)
			continue
		}
		var none *router.NoMatch
		if !errors.Is(err, router.ErrNoMatch) || !errors.As(err, &none) || len(none.Offers) == 0 {
			t.Errorf("%q: got %v, want ErrNoMatch with offers", text, err)
		}
		if !reflect.DeepEqual(got, router.Matched{}) {
			t.Errorf("%q: returned %+v beside the error", text, got)
		}
	}
}

func TestMatchBuildsTheSeedsPlan(t *testing.T) {
	t.Parallel()
	got, err := match("안방으로 가서 청정하고 복귀해줘")
	if err != nil {
		t.Fatal(err)
	}
	step := func(id, capability string) plan.StepSpec {
		return plan.StepSpec{ID: id, Action: plan.Action{CapabilityID: capability, OperationID: "start", Arguments: map[string]any{}},
			ExecutionTarget: "device", WaitPolicy: "completed"}
	}
	move, purify, back := step("move", "move_to_room"), step("purify", "stationary_purify"), step("return", "return_to_station")
	move.Action.Arguments["position_name"], move.OutputKey = "안방", "arrival"
	purify.DependsOn, purify.InputFrom, purify.OutputKey = []string{"move"}, map[string]string{"area_id": "arrival.result.area_id"}, "air"
	back.DependsOn = []string{"purify"}
	if want := (plan.Document{Steps: []plan.StepSpec{move, purify, back}}); !reflect.DeepEqual(got.Document, want) {
		t.Errorf("got  %+v\nwant %+v", got.Document, want)
	}
}

func TestMatchGivesEachCallerAPlanOfItsOwn(t *testing.T) {
	t.Parallel()
	c := load.Builtin()
	u := router.Utterance{Text: "안방 청소하고 복귀해줘", Rooms: home}
	first, err := router.Match(c, u)
	if err != nil {
		t.Fatal(err)
	}
	first.Document.Steps[1].DependsOn[0] = "changed"
	first.Document.Steps[1].InputFrom["arrival"] = "changed"
	first.Document.Steps[0].Action.Arguments["position_name"] = "changed"
	second, err := router.Match(c, u)
	if err != nil || second.Document.Steps[1].DependsOn[0] != "move" || second.Document.Steps[1].InputFrom["arrival"] != "arrival.result" ||
		second.Document.Steps[0].Action.Arguments["position_name"] != "안방" {
		t.Errorf("the catalog was changed through a plan: %+v, %v", second, err)
	}
}

func TestCaseC14DecomposedHangulIsTheSameRoom(t *testing.T) {
	t.Parallel()
	for _, text := range []string{norm.NFD.String("안방으로 가서 청정하고 복귀해줘"), norm.NFD.String("안방") + " 청소해줘"} {
		if got, err := match(text); err != nil || got.Slots["room"] != "안방" {
			t.Errorf("%q: got %v, %v", text, got.Slots, err)
		}
	}
	rooms := []catalog.Room{{ID: "6", Name: norm.NFD.String("안방")}}
	got, err := router.Match(builtin, router.Utterance{Text: "안방으로 가줘", Rooms: rooms})
	if err != nil || got.Slots["room"] != rooms[0].Name {
		t.Errorf("a room catalog in NFD: got %q, %v", got.Slots, err)
	}
}

func TestCaseC10SameNameInTwoPlacesMovesNothing(t *testing.T) {
	t.Parallel()
	tests := map[string][]catalog.Room{
		"the same name":     {{ID: "6", Name: "안방"}, {ID: "9", Name: "안방"}},
		"another spacing":   {{ID: "6", Name: "안방"}, {ID: "9", Name: "안 방"}},
		"another spelling":  {{ID: "6", Name: "안방"}, {ID: "9", Name: norm.NFD.String("안방")}},
		"a particle in one": {{ID: "6", Name: "안방"}, {ID: "9", Name: "안방으로"}},
	}
	for name, rooms := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := router.Match(builtin, router.Utterance{Text: "안방으로 가줘", Rooms: rooms})
			var ambiguous *router.AmbiguousRoom
			if !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != 2 || !strings.HasPrefix(ambiguous.Said, "안") {
				t.Fatalf("got %+v, %v", got, err)
			}
			if len(got.Document.Steps) != 0 {
				t.Errorf("something would move: %+v", got.Document)
			}
			for _, id := range []string{"6", "9"} {
				if !strings.Contains(err.Error(), id) {
					t.Errorf("%q does not tell the rooms apart", err)
				}
			}
		})
	}
	twice := []catalog.Room{{ID: "6", Name: "안방"}, {ID: "6", Name: "안방"}}
	if got, err := router.Match(builtin, router.Utterance{Text: "안방으로 가줘", Rooms: twice}); err != nil || got.Slots["room"] != "안방" {
		t.Errorf("one room listed twice: got %v, %v", got, err)
	}
}

func TestMatchNeverGuessesAnotherRoom(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{
		"다락방으로 가줘": "다락방", "작은방 청소해줘": "작은방", "안방욕실로 가줘": "안방욕실", "작은 방으로 가서 청정하고 복귀해줘": "작은 방", "3층으로 가": "3층", "2.5층으로 가": "2.5층", "-2층으로 가": "-2층",
		"12층으로 가": "12층", "거실방으로 가줘": "거실방", "안바으로 가줘": "안바", "옥상으로 이동해 주세요": "옥상", "go to the garage": "garage", "clean the guest bedroom": "guest bedroom",
		"go to the bathroom and purify the air": "bathroom", "Could you go to the office?": "office", "go to bedroom 2": "",
	} {
		got, err := match(text)
		var unknown *router.UnknownRoom
		switch {
		case err == nil:
			t.Errorf("%q: goes to %q", text, got.Slots["room"])
		case said == "":
			continue // any refusal will do
		case !errors.As(err, &unknown) || unknown.Said != said || len(unknown.Known) != len(home):
			t.Errorf("%q: got %v, want the unknown room %q", text, err, said)
		}
	}
	_, err := router.Match(builtin, router.Utterance{Text: "안방으로 가줘"})
	var unknown *router.UnknownRoom
	if !errors.As(err, &unknown) || unknown.Said != "안방" || len(unknown.Known) != 0 {
		t.Errorf("without a room catalog: got %v", err)
	}
}

func TestMatchPrefersTheRoutineWithMoreWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	rooms := []catalog.Room{{ID: "1", Name: "충전대"}}
	if got, err := router.Match(builtin, router.Utterance{Text: "충전대로 가줘", Rooms: rooms}); err != nil || got.RoutineID != "return_to_station" {
		t.Errorf("got %s, %v", got.RoutineID, err)
	}
	c := load.Builtin()
	again := c.Routines[0]
	again.ID = "go_again"
	c.Routines = append(c.Routines, again)
	if got, err := router.Match(c, router.Utterance{Text: "안방으로 가줘", Rooms: home}); !errors.Is(err, router.ErrNoMatch) {
		t.Errorf("two equal routines: got %s, %v, want no match", got.RoutineID, err)
	}
}

func TestMatchBoundsTheSentence(t *testing.T) {
	t.Parallel()
	if _, err := match(strings.Repeat(" ", 250) + "안방으로 가줘"); !errors.Is(err, router.ErrNoMatch) {
		t.Errorf("got %v", err)
	}
}

func TestOffersLeaveOutWhatIsTurnedOff(t *testing.T) {
	t.Parallel()
	c := load.Builtin()
	all := router.Offers(c, "ko-KR")
	if !slices.Contains(all, "불 켜기") || all[0] != "방으로 가기" || router.Offers(c, "en-US")[0] != "go to a room" {
		t.Errorf("got %q", all)
	}
	for i := range c.Capabilities {
		if c.Capabilities[i].ID == "room_cleaning" {
			c.Capabilities[i].Enabled = false
		}
	}
	if got := router.Offers(c, "ko"); len(got) != len(all)-2 || strings.Contains(strings.Join(got, " "), "청소") {
		t.Errorf("with cleaning turned off: %q", got)
	}
}

func TestExplainSpeaksToThePerson(t *testing.T) {
	t.Parallel()
	twins := []catalog.Room{{ID: "6", Name: "안방"}, {ID: "9", Name: "안방"}}
	for _, tt := range []struct {
		text, locale string
		rooms        []catalog.Room
		want         string
	}{
		{"다락방으로 가줘", "ko", home[:2], "다락방이라는 방을 찾지 못했어요. 제가 아는 방: 거실, 서재"},
		{"go to the garage", "en", home[:2], "I know no room called garage. The rooms I know: 거실, 서재"},
		{"안방으로 가줘", "ko", twins, "안방이라는 방이 여러 곳이에요. 방 이름을 서로 다르게 지어 주세요."},
		{"작은방으로 가줘", "ko", []catalog.Room{{ID: "6", Name: "작은방"}, {ID: "9", Name: "작은 방"}}, "작은방이라는 방이 여러 곳이에요. 어느 방인지 알려 주세요. 작은방, 작은 방"},
		{"노래해줘", "ko", nil, "그 말씀은 잘 모르겠어요. 제가 할 수 있는 일: 방으로 가기, "},
		{"sing", "en", nil, "I do not know how to do that. What I can do: go to a room, "},
	} {
		_, err := router.Match(builtin, router.Utterance{Text: tt.text, Locale: tt.locale, Rooms: tt.rooms})
		if got := router.Explain(builtin, err, tt.locale); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := router.Explain(builtin, errors.New("other"), "ko"); got != "" {
		t.Errorf("of another error: %q", got)
	}
}
