package config

import "unicode"

// distance is the Levenshtein distance of two names, in which letters of
// another case cost nothing and names are cut at 64 runes: longer ones are
// no setting's.
func distance(a, b string) int {
	fold := func(s string) []rune {
		var r []rune
		for _, c := range s {
			if len(r) == 64 {
				break
			}
			r = append(r, unicode.ToLower(c))
		}
		return r
	}
	x, y := fold(a), fold(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(y)]
}
