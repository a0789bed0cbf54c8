package config_test

import (
	"fmt"
	"os"
	"time"

	"errand/internal/config"
)

// A process describes its settings as one struct and loads them; every problem is told at once.
func ExampleLoad() {
	type settings struct {
		DoorListen string        `split_words:"true" default:"127.0.0.1:80" desc:"address the door listens on"`
		DoorWait   time.Duration `split_words:"true" default:"3s" desc:"how long it stays open"`
		DoorKey    string        `split_words:"true" required:"true" secret:"true" desc:"what opens it"`
	}
	if err := os.Setenv("ERRAND_DOOR_WAIT", "a while"); err != nil {
		panic(err)
	}
	fmt.Println(config.Load(new(settings)))
	// Output:
	// the settings are not usable:
	//   ERRAND_DOOR_WAIT: "a while" is not a duration such as 30s or 5m: how long it stays open
	//   ERRAND_DOOR_KEY is not set: what opens it
	// `errand config` lists every setting
}
