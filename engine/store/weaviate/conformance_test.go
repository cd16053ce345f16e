package weaviate_test

import (
	"testing"

	"coderag-ls/engine/sharedindex"
	"coderag-ls/engine/sharedindex/sharedindextest"
)

// opener opens backends in tenants that nobody used before.
func opener(t *testing.T) sharedindextest.Opener {
	o := cluster(t)
	return func(t *testing.T, tenant string, e sharedindex.Edition) sharedindex.Backend {
		of := o
		of.Tenant, of.Edition = o.Tenant+"-"+tenant, e
		return open(t, of)
	}
}

func TestSearchConformance(t *testing.T) { sharedindextest.RunSearch(t, opener(t)) }

func TestConformance(t *testing.T) { sharedindextest.Run(t, opener(t)) }
