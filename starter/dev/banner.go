package dev

import "fmt"

// banner tells a person where everything is and what to try.
func banner(up Running) string {
	return fmt.Sprintf(`
  Temporal UI   %[1]s
  HTTP API      %[2]s   (its description: /openapi.json)
  token         %[3]s
  device        %[4]s
  state, logs   %[5]s

Try, in another terminal:
  errand run "안방으로 가서 청정하고 복귀해줘"
  errand device list
  errand plan list
  curl -sS %[2]s/v1/utterances -H "Authorization: Bearer %[3]s" -d '{"recognized_text":"안방으로 가서 청정하고 복귀해줘"}'

Ctrl-C stops everything.
`, up.UI, up.API, up.Token, up.DeviceID, up.StateDir)
}
