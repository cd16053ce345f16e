package redact

import (
	"strings"
	"testing"
)

// thorough is a Redactor that takes no short cuts.
func thorough() *Redactor {
	r := New()
	for i := range r.rules {
		r.rules[i].hints, r.rules[i].near = nil, nil
	}
	return r
}

// FuzzRedact: lines stay where they are, what is counted is marked, and nothing
// is overlooked by looking in the likely places only.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"token = \"ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a\"", "password: 'hunter2hunter2!'", "https://me:s3cr3tpw@host/", "AccountKey=" + strings.Repeat("Ab1+", 12) + "==",
		"-----BEGIN RSA PRIVATE " + "KEY-----\nMIIE\nabc\n-----END RSA PRIVATE " + "KEY-----\nx", "-----BEGIN PRIVATE " + "KEY-----\n", "SECRET_KEY=aB3$dE6&gH9!jK2\r\nOTHER=1\n",
		"Authorization: Bearer abcdefghijklmnop0123456789", "\"Zq3vT8nB1xK6mW9pL4sD7fG2hJ5cR0yU\"", "[redacted API key]", "\x00\xff\n\r\n", "ſk-ſecret", "api_key_of_the_client_secret_token: \n 'abcdef12345!'", "- db-password = \"a1b2c3d4e5!\"; token='zzzz9999!!'", "export\nAPI_KEY :\n\tq1w2e3r4t5y6u7i8o9  \n\n", "İPASSWORD=\"İİİİİİİİİ9\"",
	} {
		f.Add(s)
	}
	r, all := New(), thorough()
	f.Fuzz(func(t *testing.T, s string) {
		out, counts := r.Redact(s)
		if strings.Count(out, "\n") != strings.Count(s, "\n") {
			t.Errorf("%q has other lines than %q", out, s)
		}
		n := 0
		for kind, k := range counts {
			if k < 1 || !strings.Contains(out, "[redacted "+kind+"]") && strings.Count(out, "[redacted ") == 0 {
				t.Errorf("%d %s in %q", k, kind, out)
			}
			n += k
		}
		if (n == 0) != (out == s) {
			t.Errorf("%d replaced, %q became %q", n, s, out)
		}
		// Expressions take these two for s and k.
		if want, _ := all.Redact(s); out != want && !strings.ContainsAny(s, "\u017f\u212a") {
			t.Errorf("%q became %q, want %q", s, out, want)
		}
	})
}
