package host

// Power is what the machine runs on.
type Power struct {
	// OnBattery is false where that is not known, and where there is none.
	OnBattery bool
	// Percent is how full the batteries are, 100 where that is not known.
	Percent int
}
