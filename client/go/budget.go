package armature

import (
	"context"
	"sync"
)

// budget bounds the operations that are outstanding, in number and in bytes. An operation larger than all bytes is let
// in alone. Waiters are served in their order.
type budget struct {
	mu           sync.Mutex
	countMax     int
	bytesMax     int
	count, bytes int
	waiting      []*waiter
}

type waiter struct {
	bytes   int
	granted chan struct{}
}

func (b *budget) fits(bytes int) bool {
	return b.count == 0 || b.count < b.countMax && b.bytes+bytes <= b.bytesMax
}

// acquire waits until there is room. Errors: that of the context.
func (b *budget) acquire(ctx context.Context, bytes int) error {
	b.mu.Lock()
	if len(b.waiting) == 0 && b.fits(bytes) {
		b.count++
		b.bytes += bytes
		b.mu.Unlock()
		return nil
	}
	w := &waiter{bytes, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.grant() // others may fit where this one did not
			return ctx.Err()
		}
	}
	b.free(bytes) // granted meanwhile
	return ctx.Err()
}

// release gives back the room of an operation.
func (b *budget) release(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(bytes)
}

func (b *budget) free(bytes int) {
	b.count--
	b.bytes -= bytes
	b.grant()
}

func (b *budget) grant() {
	for len(b.waiting) > 0 && b.fits(b.waiting[0].bytes) {
		w := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.count++
		b.bytes += w.bytes
		close(w.granted)
	}
}
