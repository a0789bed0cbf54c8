package plan

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"errand/catalog"
)

// spokenOf is what may fill a sentence about a step: its slots, what it gave, and the object it acts on.
func (s *State) spokenOf(i int, result map[string]any) map[string]string {
	values := spoken(s.Start.Locale, s.arguments(i), result)
	if st := &s.Steps[i]; st.Target != nil {
		values["target"] = st.Target.Label
	}
	return values
}

// arguments are a step's slots as submitted; before that, as the plan has them.
func (s *State) arguments(i int) map[string]any {
	if sent := s.Steps[i].Arguments; sent != nil {
		return sent
	}
	return s.Document.Steps[i].Action.Arguments
}

// spoken turns slots and listed result fields into text for a sentence, as it is said in the language of the locale.
func spoken(locale string, maps ...map[string]any) map[string]string {
	values := make(map[string]string)
	for _, m := range maps {
		for _, k := range sortedKeys(m) {
			if text := inWords(locale, m[k]); text != "" {
				values[k] = text
			}
		}
	}
	return values
}

func inWords(locale string, value any) string {
	switch v := value.(type) {
	case string:
		return momentsInWords(locale, v)
	case float64: // two places after the point are more than anybody wants to hear
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	case bool:
		if v {
			return catalog.Text{Ko: "예", En: "yes"}.In(locale)
		}
		return catalog.Text{Ko: "아니요", En: "no"}.In(locale)
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, inWords(locale, item))
		}
		return strings.Join(all, " ")
	}
	return ""
}

// moment is a time of a day as documents and devices write it, by the clock of the home or of the zone it names: 2026-12-02T09:00.
var moment = regexp.MustCompile(`\b([0-9]{4})-(0[1-9]|1[0-2])-([0-9]{2})T([0-9]{2}:[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?(Z?)(?:[+-][0-9]{2}:?[0-9]{2})?`)

var (
	momentText = catalog.Text{Ko: "{year}년 {month}월 {day}일 {time}[({zone})]", En: "{day} {name} {year}, {time}[ ({zone})]"}
	zoneText   = catalog.Text{Ko: "세계 표준시", En: "UTC"}
	months     = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
)

// momentsInWords says the times in a text as people do: 2026년 12월 2일 09:00.
func momentsInWords(locale, text string) string {
	return moment.ReplaceAllStringFunc(text, func(found string) string {
		part := moment.FindStringSubmatch(found)
		values := map[string]string{"year": part[1], "month": strings.TrimPrefix(part[2], "0"), "day": strings.TrimPrefix(part[3], "0"), "time": part[4]}
		if n, err := strconv.Atoi(values["month"]); err == nil { // the pattern lets no other through
			values["name"] = months[n-1]
		}
		if part[5] != "" {
			values["zone"] = zoneText.In(locale)
		}
		return catalog.Render(momentText.In(locale), values)
	})
}
