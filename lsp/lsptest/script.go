package lsptest

import (
	"fmt"
	"strconv"
	"strings"
)

// command is one line of a session.
type command struct {
	line int // in the file, from 1
	verb string
	args []string
}

// String writes the command as it is read.
func (c command) String() string {
	words := []string{c.verb}
	for _, arg := range c.args {
		if arg == "" || strings.ContainsAny(arg, " \t\r\n\"#") || strconv.Quote(arg) != `"`+arg+`"` {
			arg = strconv.Quote(arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// parseCommands reads a session's lines.
func parseCommands(script string) ([]command, error) {
	var all []command
	for i, line := range strings.Split(script, "\n") {
		words, err := splitWords(line)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		if len(words) == 0 {
			continue
		}
		c := command{i + 1, words[0], words[1:]}
		limits, ok := arguments()[c.verb]
		if !ok {
			return nil, fmt.Errorf("%d: no such command: %s", c.line, c.verb)
		}
		if len(c.args) < limits[0] || len(c.args) > limits[1] {
			return nil, fmt.Errorf("%d: %s takes %d to %d arguments, not %d", c.line, c.verb, limits[0], limits[1], len(c.args))
		}
		all = append(all, c)
	}
	return all, nil
}

// splitWords parts a line into words.
func splitWords(line string) (words []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, fmt.Errorf("a string without end: %s", line)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), line[len(quoted):]
	}
}

// many is more arguments than any command has.
const many = 99

// arguments says how many a command takes: the least and the most.
func arguments() map[string][2]int {
	return map[string][2]int{
		"client": {1, 1}, "setting": {2, 2}, "folders": {1, many}, "only": {1, 2},

		"open": {1, 2}, "close": {1, 1}, "edit": {3, many}, "replace": {3, 3}, "type": {3, 3}, "settext": {2, 2}, "save": {1, 1}, "version": {2, 2},
		"config": {2, 2}, "folder": {2, 2}, "notify": {2, 2},

		"write": {2, 2}, "fill": {3, 3}, "swap": {2, 2}, "mkdir": {1, 1}, "rm": {1, 1}, "mv": {2, 2}, "ln": {2, 2}, "git": {1, many},

		"sync": {0, 2}, "ask": {1, 1}, "search": {1, 1}, "context": {1, 1}, "explain": {2, 2}, "hover": {2, 2}, "links": {1, 1}, "lens": {1, 1}, "diagnostics": {1, 1}, "fixall": {1, 1},
		"action": {2, 3}, "insert": {3, 3}, "show": {1, 1}, "status": {0, 0}, "embedded": {0, 0}, "messages": {0, 0},
		"start": {2, 3}, "cancel": {1, 1}, "finish": {1, 1},

		"expect": {1, 1}, "contains": {1, many}, "lacks": {1, many}, "restart": {0, 1}, "check": {0, 0},
	}
}
