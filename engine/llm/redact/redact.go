// Package redact replaces secrets in text before it leaves the machine: keys
// and tokens whose form is known, values that are assigned to names such as
// password, and what looks random where a secret is usual.
//
// A replaced secret is [redacted KIND]. Lines stay lines: what stands on line 7
// stands there afterwards.
package redact

import (
	"math"
	"regexp"
	"strings"
)

// rule is one form of secret. The whole match is replaced, or its first group
// where there is one.
type rule struct {
	kind string
	// hints are texts of which a match has one; none for unknown. They spare most
	// texts the expression. Those in lower case are looked for in either case.
	hints []string
	// near says where in a text a match may be; nil for everywhere.
	near func(text, low string) []span
	re   *regexp.Regexp
	// least is the entropy in bits per character that a match must have.
	least float64
}

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct{ rules []rule }

// New returns a Redactor with the built-in rules. The forms are those that the
// issuers document.
func New() *Redactor {
	r := &Redactor{}
	add := func(kind, hints, expr string, least float64) {
		r.rules = append(r.rules, rule{kind: kind, hints: strings.Fields(hints), re: regexp.MustCompile(expr), least: least})
	}
	add("private key", "PRIVATE", `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`, 0)
	add("AWS access key", "AKIA ASIA ABIA ACCA", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, 0)
	add("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `\bgh[pousr]_[A-Za-z0-9]{36,255}\b`, 0)
	add("GitHub token", "github_pat_", `\bgithub_pat_[A-Za-z0-9_]{50,255}\b`, 0)
	add("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-", `\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_.=-]{20,300}`, 0)
	add("Slack token", "xox", `\bxox[abeoprs]-[A-Za-z0-9-]{10,250}`, 0)
	add("Slack token", "xapp-", `\bxapp-\d-[A-Za-z0-9-]{20,250}`, 0)
	add("Slack webhook", "hooks.slack.com", `https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/_-]{20,250}`, 0)
	add("Discord webhook", "/webhooks/", `https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{40,100}`, 0)
	add("Stripe key", "_live_ _test_", `\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,250}\b`, 0)
	add("Stripe key", "whsec_", `\bwhsec_[A-Za-z0-9+/=]{24,250}`, 0)
	add("API key", "sk-", `\bsk-(?:ant-|proj-|svcacct-|admin-|or-v1-|None-)?[A-Za-z0-9_-]{20,250}`, 3)
	add("Google API key", "AIza", `\bAIza[A-Za-z0-9_-]{35}\b`, 0)
	add("Google OAuth secret", "GOCSPX-", `\bGOCSPX-[A-Za-z0-9_-]{28}\b`, 0)
	add("Google OAuth token", "ya29.", `\bya29\.[A-Za-z0-9_-]{30,}`, 0)
	add("npm token", "npm_", `\bnpm_[A-Za-z0-9]{36}\b`, 0)
	add("PyPI token", "pypi-", `\bpypi-[A-Za-z0-9_-]{50,}`, 0)
	add("Hugging Face token", "hf_", `\bhf_[A-Za-z0-9]{30,60}\b`, 0)
	add("SendGrid key", "SG.", `\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}`, 0)
	add("Twilio key", "SK", `\bSK[0-9a-f]{32}\b`, 0)
	add("Mailgun key", "key-", `\bkey-[0-9a-f]{32}\b`, 0)
	add("DigitalOcean token", "_v1_", `\bdo[opr]_v1_[0-9a-f]{64}\b`, 0)
	add("Vault token", "hvs. hvb. hvr.", `\bhv[sbr]\.[A-Za-z0-9_-]{24,300}`, 0)
	add("age key", "AGE-SECRET-KEY-", `\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b`, 0)
	add("Docker token", "dckr_", `\bdckr_[a-z]{3,4}_[A-Za-z0-9_-]{20,}`, 0)
	add("Shopify token", "shpat_ shpca_ shppa_ shpss_", `\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b`, 0)
	add("Databricks token", "dapi", `\bdapi[0-9a-f]{32}(?:-\d)?\b`, 0)
	add("Azure storage key", "accountkey=", `(?i)AccountKey=([A-Za-z0-9+/]{40,}={0,2})`, 0)
	add("JSON web token", "eyJ", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, 0)
	add("authorization header", "authorization", `(?i)\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token)\s+([A-Za-z0-9+/_.=~-]{12,})`, 2.5)
	add("password in a URL", "://", `\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/@"'<>$]{0,64}:([^\s:/@"'<>${}]{3,128})@[A-Za-z0-9\[]`, 0)
	// Names that say it, with a literal behind them. Low entropy is that of words:
	// password = "changeme" is a secret as well, so that the bar is low; calls,
	// variables and placeholders are told by their signs.
	const names = `(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|encryption[_-]?key|signing[_-]?key|client[_-]?secret|credentials?)`
	add("assigned secret", "", `(?i)`+names+`[A-Za-z0-9_]{0,20}["']?\s{0,4}(?::=|=>|[:=])\s{0,4}["'`+"`"+`]([^\s"'`+"`"+`$<>{}()]{8,250})["'`+"`"+`]`, 2.8)
	r.rules[len(r.rules)-1].near = quotedNear
	add("assigned secret", "", `(?im)^[ \t]{0,20}(?:export[ \t]+|set[ \t]+|-[ \t]+)?[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]{0,20}\s{0,4}[:=]\s{0,4}([^\s"'`+"`"+`$<>{}()\[\],;]{12,250})\s*$`, 3.2)
	r.rules[len(r.rules)-1].near = linesNear
	return r
}

// Redact returns text with its secrets replaced, and counts them by kind; nil
// where there was none.
func (r *Redactor) Redact(text string) (string, map[string]int) {
	var counts map[string]int
	count := func(kind string) {
		if counts == nil {
			counts = map[string]int{}
		}
		counts[kind]++
	}
	low := lower(text)
	for i := range r.rules {
		rule := &r.rules[i]
		var out strings.Builder
		at := 0
		for _, m := range rule.find(text, low) {
			secret := text[m.from:m.to]
			if m.from < at || rule.least > 0 && (entropy(secret) < rule.least || harmless(secret)) {
				continue
			}
			out.WriteString(text[at:m.from])
			out.WriteString(replacement(rule.kind, secret))
			at = m.to
			count(rule.kind)
		}
		if at > 0 {
			out.WriteString(text[at:])
			text = out.String()
			low = lower(text)
		}
	}
	return r.random(text, count), counts
}

// replacement keeps the number of lines.
func replacement(kind, secret string) string {
	return "[redacted " + kind + "]" + strings.Repeat("\n", strings.Count(secret, "\n"))
}

// harmless tells placeholders and references from secrets.
func harmless(s string) bool {
	low := strings.ToLower(s)
	if strings.Contains(s, "[redacted") || strings.HasPrefix(low, "http://") || strings.HasPrefix(low, "https://") {
		return true
	}
	for _, word := range []string{"example", "placeholder", "your_", "your-", "yourkey", "xxxx", "****", "....", "dummy", "process.env", "os.environ", "getenv"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	// Names with dots or only letters and one kind of separator are references:
	// config.auth.token, llm.apiKey, client_secret_file.
	letters := 0
	for _, c := range s {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c == '-' || c == '/' || c == ' ' {
			letters++
		}
	}
	return letters == len(s) && strings.ContainsAny(s, "._-/") || !strings.ContainsAny(s, "0123456789!@#%^&*+=?~") && entropy(s) < 3.2
}

// quoted are literals that may be random, and a line's only word.
var quoted = regexp.MustCompile("[\"'`]([A-Za-z0-9+/_=-]{32,200})[\"'`]")

// leastRandom are the bits per character over which a literal is taken for
// random: English words joined stay under 4, base64 of random bytes is over 4.5
// from 32 characters on. Hexadecimal digits have at most 4: digests are public,
// mostly, and are left.
const leastRandom = 4.5

// random replaces literals that look random.
func (r *Redactor) random(text string, count func(string)) string {
	return quoted.ReplaceAllStringFunc(text, func(m string) string {
		s := m[1 : len(m)-1]
		if entropy(s) < leastRandom || !mixed(s) || alphabet(s) {
			return m
		}
		count("random value")
		return m[:1] + "[redacted random value]" + m[len(m)-1:]
	})
}

// mixed: it has small and capital letters and digits, as random text has.
func mixed(s string) bool {
	var small, capital, digit bool
	for i := range len(s) {
		c := s[i]
		small = small || c >= 'a' && c <= 'z'
		capital = capital || c >= 'A' && c <= 'Z'
		digit = digit || c >= '0' && c <= '9'
	}
	return small && capital && digit
}

// alphabet: most characters follow the one before, as in tables of characters.
func alphabet(s string) bool {
	next := 0
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 {
			next++
		}
	}
	return next*2 > len(s)
}

// entropy is Shannon's, in bits per byte (Shannon 1948).
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
