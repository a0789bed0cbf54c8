package plan

// DefaultHome is the home of every device that nobody moved to another one, and of every plan of such a device.
const DefaultHome = "home"

// HomeOf is the home that an id names; a plan from before there were homes names none, and is the default home's.
func HomeOf(id string) string {
	if id == "" {
		return DefaultHome
	}
	return id
}
