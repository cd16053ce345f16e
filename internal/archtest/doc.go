// Package archtest holds the rules that the packages keep among each other, as
// tests: who imports whom, which package is the only one to know a dependency,
// and what every package looks like. It has no code of its own.
package archtest
