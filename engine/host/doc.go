// Package host asks the machine that the program runs on for consideration of
// its user: less processor and disk time for threads in the background, and
// whether it runs on battery.
package host
