package prometheus

// Decode makes body, of limit bytes at most when uncompressed by snappy, the request.
func (r *WriteRequest) Decode(body []byte, limit int64) (err error) {
	if r.plain, err = uncompress(r.plain, body, limit, r.Acquire); err != nil {
		return err
	}
	return r.decode()
}
