package host

import (
	"context"
	"unsafe"

	"golang.org/x/sys/windows"
)

// systemPowerStatus is Windows' SYSTEM_POWER_STATUS.
type systemPowerStatus struct {
	acLineStatus, batteryFlag, batteryLifePercent, systemStatus byte
	batteryLifeTime, batteryFullLifeTime                        uint32
}

// ReadPower asks the machine what it runs on.
func ReadPower(context.Context) Power {
	p := Power{Percent: 100}
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemPowerStatus")
	if get.Find() != nil {
		return p
	}
	var s systemPowerStatus
	if ok, _, _ := get.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return p
	}
	p.OnBattery = s.acLineStatus == 0
	if s.batteryLifePercent <= 100 { // 255 is unknown
		p.Percent = int(s.batteryLifePercent)
	}
	return p
}
