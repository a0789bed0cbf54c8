package dev

import "fmt"

// banner tells a person where everything is and what to try. errand is how this program was called.
func banner(up Running, errand string) string {
	return fmt.Sprintf(`
  Temporal UI   %[1]s
  HTTP API      %[2]s   (its description: /openapi.json)
  token         %[3]s
  device        %[4]s   (let in without a person: for development only)
  state, logs   %[5]s

Try, in another terminal:
  export ERRAND_API=%[2]s ERRAND_TOKEN=%[3]s
  %[6]s run "안방으로 가서 청정하고 복귀해줘"
  %[6]s device list
  %[6]s plan list
  curl -sS $ERRAND_API/v1/utterances -H "Authorization: Bearer $ERRAND_TOKEN" -d '{"recognized_text":"안방으로 가서 청정하고 복귀해줘"}'

Ctrl-C stops everything.
`, up.UI, up.API, up.Token, up.DeviceID, up.StateDir, errand)
}
