package decimal

// Powers are the powers of ten that a uint64 holds.
var Powers = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// FloatPowers are the powers of ten that a float64 holds exactly.
var FloatPowers = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Float returns mantissa x 10^exponent, rounded once. It does so where both factors are exact, and reports false
// elsewhere.
func Float(mantissa uint64, exponent int) (float64, bool) {
	if mantissa>>53 != 0 || uint(exponent+22) > 44 {
		return 0, false
	}
	if exponent < 0 {
		return float64(mantissa) / FloatPowers[-exponent], true
	}
	return float64(mantissa) * FloatPowers[exponent], true
}
