package armature

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Number is a decimal number as text, such as "-12.5" or "1e3": up to 38 significant digits, which no native type of Go
// holds. Numbers decode to it wherever the destination has no type of its own.
type Number string

// String returns the text.
func (n Number) String() string { return string(n) }

// Int64 returns the number as an int64. It is an error if the number is not an integer or too large.
func (n Number) Int64() (int64, error) { return strconv.ParseInt(string(n), 10, 64) }

// Float64 returns the nearest float64.
func (n Number) Float64() (float64, error) { return strconv.ParseFloat(string(n), 64) }

// Rat returns the exact value.
func (n Number) Rat() (*big.Rat, error) {
	if !isDecimal(string(n)) {
		return nil, fmt.Errorf("armature: %q is not a decimal number", string(n))
	}
	rat, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil, fmt.Errorf("armature: %q is not a decimal number", string(n))
	}
	return rat, nil
}

// exponentDigitsMax bounds the exponent, so that a hostile text cannot ask big.Rat for gigabytes.
const exponentDigitsMax = 4

// isDecimal reports whether the text is a decimal number with a small exponent. big.Rat accepts fractions and other
// bases, too.
func isDecimal(text string) bool {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(text), "e")
	if hasExponent {
		exponent = strings.TrimLeft(exponent, "+-")
		if exponent == "" || len(exponent) > exponentDigitsMax || strings.Trim(exponent, "0123456789") != "" {
			return false
		}
	}
	mantissa = strings.TrimLeft(mantissa, "+-")
	return mantissa != "" && mantissa != "." && strings.Count(mantissa, ".") <= 1 &&
		strings.Trim(mantissa, "0123456789.") == ""
}

// compareNumbers orders two numbers in the form of the daemon's answers: no exponent, no superfluous zeros.
func compareNumbers(a, b string) int {
	aNegative, bNegative := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case aNegative && !bNegative:
		return -1
	case !aNegative && bNegative:
		return 1
	case aNegative:
		return compareMagnitudes(b[1:], a[1:])
	default:
		return compareMagnitudes(a, b)
	}
}

func compareMagnitudes(a, b string) int {
	aWhole, aFraction, _ := strings.Cut(a, ".")
	bWhole, bFraction, _ := strings.Cut(b, ".")
	aWhole, bWhole = strings.TrimLeft(aWhole, "0"), strings.TrimLeft(bWhole, "0")
	if len(aWhole) != len(bWhole) {
		return len(aWhole) - len(bWhole)
	}
	if order := strings.Compare(aWhole, bWhole); order != 0 {
		return order
	}
	return strings.Compare(aFraction, bFraction)
}
