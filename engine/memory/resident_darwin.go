package memory

/*
#include <mach/mach.h>
static long long resident(void) {
	mach_task_basic_info_data_t info;
	mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
	if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) return -1;
	return (long long)info.resident_size;
}
*/
import "C"

// Resident is the process's resident memory in bytes, as the kernel counts it.
func Resident() int64 {
	if n := int64(C.resident()); n >= 0 {
		return n
	}
	return held()
}
