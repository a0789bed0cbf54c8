package activities_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/sdk/testsuite"

	"errand/activities"
	"errand/plan"
)

func perform(t *testing.T, cloud activities.Cloud, c plan.Perform) plan.Performed {
	t.Helper()
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	cloud.Register(env)
	value, err := env.ExecuteActivity(plan.ActivityPerform, c)
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Performed
	if err := value.Get(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAStepInTheCloudEndsWithAReasonThatTheTableKnows(t *testing.T) {
	cloud := activities.Cloud{
		"refuses": func(context.Context, plan.Perform) (map[string]any, error) {
			return nil, fmt.Errorf("look up: %w", &activities.Reason{Report: plan.Report{Code: "ROOM_UNKNOWN", Detail: "attic"}})
		},
		"breaks": func(context.Context, plan.Perform) (map[string]any, error) {
			return nil, errors.New("no route to host")
		},
	}
	for method, want := range map[string]string{"refuses": "ROOM_UNKNOWN", "breaks": "EXECUTOR_FAILED", "unheard-of": "UNSUPPORTED_METHOD"} {
		got := perform(t, cloud, plan.Perform{OperationID: "p/a/1", TaskMethod: method})
		if got.Report == nil || got.Report.Code != want || got.Report.Detail == "" || got.Result != nil {
			t.Errorf("%s: %+v, want %s and why", method, got.Report, want)
		}
	}
}

func TestAirQualityIsToldWithItsGrade(t *testing.T) {
	for _, c := range []struct {
		measured   any
		locale     string
		said, code string
	}{
		{15.0, "ko-KR", "초미세먼지 농도는 15이고, 등급은 좋음이에요.", ""},
		{15.04, "ko-KR", "초미세먼지 농도는 15이고, 등급은 좋음이에요.", ""},
		{75.5, "ko-KR", "초미세먼지 농도는 75.5이고, 등급은 매우 나쁨이에요.", ""},
		{36.0, "en", "Fine dust is at 36, which is bad.", ""},
		{1999.96, "en", "Fine dust is at 2000, which is very bad.", ""},
		{"12", "en", "", "MISSING_PARAMETER"},
		{nil, "en", "", "MISSING_PARAMETER"},
	} {
		got := perform(t, activities.BuiltinCloud(), plan.Perform{TaskMethod: "reportAirQuality", Locale: c.locale, Arguments: map[string]any{"air_quality": c.measured}})
		code := ""
		if got.Report != nil {
			code = got.Report.Code
		}
		if said, _ := got.Result["tts_response"].(string); said != c.said || code != c.code {
			t.Errorf("%v: %q %s, want %q %s", c.measured, said, code, c.said, c.code)
		}
	}
}

// A performer is a function: what it returns is what the step gives away, as far as its contract lists it.
func ExampleCloud() {
	cloud := activities.Cloud{"lookUpWeather": func(_ context.Context, c plan.Perform) (map[string]any, error) {
		return map[string]any{"tts_response": fmt.Sprintf("It rains in %s.", c.Arguments["place"])}, nil
	}}
	performed, err := cloud["lookUpWeather"](context.Background(), plan.Perform{Arguments: map[string]any{"place": "Seoul"}})
	fmt.Println(performed["tts_response"], err)
	// Output: It rains in Seoul. <nil>
}
