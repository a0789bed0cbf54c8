// Package activities is what touches the world on behalf of a plan: calls to a device, the search for one, the planner
// and the verifier. Each activity takes a command of package plan and returns the input that answers it.
//
// Device activities (Device) run inside the gateway process that holds the device's socket, on that gateway's own task
// queue, and reach the device through a Link. The search (Finder) runs on the queue that all gateways share. The planner
// (Planner) and the performers of steps in the cloud (Cloud) run on a worker. None of them retries what moves a device: the machine of package plan owns that, since only
// it knows whether the truth about an operation is known (law 11).
package activities
