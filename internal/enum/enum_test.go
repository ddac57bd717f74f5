package enum_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/enum"
)

type fruit int

const (
	apple fruit = iota
	pear
	plum
)

var fruits = enum.Type[fruit]{Noun: "fruit", Names: []string{"apple", "pear", "plum"}}

func (f fruit) String() string                   { return fruits.String(f) }
func (f fruit) MarshalText() ([]byte, error)     { return fruits.Marshal(f) }
func (f *fruit) UnmarshalText(text []byte) error { return fruits.Unmarshal(f, text) }

// TestNames takes every constant there and back.
func TestNames(t *testing.T) {
	for f, name := range map[fruit]string{apple: "apple", pear: "pear", plum: "plum"} {
		if got, err := fruits.Parse(name); got != f || err != nil || f.String() != name || fruits.Check(f) != nil {
			t.Errorf("%s is %v, %v", name, got, err)
		}
		text, err := json.Marshal(map[fruit]fruit{f: f})
		if err != nil || string(text) != `{"`+name+`":"`+name+`"}` {
			t.Errorf("%v is written as %s, %v", f, text, err)
		}
		var back map[fruit]fruit
		if err := json.Unmarshal(text, &back); err != nil || len(back) != 1 || back[f] != f {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, name := range []string{"", "Pear", "pear ", "fig", "fruit(1)"} {
		got, want := plum, `unknown fruit "`+name+`"; choose apple, pear or plum`
		if _, err := fruits.Parse(name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if err := got.UnmarshalText([]byte(name)); err == nil || err.Error() != want || got != plum {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
	for f, name := range map[fruit]string{-1: "fruit(-1)", 3: "fruit(3)"} {
		want := "unknown fruit " + name[6:len(name)-1] + "; choose apple, pear or plum"
		if f.String() != name {
			t.Errorf("%v, want %s", f, name)
		}
		if err := fruits.Check(f); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if text, err := f.MarshalText(); text != nil || err == nil || err.Error() != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
	}
}

// state has two constants only.
type state int

func (s state) MarshalText() ([]byte, error) {
	return enum.Type[state]{Noun: "state", Names: []string{"on", "off"}}.Marshal(s)
}

func TestChoices(t *testing.T) {
	if got := enum.Names[fruit](); !slices.Equal(got, []string{"apple", "pear", "plum"}) {
		t.Error(got)
	}
	for got, want := range map[string]string{enum.Choices[fruit](): "apple, pear or plum", enum.Choices[state](): "on or off"} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
