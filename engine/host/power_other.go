//go:build !linux && !darwin && !windows

package host

import "context"

// ReadPower asks the machine what it runs on.
func ReadPower(context.Context) Power { return Power{Percent: 100} }
