package router_test

import (
	"errors"
	"testing"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
	"errand/plan/router"
)

// homeContext is the part of a device's context that tells what people named.
func homeContext() map[string]any {
	area := func(field string, names ...string) map[string]any {
		items := []any{}
		for i, name := range names {
			items = append(items, map[string]any{"id": string(rune('a' + i)), field: name})
		}
		return map[string]any{"available": true, "items": items}
	}
	return map[string]any{
		"alarms": area("label", "출근", "운동", "work", ""), "reminders": area("text", "약 먹기", "take the pills"),
		"lights": area("name", "스탠드", "스탠드", "천장등", "reading lamp"), "doors": area("name", "현관", "베란다", "front"),
	}
}

var homeRooms = []catalog.Room{{ID: "1", Name: "거실"}, {ID: "6", Name: "안방"}, {ID: "8", Name: "bedroom"}}

func TestHomeSentencesAreUnderstood(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		routine string
		slots   map[string]string
	}{
		"7시 알람 삭제해줘":                      {"alarm_delete_at", map[string]string{"time": "07:00"}},
		"오전 7시 30분 알람 좀 지워 주세요":           {"alarm_delete_at", map[string]string{"time": "07:30"}},
		"저녁 일곱 시 알람을 지워줄래?":               {"alarm_delete_at", map[string]string{"time": "19:00"}},
		"7:30 알람 없애줘":                     {"alarm_delete_at", map[string]string{"time": "07:30"}},
		"출근 알람 지우세요":                      {"alarm_delete_named", map[string]string{"label": "출근"}},
		"알람 삭제해줘":                         {"alarm_delete", nil},
		"알람 하나 지워줘":                       {"alarm_delete", nil},
		"7시 알람 맞춰줘":                       {"alarm_set", map[string]string{"time": "07:00"}},
		"내일 아니고 그냥 7시 알람 맞춰줘":             {"", nil},
		"7시 반에 알람 설정해줘":                   {"alarm_set", map[string]string{"time": "07:30"}},
		"알람을 7시로 맞추세요":                    {"alarm_set", map[string]string{"time": "07:00"}},
		"알람 맞춰줘":                          {"", nil}, // when? a model may ask
		"알람 뭐 있어?":                        {"alarm_list", nil},
		"7시 알람 있어?":                       {"alarm_list_at", map[string]string{"time": "07:00"}},
		"약 먹기 알림 삭제해줘":                    {"reminder_delete_named", map[string]string{"text": "약 먹기"}},
		"알림 지워줘":                          {"reminder_delete", nil},
		"불 켜줘":                            {"light_on", nil},
		"불 켜":                             {"light_on", nil},
		"불 끄세요":                           {"light_off", nil},
		"안방 불 꺼줘":                         {"light_off_in", map[string]string{"room": "안방"}},
		"안방에 불 좀 켜 줄 수 있어?":               {"light_on_in", map[string]string{"room": "안방"}},
		"스탠드 켜줘":                          {"light_on_named", map[string]string{"light": "스탠드"}},
		"현관문 잠가줘":                         {"door_lock_named", map[string]string{"door": "현관"}},
		"현관 문 잠그세요":                       {"door_lock_named", map[string]string{"door": "현관"}},
		"문 잠가":                            {"door_lock", nil},
		"현관문 열어줘":                         {"door_unlock_named", map[string]string{"door": "현관"}},
		"베란다 잠금 풀어주세요":                    {"door_unlock_named", map[string]string{"door": "베란다"}},
		"현관문 여세요":                         {"door_unlock_named", map[string]string{"door": "현관"}},
		"문 열어줘":                           {"door_unlock", nil},
		"창문 열어줘":                          {"", nil}, // no door of that name
		"현관문 열지 마":                        {"", nil},
		"현관문 열어?":                         {"", nil},
		"현관문 잠그고 불 꺼줘":                    {"", nil}, // half of it is not taken
		"알람 다 지워줘":                        {"", nil},
		"7시 알람 지우지 마":                     {"", nil},
		"7시 알람 지웠어?":                      {"", nil},
		"25시 알람 삭제해줘":                     {"", nil},
		"7시 60분 알람 삭제해줘":                  {"", nil},
		"Delete the 7 am alarm":           {"alarm_delete_at", map[string]string{"time": "07:00"}},
		"please remove my alarm at 7:30":  {"alarm_delete_at", map[string]string{"time": "07:30"}},
		"delete the work alarm":           {"alarm_delete_named", map[string]string{"label": "work"}},
		"delete my alarm":                 {"alarm_delete", nil},
		"set an alarm for 7 o'clock":      {"alarm_set", map[string]string{"time": "07:00"}},
		"could you set an alarm for 7pm?": {"alarm_set", map[string]string{"time": "19:00"}},
		"set an alarm for 13 pm":          {"", nil},
		"what alarms do I have?":          {"alarm_list", nil},
		"turn on the light":               {"light_on", nil},
		"turn off the lamp in the bedroom": {"light_off_in",
			map[string]string{"room": "bedroom"}},
		"turn on the reading lamp": {"light_on_named", map[string]string{"light": "reading lamp"}},
		"lock the front door":      {"door_lock_named", map[string]string{"door": "front"}},
		"unlock the front door":    {"door_unlock_named", map[string]string{"door": "front"}},
		"don't unlock the door":    {"", nil},
		"unlock the back door":     {"", nil},
		"delete the take the pills reminder": {"reminder_delete_named",
			map[string]string{"text": "take the pills"}},
	} {
		for form, spelled := range map[string]string{"NFC": text, "NFD": norm.NFD.String(text)} {
			matched, err := router.Match(builtin, router.Utterance{Text: spelled, Rooms: homeRooms, Context: homeContext()})
			if want.routine == "" {
				if !errors.Is(err, router.ErrNoMatch) {
					t.Errorf("%s in %s: got %s %v, %v, want no match", text, form, matched.RoutineID, matched.Slots, err)
				}
				continue
			}
			if err != nil || matched.RoutineID != want.routine || len(matched.Slots) != len(want.slots) {
				t.Errorf("%s in %s: got %s %v, %v, want %s", text, form, matched.RoutineID, matched.Slots, err, want.routine)
				continue
			}
			for name, value := range want.slots {
				if matched.Slots[name] != value {
					t.Errorf("%s in %s: takes %q for %s, want %q", text, form, matched.Slots[name], name, value)
				}
			}
		}
	}
}

