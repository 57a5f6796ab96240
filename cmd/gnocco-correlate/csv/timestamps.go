package csv

// The seconds since 1970 that are taken for times: 2000 to 2100. So are milliseconds, microseconds and nanoseconds.
const (
	firstTime, endOfTimes = 946_684_800, 4_102_444_800
	nanosecondsPerSecond  = 1e9
)

// areTimes reports whether numbers are times since 1970: all in one unit, and either ascending or descending.
func areTimes(numbers []float64) bool {
	if len(numbers) < 2 || numbers[0] == numbers[len(numbers)-1] {
		return false
	}
	up := numbers[0] < numbers[len(numbers)-1]
	for i := 1; i < len(numbers); i++ {
		if numbers[i] != numbers[i-1] && numbers[i] > numbers[i-1] != up {
			return false
		}
	}
	least, most := min(numbers[0], numbers[len(numbers)-1]), max(numbers[0], numbers[len(numbers)-1])
	for unit := 1.; unit <= nanosecondsPerSecond; unit *= 1000 {
		if least >= firstTime*unit && most < endOfTimes*unit {
			return true
		}
	}
	return false
}
