// Package parts takes native histograms apart into the series that archives have of them. It is for all ways in.
package parts
