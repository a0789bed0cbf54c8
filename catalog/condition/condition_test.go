package condition_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"errand/catalog/condition"
	"errand/catalog/fresh"
)

func eval(t *testing.T, expr string, context, args, result map[string]any) (condition.Truth, error) {
	t.Helper()
	c, err := condition.Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return c.Eval(context, args, result)
}

type object = map[string]any

func TestEvalAnswers(t *testing.T) {
	t.Parallel()
	context := object{
		"location":    object{"available": true, "room_name": "안방"},
		"battery":     object{"level": 41.0, "charging": false},
		"air_quality": object{"rooms": object{"6": object{"pm25": 12.5, "purified_at": 1.7e12}}},
	}
	args := object{"position_name": "안방", "area_id": "6"}
	result := object{"air_quality_after": 12.0}
	for expr, want := range map[string]condition.Truth{
		`context.location.room_name == args.position_name`:                               condition.True,
		`context.location.room_name != args.position_name`:                               condition.False,
		`context.battery.level > 20`:                                                     condition.True,
		`context.battery.level == 41`:                                                    condition.True,
		`context.air_quality.rooms[args.area_id].pm25 <= result.air_quality_after + 1.0`: condition.True,
		`context.air_quality.rooms[args.area_id].purified_at > 0`:                        condition.True,
		`has(context.location.room_name) ? context.location.room_name == "거실" : true`:    condition.False,
		`context.battery.charging`:                                                       condition.False,
		`context.movement.state == "charging" || context.location.room_name == "안방"`:     condition.True,
		`context.movement.state == "charging" && context.location.room_name == "거실"`:     condition.False,
	} {
		if got, err := eval(t, expr, context, args, result); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", expr, got, err, want)
		}
	}
}

func TestLaw17AbsentIsUnknownNotFalse(t *testing.T) {
	t.Parallel()
	context := object{"location": object{"room_name": nil}, "battery": object{}, "air_quality": nil}
	for _, expr := range []string{
		`context.movement.state == "charging"`,                      // an absent area
		`context.battery.level > 20`,                                // an absent key
		`context.location.room_name == args.position_name`,          // a null
		`!(context.location.room_name == "거실")`,                     // its negation is no more known
		`context.air_quality.pm25 < 10`,                             // a null area
		`context.air_quality.rooms["6"].pm25 < 10`,                  //
		`result.air_quality_after < 10`,                             // no result at all
		`context.battery["level"] > 20`,                             // by index
		`context.movement.state == "idle" && true`,                  // one unknown side
		`context.movement.state == "idle" || false`,                 //
		`context.movement.state == "idle" ? true : true`,            //
		`[1, 2].exists(n, context.battery.level > n)`,               //
		`args.position_name.startsWith("안") && 1 == 1`,              //
		`context.battery.level > context.movement.last_known_level`, // two of them
	} {
		if got, err := eval(t, expr, context, nil, nil); got != condition.Unknown || err != nil {
			t.Errorf("%s: got %s, %v, want unknown without an error", expr, got, err)
		}
	}
}

func TestEvalNeverTakesABreakForAVerdict(t *testing.T) {
	t.Parallel()
	context := object{"battery": object{"level": "full"}, "list": []any{1.0, 2.0, 3.0}}
	for _, expr := range []string{
		`context.battery.level > 20`, // mistyped
		`context.battery.level`,      // no truth
		`context.list.map(a, context.list.map(b, context.list.map(c, context.list.map(d, context.list.map(e, context.list.map(f, context.list.map(g, context.list.map(h, h)))))))).size() > 0`,
	} {
		got, err := eval(t, expr, context, nil, nil)
		if got != condition.Unknown || !errors.Is(err, condition.ErrExpression) {
			t.Errorf("%s: got %s, %v, want unknown with ErrExpression", expr, got, err)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		``, `context.`, `1 + 1`, `"안방"`, `weather.sunny`, `context.location.room_name = "안방"`, `now() > 3`,
		`context.size() > 0 && ` + strings.Repeat("true && ", 300) + `true`,
	} {
		if c, err := condition.Compile(expr); !errors.Is(err, condition.ErrExpression) {
			t.Errorf("%s: got %v, %v, want ErrExpression", expr, c, err)
		}
	}
}

func TestEvalIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c, err := condition.Compile(`context.battery.level > 20`)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			want := condition.False
			if i > 4 {
				want = condition.True
			}
			if got, err := c.Eval(object{"battery": object{"level": float64(i * 5)}}, nil, nil); got != want || err != nil {
				t.Errorf("%d: got %s, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func TestTruthsAreAllDifferent(t *testing.T) {
	t.Parallel()
	seen := map[condition.Truth]bool{}
	for _, truth := range condition.Truths() {
		seen[truth] = true
	}
	if len(seen) != 3 || !seen[condition.Unknown] {
		t.Errorf("got %v", condition.Truths())
	}
}

// A robot that says nothing about where it is has not been shown to be elsewhere.
func ExampleCondition_Eval() {
	arrived, err := condition.Compile(`context.location.room_name == args.position_name`)
	if err != nil {
		fmt.Println(err)
		return
	}
	args := map[string]any{"position_name": "안방"}
	for _, location := range []map[string]any{
		{"available": true, "room_name": "안방"}, {"available": true, "room_name": "거실"}, {"available": false},
	} {
		context := fresh.Context(map[string]any{"location": location}, 0)
		truth, err := arrived.Eval(context, args, nil)
		fmt.Println(truth, err)
	}
	// Output:
	// true <nil>
	// false <nil>
	// unknown <nil>
}
