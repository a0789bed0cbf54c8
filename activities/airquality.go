package activities

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"errand/catalog"
	"errand/plan"
)

// grades of fine dust (PM2.5, µg/m³, 24 h) as the Korean Ministry of Environment names them: up to which value, and how it
// is said.
var grades = []struct {
	upTo float64
	said catalog.Text
}{
	{15, catalog.Text{Ko: "좋음", En: "good"}},
	{35, catalog.Text{Ko: "보통", En: "moderate"}},
	{75, catalog.Text{Ko: "나쁨", En: "bad"}},
	{math.Inf(1), catalog.Text{Ko: "매우 나쁨", En: "very bad"}},
}

// reportAirQuality says how the air is, from what was measured. No model is asked.
func reportAirQuality(_ context.Context, c plan.Perform) (map[string]any, error) {
	measured, ok := c.Arguments["air_quality"].(float64)
	if !ok {
		return nil, &Reason{plan.Report{Code: "MISSING_PARAMETER", Detail: "air_quality must be a number, µg/m³ of PM2.5"}}
	}
	measured = math.Round(measured*10) / 10 // more is noise of the sensor, and the grade is that of what is said
	for _, g := range grades {
		if measured <= g.upTo {
			form := catalog.Text{Ko: "초미세먼지 농도는 %s이고, 등급은 %s이에요.", En: "Fine dust is at %s, which is %s."}.In(c.Locale)
			return map[string]any{"tts_response": fmt.Sprintf(form, strconv.FormatFloat(measured, 'f', -1, 64), g.said.In(c.Locale))}, nil
		}
	}
	return nil, &Reason{plan.Report{Code: "INVALID_PARAMETER", Detail: fmt.Sprintf("air_quality is %v", measured)}}
}
