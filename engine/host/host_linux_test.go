package host

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPower(t *testing.T) {
	supply := func(facts ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(facts); i += 2 {
			m[facts[i]] = facts[i+1]
		}
		return m
	}
	battery := func(status, capacity string) map[string]string {
		return supply("type", "Battery", "status", status, "capacity", capacity, "present", "1")
	}
	mouse := supply("type", "Battery", "scope", "Device", "status", "Discharging", "capacity", "3")
	off, on := supply("type", "Mains", "online", "0"), supply("type", "Mains", "online", "1")
	for name, c := range map[string]struct {
		supplies map[string]map[string]string
		want     Power
	}{
		"desktop":            {nil, Power{false, 100}},
		"desktop with mouse": {map[string]map[string]string{"hid": mouse}, Power{false, 100}},
		"unplugged":          {map[string]map[string]string{"AC": off, "BAT0": battery("Discharging", "57")}, Power{true, 57}},
		"unplugged, mouse":   {map[string]map[string]string{"AC": off, "BAT0": battery("Discharging", "57"), "hid": mouse}, Power{true, 57}},
		"plugged in":         {map[string]map[string]string{"AC": on, "BAT0": battery("Charging", "57")}, Power{false, 57}},
		// Under load a weak charger does not keep up: it is plugged in all the same.
		"weak charger":   {map[string]map[string]string{"ucsi": supply("type", "USB", "online", "1"), "BAT0": battery("Discharging", "80")}, Power{false, 80}},
		"no mains entry": {map[string]map[string]string{"BAT0": battery("Discharging", "12")}, Power{true, 12}},
		"full":           {map[string]map[string]string{"BAT0": battery("Full", "100")}, Power{false, 100}},
		"taken out":      {map[string]map[string]string{"AC": on, "BAT1": supply("type", "Battery", "present", "0", "capacity", "0")}, Power{false, 100}},
		"two of different size": {map[string]map[string]string{
			"AC":   off,
			"BAT0": supply("type", "Battery", "status", "Unknown", "capacity", "100", "energy_now", "100", "energy_full", "100"),
			"BAT1": supply("type", "Battery", "status", "Discharging", "capacity", "0", "energy_now", "0", "energy_full", "900"),
		}, Power{true, 10}},
		"two, sizes not told": {map[string]map[string]string{"BAT0": battery("Discharging", "10"), "BAT1": battery("Discharging", "50")}, Power{true, 30}},
	} {
		dir := t.TempDir()
		for s, facts := range c.supplies {
			if err := os.MkdirAll(filepath.Join(dir, s), 0o755); err != nil {
				t.Fatal(err)
			}
			for fact, value := range facts {
				if err := os.WriteFile(filepath.Join(dir, s, fact), []byte(value+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := powerOf(dir); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := powerOf(filepath.Join(t.TempDir(), "none")); got != (Power{false, 100}) {
		t.Errorf("without a list of supplies: %+v", got)
	}
}

// The thread of f is asked less of, no other one is.
func TestInBackground(t *testing.T) {
	raw := func() int {
		n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n
	}
	before := raw()
	var inside int
	InBackground(func() { inside = raw() })
	if want := min(before+niceness, 19); inside != want {
		t.Errorf("niceness in the background is %d, want %d", inside, want)
	}
	for range 100 { // whatever thread this runs on
		done := make(chan int)
		go func() { done <- raw() }()
		if n := <-done; n != before {
			t.Fatalf("niceness %d outside of the background, %d before", n, before)
		}
	}
}
