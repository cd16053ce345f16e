package host

/*
#include <pthread.h>
#include <pthread/qos.h>
static void lower(void) { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0); }
*/
import "C"

// lower gives the calling thread the class of long work that the user knows of
// and does not wait for. The class below it may not run for minutes.
func lower() { C.lower() }
