package fsck

import (
	"fmt"
	"slices"
	"strings"
)

// Options of a check. The zero value changes nothing.
type Options struct {
	Repair bool     // put right what can be
	GiveUp []string // with Repair: stores whose loss is accepted: "index", "incoming/<name>", "sacks/005"
}

// Validate refuses names that no store can have.
func (o *Options) Validate(sacks int) error {
	for _, name := range o.GiveUp {
		kind, rest, _ := strings.Cut(name, "/")
		known := name == "index" || kind == "incoming" && rest != "" && !strings.Contains(rest, "/")
		for sack := range sacks {
			known = known || name == sackName(sack)
		}
		if !known {
			return fmt.Errorf("there is no store %q: give-up takes index, incoming/NAME or %s to %s",
				name, sackName(0), sackName(sacks-1))
		}
	}
	if len(o.GiveUp) > 0 && !o.Repair {
		return fmt.Errorf("give-up needs repair: without it nothing changes")
	}
	return nil
}

// givesUp reports whether the loss of a store is accepted.
func (o *Options) givesUp(name string) bool { return o.Repair && slices.Contains(o.GiveUp, name) }

func sackName(sack int) string { return fmt.Sprintf("sacks/%03d", sack) }
