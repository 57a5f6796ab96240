package metricd

import (
	"gnocco/carbonara"
	"gnocco/model"
)

// RawFrom returns from where on a metric's raw series is complete when its newest measure is at newest: older ones may have gone,
// but for the last of them. Where the first measure kept is not older than this, nothing has gone yet.
func RawFrom(policy *model.ArchivePolicy, newest carbonara.Timestamp) carbonara.Timestamp {
	return keepFrom(policy.Plan(), policy.BackWindow, newest)
}
