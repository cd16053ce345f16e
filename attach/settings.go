package attach

import (
	"fmt"
	"slices"
	"strings"

	"coderag-ls/engine/config"
)

// settingsOf are the settings that a client tells the owner.
func settingsOf(s config.Settings) clientSettings {
	return clientSettings{Search: s.Search, Answer: s.Answer, Index: indexSettings(s)}
}

// indexSettings are those that decide what an index holds, by name. How fast it
// is made is left out, and so are settings of the machine.
func indexSettings(s config.Settings) map[string]string {
	pace := []string{"index.workers", "index.watch", "index.pollInterval", "index.maxWatches", "embed.threads", "embed.batchSize"}
	values := map[string]string{}
	for _, d := range config.Table() {
		group, _, _ := strings.Cut(d.Name, ".")
		if d.Scope == config.Machine || slices.Contains(pace, d.Name) || !slices.Contains([]string{"index", "chunk", "embed"}, group) {
			continue
		}
		values[d.Name] = d.Format(d.Get(s))
	}
	return values
}

// differences says which settings of the index are not the client's, in the
// order of their declaration.
func differences(owner config.Settings, client map[string]string) []string {
	all := []string{}
	own := indexSettings(owner)
	for _, d := range config.Table() {
		mine, ok := own[d.Name]
		theirs, told := client[d.Name]
		if ok && told && mine != theirs {
			all = append(all, fmt.Sprintf("%s is %s there, %s here", d.Name, shown(mine), shown(theirs)))
		}
	}
	return all
}

// shown is a value in a sentence.
func shown(value string) string {
	if value == "" {
		return "empty"
	}
	if len(value) > 60 {
		return fmt.Sprintf("%.60s…", value)
	}
	return value
}

// differ tells the user of settings that do not hold.
func differ(owner version, differences []string) string {
	return fmt.Sprintf("the index is kept by pid %d, and so are its settings: %s. What that process has holds until it ends",
		owner.PID, strings.Join(differences, "; "))
}
