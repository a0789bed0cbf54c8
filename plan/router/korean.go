package router

import "strings"

// A Korean command ends in its verb. Templates are written in one ending, "-아/어 줘"; here the others are brought to it,
// so that "복귀하세요", "복귀 부탁해" and "복귀해" all become "복귀해줘". Only endings that ask for something are known:
// "-지 마", "-자", "-ㄹ게", "-았어" and "-라고" are not, and a sentence that ends in one matches nothing.

// requests follow the verb's -아/어 form.
var requests = []string{
	"줘", "줘요", "줘라", "주라", "주세요", "주십시오", "주시오", "줬으면해", "줬으면해요", "줬으면좋겠어", "줬으면좋겠어요", "라", "봐", "봐줘", "봐요",
}

// politeQuestions ask in the form of a question, and may have its mark.
var politeQuestions = []string{
	"줄래", "줄래요", "주실래요", "주겠니", "주겠어", "주겠어요", "주시겠어요", "주시겠습니까", "줄수있어", "줄수있어요", "줄수있니", "줄수있나요",
	"줄수있을까", "줄수있을까요", "주실수있어요", "주실수있나요", "주실수있을까요",
}

// honorifics follow the verb's stem, not its -아/어 form.
var honorifics = []string{"세요", "십시오", "시오", "셔"}

// stems maps the end of a verb's stem to the end of its -아/어 form, for the verbs of the templates.
var stems = map[string]string{"하": "해", "오": "와", "가": "가", "켜": "켜", "키": "켜", "이": "여", "리": "려", "꾸": "꿔", "추": "춰", "두": "둬",
	"우": "워", "끄": "꺼", "그": "가", "여": "열어", "푸": "풀어"}

// favours follow the noun of a 하다 verb: "청소 부탁해".
var favours = []string{"부탁해", "부탁해요", "부탁드려요", "부탁드립니다", "부탁합니다", "부탁할게", "부탁할게요"}

// koreanForms lists what a sentence may mean as a command in the templates' ending.
func koreanForms(s sentence) []sentence {
	text := string(s.runes)
	var forms []sentence
	add := func(command string) {
		form := s
		form.runes = []rune(command)
		form.asked = false
		forms = append(forms, form)
	}
	for _, ending := range politeQuestions {
		if verb, ok := strings.CutSuffix(text, ending); ok {
			add(verb + "줘")
		}
	}
	if s.asked {
		return forms // "안방 청소해?" asks; only a polite question commands
	}
	add(text + "줘") // the bare verb: "안방으로 가"
	for _, ending := range requests {
		if verb, ok := strings.CutSuffix(text, ending); ok {
			add(verb + "줘")
		}
	}
	for _, ending := range honorifics {
		if verb, ok := strings.CutSuffix(text, ending); ok {
			addHonorific(verb, add)
		}
	}
	for _, ending := range favours {
		if noun, ok := strings.CutSuffix(text, ending); ok {
			noun = strings.TrimSuffix(strings.TrimSuffix(noun, "을"), "를")
			add(noun + "해줘")
		}
	}
	return forms
}

func addHonorific(verb string, add func(string)) {
	for stem, form := range stems {
		if head, ok := strings.CutSuffix(verb, stem); ok {
			add(head + form + "줘")
		}
	}
}

// koreanParticles may follow a room in a sentence that says more about it than a routine takes.
var koreanParticles = []string{
	"으로", "로", "에서", "에", "을", "를", "이", "가", "은", "는", "도", "만", "와", "과", "랑", "이랑", "하고", "말고", "빼고", "부터", "까지", "쪽",
}

// koreanRooms end the names that homes give their rooms. Where no particle shows that a word is a place, one of these must.
var koreanRooms = []string{
	"방", "실", "룸", "관", "층", "홀", "부엌", "주방", "베란다", "발코니", "테라스", "복도", "창고", "서재", "다락", "마루", "차고", "옥상", "마당",
}
