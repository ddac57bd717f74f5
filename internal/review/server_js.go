package review

import (
	"context"
	"errors"
)

// Server stands in for what a program in a browser cannot have.
type Server struct{}

// NewServer returns an error: a page cannot serve another.
func NewServer(*Session, int) (*Server, error) {
	return nil, errors.New("a program in a browser cannot serve a page; review with mvclust on your machine")
}

// URL returns nothing.
func (*Server) URL() string { return "" }

// Serve returns at once.
func (*Server) Serve(ctx context.Context) error { return ctx.Err() }

// Close does nothing.
func (*Server) Close() {}
