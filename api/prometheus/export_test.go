package prometheus

import "github.com/gnocco-db/gnocco/ingest"

// Decode makes body, of limit bytes at most when uncompressed by snappy, the request.
func (r *WriteRequest) Decode(body []byte, limit int64) (err error) {
	if r.plain, err = uncompress(r.plain, body, limit, r.Acquire); err != nil {
		return err
	}
	return r.decode()
}

// DecodePlain is Decode of a message as it is.
func (r *WriteRequest) DecodePlain(message []byte) error {
	r.plain = message
	return r.decode()
}

// Target is the name of a row in Gnocchi's mapping.
func (r *WriteRequest) Target(row int) (*ingest.Name, error) {
	r.Labelled = false
	return (&gnocchiRows{WriteRequest: r}).Name(row)
}

// Same reports whether Gnocchi's mapping takes two rows for one series.
func (r *WriteRequest) Same(row, other int) bool {
	return (&gnocchiRows{WriteRequest: r}).same(row, other)
}
