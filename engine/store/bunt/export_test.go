package bunt

import (
	"path/filepath"
	"testing"

	"github.com/tidwall/buntdb"
)

// Seal makes the value of a key, for tests that write logs by themselves.
func Seal(key, payload string) string { return seal(key, append(make([]byte, sumSize), payload...)) }

// Payload is what Seal was given for a stored key.
func Payload(tb testing.TB, dir, key string) string {
	db, err := buntdb.Open(filepath.Join(dir, dbFile))
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	var value string
	if err := db.View(func(tx *buntdb.Tx) error { value, err = tx.Get(key); return err }); err != nil {
		tb.Fatal(err)
	}
	return value[sumSize:]
}
