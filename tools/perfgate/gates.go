package main

// gate is a benchmark that must not get slower.
type gate struct {
	name     string
	packages []string // where it lies, and where it lay before
	bench    string   // for -test.bench
	// times is how often it runs in a process: about half a second of work, beside which starting does not count
	times int
}

// gates are the paths that measures and queries take.
var gates = []gate{
	{"append to the incoming store", []string{"storage/incoming"},
		`^BenchmarkAppend$/^fs=memory$/^metrics=10000$/^clients=1$`, 250},
	{"resample", []string{"carbonara"}, `^BenchmarkResample$/^methods=six$/^series=1000$/^measures=60$`, 400},
	{"encode and decode splits", []string{"carbonara"},
		`^BenchmarkAppendSplit$/^pattern=.*$/^groups=30$|^BenchmarkDecodeSplit$/^columns=7$/^pattern=.*$/^groups=30$`,
		20000},
	{"checkpoint", []string{"metricd"}, `^BenchmarkCheckpoint$`, 25},
	{"read groups, compacted", []string{"metricd"},
		`^BenchmarkRead$/^state=compacted$/^granularity=60$/^groups=60$`, 50000},
	{"read groups in operands", []string{"metricd"},
		`^BenchmarkRead$/^state=operands$/^granularity=60$/^groups=60$`, 200000},
	{"read groups of heads", []string{"metricd"}, `^BenchmarkRead$/^state=heads$/^granularity=60$/^groups=60$`, 200000},
	{"read groups while measures come in", []string{"metricd"},
		`^BenchmarkRead$/^state=fed$/^granularity=60$/^groups=60$`, 5000},
	{"read a metric by REST", []string{"api"}, `^BenchmarkGetMeasures$/^rows=1440$/^measures=7$/^aggregation=mean$`,
		2000},
	{"dynamic aggregate by REST", []string{"api"},
		`^BenchmarkAggregates$/^metrics=100$/^groups=60$/^by=name$/^operation=mean$`, 700},
}
