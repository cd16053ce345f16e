// Package vector scans int8 vectors exactly. A Matrix holds rows quantised
// with one scale each; Scan returns the rows nearest to a query by dot product
// in a total order. It imports no other package of the project.
package vector
