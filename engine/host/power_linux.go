package host

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadPower asks the machine what it runs on. It takes well under a
// millisecond.
func ReadPower(context.Context) Power { return powerOf("/sys/class/power_supply") }

// powerOf reads the power supplies that the kernel lists (its
// Documentation/ABI/testing/sysfs-class-power). Batteries of mice and the like
// are of scope Device.
func powerOf(dir string) Power {
	p := Power{Percent: 100}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p
	}
	mains, discharging := false, false
	now, full, percents, batteries := 0, 0, 0, 0
	for _, e := range entries {
		read := func(name string) string {
			data, err := os.ReadFile(filepath.Join(dir, e.Name(), name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(data))
		}
		number := func(name string) int {
			n, _ := strconv.Atoi(read(name)) // 0 where it is missing
			return n
		}
		switch kind := read("type"); {
		case kind == "Battery" && read("scope") != "Device":
			if read("present") == "0" {
				continue
			}
			discharging = discharging || read("status") == "Discharging"
			batteries++
			percents += number("capacity")
			now, full = now+number("energy_now"), full+number("energy_full")
		case kind != "Battery" && read("scope") != "Device":
			mains = mains || read("online") == "1"
		}
	}
	p.OnBattery = discharging && !mains
	switch {
	case batteries == 1, batteries > 0 && full == 0:
		p.Percent = percents / batteries
	case batteries > 0:
		p.Percent = now * 100 / full // they differ in size
	}
	return p
}
