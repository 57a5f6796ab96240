package filter

import (
	"fmt"
	"strings"
)

// Describe writes an expression in one way, however it was written.
func Describe(e *Expr) string {
	if e.op >= opEqual {
		values := make([]string, len(e.values))
		for i, v := range e.values {
			values[i] = fmt.Sprintf("%T %v", v, v)
		}
		return fmt.Sprintf("(%s %d %s)", e.field, e.op, strings.Join(values, ", "))
	}
	parts := make([]string, len(e.operands))
	for i, operand := range e.operands {
		parts[i] = Describe(operand)
	}
	return fmt.Sprintf("(%d %s)", e.op, strings.Join(parts, " "))
}
