package version

import "runtime/debug"

// Number is Gnocco's version.
const Number = "0.1.0"

// Revision returns the revision of the sources that this program was built from, with "+changes" if they had changed
// since; "unknown" outside a checkout.
func Revision() string {
	revision, changes := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				revision = setting.Value
			case "vcs.modified":
				if setting.Value == "true" {
					changes = "+changes"
				}
			}
		}
	}
	return revision + changes
}
