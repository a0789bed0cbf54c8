package router

import (
	"fmt"
	"regexp"
	"strconv"

	"golang.org/x/text/unicode/norm"
)

// A time of day is taken as it was said. "7시" is 07:00 and never 19:00: whoever means the evening says so ("오후 7시", "저녁
// 7시", "19시", "7 pm"). A guess would ring twelve hours late; a person who hears "07:00" in the answer can mend it.

// longestTime bounds how a time is said, in characters without spaces: "오전열한시30분".
const longestTime = 10

var (
	koreanTime  = regexp.MustCompile(`^(오전|오후|새벽|아침|낮|저녁)?(?:([0-9]{1,2}|[한두세네]|다섯|여섯|일곱|여덟|아홉|열[한두]?)시(반|[0-9]{1,2}분)?|([0-9]{1,2}):([0-9]{2}))$`)
	englishTime = regexp.MustCompile(`^([0-9]{1,2})(?::([0-9]{2}))?(?:oclock)?(am|pm)?$`)
)

// hours are the native Korean numbers, by which hours are counted.
var hours = map[string]int{"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10, "열한": 11, "열두": 12}

// wholeTimes are said in one word.
var wholeTimes = map[string]string{"정오": "12:00", "자정": "00:00", "noon": "12:00", "midnight": "00:00"}

// part is a part of the day: the hours that people say with it, how many are added to them, and which hour twelve is.
// A twelve below 0 is not said.
type part struct{ from, to, add, twelve int }

var parts = map[string]part{
	"오전": {0, 11, 0, 0}, "새벽": {0, 6, 0, 0}, "아침": {4, 11, 0, -1},
	"낮": {1, 5, 12, 12}, "오후": {1, 11, 12, 12}, "저녁": {5, 11, 12, -1},
	"am": {1, 11, 0, 0}, "pm": {1, 11, 12, 12},
}

// timeOfDay reads a time as it is said in a language, its spaces gone, and gives it in 24 hours: "오전7시30분" is "07:30".
func timeOfDay(text, language string) (string, bool) {
	text = norm.NFKC.String(text) // "７시" is typed too
	if whole, ok := wholeTimes[text]; ok {
		return whole, true
	}
	var when, hour, minute string
	if language == "en" {
		found := englishTime.FindStringSubmatch(text)
		if found == nil {
			return "", false
		}
		hour, minute, when = found[1], found[2], found[3]
	} else {
		found := koreanTime.FindStringSubmatch(text)
		if found == nil {
			return "", false
		}
		when, hour, minute = found[1], found[2]+found[4], found[3]+found[5]
	}
	h, m := hourOf(hour, when), minuteOf(minute)
	if h < 0 || m < 0 {
		return "", false
	}
	return fmt.Sprintf("%02d:%02d", h, m), true
}

// hourOf is the hour from 0 to 23, or -1 where nobody says so: "오전 15시", "24시".
func hourOf(said, when string) int {
	h, native := hours[said]
	if !native {
		h, _ = strconv.Atoi(said) // the pattern lets digits alone through
	}
	p, parted := parts[when]
	switch {
	case !parted && h <= 23:
		return h
	case !parted:
		return -1
	case h == 12:
		return p.twelve
	case h >= p.from && h <= p.to:
		return h + p.add
	case when == "오후" && h > 12 && h <= 23:
		return h // "오후 13시": said twice, and not otherwise
	}
	return -1
}

// minuteOf is the minute from 0 to 59; none is 0, and -1 is no minute.
func minuteOf(said string) int {
	switch said {
	case "":
		return 0
	case "반":
		return 30
	}
	m, _ := strconv.Atoi(digits(said))
	if m > 59 {
		return -1
	}
	return m
}

// digits are those that a text begins with: "30분".
func digits(text string) string {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return text[:n]
}
