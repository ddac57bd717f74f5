package markdown

import "testing"

func TestTable(t *testing.T) {
	got := Table([][]string{{"name", "kind", "size"}, {"a|b", "", "1"}}, 2)
	const want = "| name | kind | size |\n|---|---|---:|\n| a\\|b |  | 1 |\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestText(t *testing.T) {
	got := Text("a_b\n<i>*c*`d`|")
	const want = "a\\_b \\<i>\\*c\\*\\`d\\`|"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
