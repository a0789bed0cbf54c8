package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"errand/deviceio/registry"
)

// A device is declared by its handshake, approved by a person, and routed to while it is connected.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "errand")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { fmt.Println("cleaned up:", os.RemoveAll(dir) == nil) }()
	r, err := registry.Open(ctx, filepath.Join(dir, "registry.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	device, err := r.Declare(ctx, registry.Declaration{ID: "4f1e", DisplayName: "robot", StoreID: "store-1"})
	fmt.Println(device.State, err)
	fmt.Println("approved:", r.Approve(ctx, "4f1e"))

	fmt.Println("gateway:", r.AddGateway(ctx, "gw-1", "deviceio@gw-1", 10*time.Second))
	epochs, err := r.Boots(ctx, "4f1e", []string{"boot-1", "boot-2"})
	fmt.Println("boots in order:", epochs["boot-1"] < epochs["boot-2"], err)
	epoch, err := r.Connect(ctx, registry.Connection{DeviceID: "4f1e", GatewayID: "gw-1", BootID: "boot-2", BootEpoch: epochs["boot-2"]}, 10*time.Second)
	fmt.Println("connected:", epoch > 0, err)

	route, ok, err := r.Route(ctx, "4f1e")
	fmt.Println(route.TaskQueue, ok, err)
	fmt.Println("closed:", r.Close())
	// Output:
	// pending <nil>
	// approved: <nil>
	// gateway: <nil>
	// boots in order: true <nil>
	// connected: true <nil>
	// deviceio@gw-1 true <nil>
	// closed: <nil>
	// cleaned up: true
}

// A setup code approves in advance whoever comes with it first. Later commands of that device wait for a person.
func ExampleRegistry_Redeem() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "errand")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { fmt.Println("cleaned up:", os.RemoveAll(dir) == nil) }()
	r, err := registry.Open(ctx, filepath.Join(dir, "registry.db")) // or postgres://errand@db.example/errand
	if err != nil {
		fmt.Println(err)
		return
	}
	code, _, err := r.NewSetupCode(ctx)
	fmt.Println("code:", code != "", err)
	_, err = r.Declare(ctx, registry.Declaration{ID: "4f1e", PublicKey: "key", Commands: []string{"system.which"}})
	fmt.Println("redeemed:", r.Redeem(ctx, "4f1e", code), err)

	device, err := r.Declare(ctx, registry.Declaration{ID: "4f1e", PublicKey: "key", Commands: []string{"system.which", "system.run"}})
	fmt.Println(device.State, device.Offers("system.which"), device.Offers("system.run"), device.Unapproved(), err)
	fmt.Println("closed:", r.Close())
	// Output:
	// code: true <nil>
	// redeemed: <nil> <nil>
	// approved true false [system.run] <nil>
	// closed: <nil>
	// cleaned up: true
}

// A device is in one home, whose users and voices have rights there.
func ExampleRegistry_VoiceAt() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "errand")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { fmt.Println("cleaned up:", os.RemoveAll(dir) == nil) }()
	r, err := registry.Open(ctx, filepath.Join(dir, "registry.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Declare(ctx, registry.Declaration{ID: "4f1e", PublicKey: "key"})
	fmt.Println("declared:", err)
	fmt.Println("home:", r.SetHome(ctx, registry.Home{ID: "kim", Voice: registry.Rights{Command: true, Hear: true}}))
	token, err := r.AddUser(ctx, registry.User{ID: "joon", HomeID: "kim", Rights: registry.Rights{Confirm: true}, Speakers: []string{"voice-1"}})
	fmt.Println("token:", token != "", err)
	fmt.Println("moved:", r.MoveDevice(ctx, "4f1e", "kim"))

	joon, err := r.VoiceAt(ctx, "4f1e", "voice-1")
	fmt.Println(joon.By, "confirms:", joon.Confirm, err)
	anybody, err := r.VoiceAt(ctx, "4f1e", "")
	fmt.Println(anybody.By, "confirms:", anybody.Confirm, err)
	fmt.Println("closed:", r.Close())
	// Output:
	// declared: <nil>
	// home: <nil>
	// token: true <nil>
	// moved: <nil>
	// joon confirms: true <nil>
	// voice:4f1e confirms: false <nil>
	// closed: <nil>
	// cleaned up: true
}
