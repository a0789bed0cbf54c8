package robot

import (
	"math"
	"time"
)

// quantum is the step of the world's time. Whatever the ticks of the clock, the world only ever moves in
// whole quanta, so that its state depends on how much time passed and not on how it was cut.
const quantum = 100 * time.Millisecond

// Rates, per second of the world's time.
const (
	drainIdle    = 0.001 // % of battery
	drainDriving = 0.02
	drainWorking = 0.015
	charge       = 0.1
	purifyRate   = 0.04   // share of the distance to clean air, less than half of it
	airDrift     = 0.0001 // share of the distance to the air outside
)

const seconds = float64(quantum) / float64(time.Second)

// doing is what the robot's body does during one quantum.
type doing struct {
	driving bool
	working bool // cleaning, purifying, listening: the motors run but the wheels do not
	// toX, toY and speed are for driving.
	toX, toY float64
	speed    float64
	// purifies is the room whose air is being cleaned; "" for none.
	purifies string
}

// pass lets one quantum go by. now is the device's clock (Unix ms), pace how much faster than it the robot works.
func (w *World) pass(h Home, now int64, pace float64, d doing) {
	w.ElapsedMs += quantum.Milliseconds()
	if d.driving {
		w.drive(d, now)
	}
	w.drain(d)
	w.breathe(h, pace, d.purifies)
}

// drive moves towards the target, and never past it.
func (w *World) drive(d doing, now int64) {
	w.Docked = false
	dx, dy := d.toX-w.X, d.toY-w.Y
	left := math.Hypot(dx, dy)
	reach := d.speed * seconds
	if left == 0 || reach == 0 {
		return
	}
	w.MovedAt = now
	if reach >= left {
		w.X, w.Y = d.toX, d.toY
		return
	}
	w.X += dx / left * reach
	w.Y += dy / left * reach
}

func (w *World) drain(d doing) {
	rate := -drainIdle
	switch {
	case d.driving:
		rate = -drainDriving
	case d.working:
		rate = -drainWorking
	case w.Docked:
		rate = charge
	}
	w.Battery = math.Min(100, math.Max(0, w.Battery+rate*seconds))
}

// breathe lets dust settle in every room, and takes it out of the one being purified. Dust keeps to the clock, however
// fast the robot works: whoever looks at the air does so by the clock, and a few seconds must not be an hour of dust.
func (w *World) breathe(h Home, pace float64, purifies string) {
	for _, r := range h.Rooms {
		air := w.Air[r.ID]
		if r.ID == purifies {
			// Aim a little below clean air, so that clean air is reached and not only approached.
			air.PM25 += (h.CleanAir*0.5 - air.PM25) * purifyRate * seconds
		} else {
			air.PM25 += (h.OutdoorAir - air.PM25) * airDrift * seconds / pace
		}
		w.Air[r.ID] = air
	}
}

// distance is how far the robot is from a point.
func (w *World) distance(x, y float64) float64 { return math.Hypot(x-w.X, y-w.Y) }
