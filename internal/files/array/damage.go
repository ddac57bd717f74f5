package array

import (
	"errors"
	"fmt"
	"io"
)

// Damage is the error of a file that promises what it does not hold. Its sentence is
// "is damaged: ...; copy it again from where it came".
type Damage struct{ err error }

// Damaged returns a Damage that says what is wrong, by a format of fmt.Errorf.
func Damaged(format string, a ...any) error { return &Damage{fmt.Errorf(format, a...)} }

func (d *Damage) Error() string {
	return fmt.Sprintf("is damaged: %v; copy it again from where it came", d.err)
}

// Unwrap returns what is wrong.
func (d *Damage) Unwrap() error { return d.err }

// Recover sets err, if deferred, to a Damage where the function panics. Decoders may
// answer bytes that contradict each other with a panic.
func Recover(err *error) {
	if recover() != nil {
		*err = Damaged("its parts contradict each other")
	}
}

// ReadFull fills b with the bytes of r from off on. A file that ends before is a
// Damage; another error of r is returned as it is.
func ReadFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return Damaged("it ends at byte %d, within what it promises", off+int64(n))
	}
	return err
}
