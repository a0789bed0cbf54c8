package router_test

import (
	"errors"
	"fmt"

	"errand/catalog"
	"errand/catalog/load"
	"errand/plan/router"
)

func ExampleMatch() {
	rooms := []catalog.Room{{ID: "1", Name: "거실"}, {ID: "6", Name: "안방"}}

	matched, err := router.Match(load.Builtin(), router.Utterance{Text: "안방으로 가서 청정하고 복귀해줘", Rooms: rooms})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range matched.Document.Steps {
		fmt.Println(step.ID, step.Action.CapabilityID, step.Action.Arguments, step.DependsOn, step.InputFrom)
	}
	// Output:
	// move move_to_room map[position_name:안방] [] map[]
	// purify stationary_purify map[] [move] map[area_id:arrival.result.area_id]
	// return return_to_station map[] [purify] map[]
}

// A room that the device does not have is never taken for another; Explain says so to the person.
func ExampleExplain() {
	c := load.Builtin()
	rooms := []catalog.Room{{ID: "1", Name: "거실"}, {ID: "6", Name: "안방"}}

	for _, text := range []string{"다락방으로 가줘", "안방으로 가지 마"} {
		_, err := router.Match(c, router.Utterance{Text: text, Locale: "ko-KR", Rooms: rooms})
		var unknown *router.UnknownRoom
		fmt.Println(errors.As(err, &unknown), errors.Is(err, router.ErrNoMatch))
		if unknown != nil {
			fmt.Println(router.Explain(c, err, "ko-KR"))
		}
	}
	// Output:
	// true false
	// 다락방이라는 방을 찾지 못했어요. 제가 아는 방: 거실, 안방
	// false true
}

// Words that steer need no model; what they answer depends on the question.
func ExampleListen() {
	for _, text := range []string{"좀 멈춰 주세요!", "hold on a second", "멈춰, 위험해", "청소 취소하고 안방으로 가", "안방으로 가줘"} {
		heard, steers := router.Listen(load.Builtin(), text)
		fmt.Println(steers, heard.Control, heard.Rest)
	}
	fmt.Println(router.Choose(load.Builtin(), "응", []string{"continue", "stop"}))
	fmt.Println(router.Choose(load.Builtin(), "응", []string{"retry", "stop"}))
	// Output:
	// true stop false
	// true pause false
	// true stop true
	// true mixed false
	// false  false
	// continue true
	//  false
}

func ExampleFollowUp() {
	rooms := []catalog.Room{{ID: "1", Name: "거실"}}
	fmt.Println(router.FollowUp(load.Builtin(), "그리고 거실도 청소해줘", rooms))
	fmt.Println(router.FollowUp(load.Builtin(), "회의 끝나면 복귀해", rooms))
	// Output:
	// 거실 청소해줘 true
	//  false
}