// The plan says what is meant and by what it is found, and leaves the choice of the object to the moment before it is done.
func TestHomePlanNamesNoObject(t *testing.T) {
	t.Parallel()
	for text, arguments := range map[string]map[string]any{
		"7시 알람 삭제해줘": {"time": "07:00"}, "알람 삭제해줘": {}, "안방 불 꺼줘": {"room_name": "안방"}, "현관문 잠가줘": {"name": "현관"},
	} {
		matched, err := router.Match(builtin, router.Utterance{Text: text, Rooms: homeRooms, Context: homeContext()})
		if err != nil || len(matched.Document.Steps) != 1 {
			t.Errorf("%s: %+v, %v", text, matched, err)
			continue
		}
		got := matched.Document.Steps[0].Action.Arguments
		if len(got) != len(arguments) {
			t.Errorf("%s: %v, want %v", text, got, arguments)
		}
		for name, value := range arguments {
			if got[name] != value {
				t.Errorf("%s: %v, want %v", text, got, arguments)
			}
		}
	}
}

// Law17: what the device does not tell cannot be called by a name, and a room it does not have is no room.
func TestLaw17NamesComeFromTheContext(t *testing.T) {
	t.Parallel()
	for name, context := range map[string]map[string]any{
		"no context": nil, "not available": {"doors": map[string]any{"available": false, "items": []any{map[string]any{"name": "현관"}}}},
		"not a list": {"doors": map[string]any{"items": "현관"}}, "not a name": {"doors": map[string]any{"items": []any{map[string]any{"name": 7.0}, "현관"}}},
	} {
		if matched, err := router.Match(builtin, router.Utterance{Text: "현관문 잠가줘", Rooms: homeRooms, Context: context}); !errors.Is(err, router.ErrNoMatch) {
			t.Errorf("%s: %+v, %v", name, matched, err)
		}
	}
	_, err := router.Match(builtin, router.Utterance{Text: "창고 불 켜줘", Rooms: homeRooms, Context: homeContext()})
	if unknown, ok := errors.AsType[*router.UnknownRoom](err); !ok || unknown.Said != "창고" {
		t.Errorf("an unknown room: %v", err)
	}
}

// A sentence that fits two names is not sure: nobody guesses.
func TestNamesThatOverlapAreNotGuessed(t *testing.T) {
	t.Parallel()
	doors := map[string]any{"doors": map[string]any{"items": []any{map[string]any{"name": "현관"}, map[string]any{"name": "현관문"}}}}
	if matched, err := router.Match(builtin, router.Utterance{Text: "현관문 잠가줘", Context: doors}); !errors.Is(err, router.ErrNoMatch) {
		t.Errorf("%+v, %v", matched, err)
	}
	if matched, err := router.Match(builtin, router.Utterance{Text: "현관 잠가줘", Context: doors}); err != nil || matched.Slots["door"] != "현관" {
		t.Errorf("%+v, %v", matched, err)
	}
}

// Several ways to say the same are one offer.
func TestOffersAreSaidOnce(t *testing.T) {
	t.Parallel()
	for _, locale := range []string{"ko", "en"} {
		seen := map[string]bool{}
		for _, offer := range router.Offers(builtin, locale) {
			if seen[offer] {
				t.Errorf("%s is offered twice", offer)
			}
			seen[offer] = true
		}
	}
}
