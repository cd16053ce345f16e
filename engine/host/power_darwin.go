package host

import (
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var charge = regexp.MustCompile(`(\d+)%;`)

// ReadPower asks the machine what it runs on. It takes some 10 ms.
func ReadPower(ctx context.Context) Power {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "batt").Output()
	if err != nil {
		return Power{Percent: 100}
	}
	p := Power{Percent: 100, OnBattery: strings.Contains(string(out), "'Battery Power'")}
	if m := charge.FindSubmatch(out); m != nil {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			p.Percent = n
		}
	}
	return p
}
