// Package incidents makes fleets of series with an incident whose cause and effects are known, and says how well they
// are found: with seasons, trends, noise with a memory, gaps, outliers, and deploys that change levels on earlier days.
package incidents
