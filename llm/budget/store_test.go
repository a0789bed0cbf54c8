package budget_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"errand/llm/budget"
)

// stores are the two, for tests that hold of both.
func stores(t *testing.T) map[string]budget.Store {
	t.Helper()
	return map[string]budget.Store{"memory": budget.NewMemory(), "file": open(t, filepath.Join(t.TempDir(), "budget.db"))}
}

func open(t *testing.T, path string) *budget.File {
	t.Helper()
	f, err := budget.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func spent(t *testing.T, s budget.Store, account string) budget.Spent {
	t.Helper()
	got, err := s.Spent(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestATakingIsOfAllAccountsOrNone(t *testing.T) {
	t.Parallel()
	plan := budget.Account{Name: "plan/p", Limit: budget.Limits{Calls: 2}}
	month := budget.Account{Name: "month/2026-11", Limit: budget.Limits{Tokens: 100}, Renewed: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			if err := s.Take(t.Context(), budget.Spent{Calls: 1, Tokens: 60}, plan, month); err != nil {
				t.Fatal(err)
			}
			err := s.Take(t.Context(), budget.Spent{Calls: 1, Tokens: 41}, plan, month)
			var refusal *budget.Refusal
			const want = "the budget month/2026-11 allows 100 tokens, has spent 60, and this call may need 41; a new one begins on 2026-12-01 (UTC), or raise it"
			if !errors.As(err, &refusal) || refusal.Error() != want {
				t.Errorf("got %v", err)
			}
			if got := spent(t, s, "plan/p"); got.Calls != 1 {
				t.Errorf("the plan paid for a call that the month refused: %+v", got)
			}
			if err := s.Take(t.Context(), budget.Spent{Calls: 1, Tokens: 40}, plan, month); err != nil {
				t.Errorf("up to the limit is allowed: %v", err)
			}
			err = s.Take(t.Context(), budget.Spent{Calls: 1}, plan, month)
			if !errors.As(err, &refusal) || refusal.Error() != "the budget plan/p allows 2 calls, has spent 2, and this call may need 1" {
				t.Errorf("got %v", err)
			}
			if got := spent(t, s, "nobody"); got != (budget.Spent{}) {
				t.Errorf("nobody spent %+v", got)
			}
		})
	}
}

// Whatever happens to the two stores, they agree, and neither is ever over a limit by taking.
func TestBothStoresFollowOneRule(t *testing.T) {
	t.Parallel()
	memory, file := budget.NewMemory(), open(t, filepath.Join(t.TempDir(), "budget.db"))
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		names := []string{fmt.Sprint("plan/a", runs), fmt.Sprint("plan/b", runs), fmt.Sprint("month/", runs)} // nothing is spent yet
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			amount := budget.Spent{Calls: rapid.IntRange(0, 3).Draw(rt, "calls"), Tokens: rapid.IntRange(0, 50).Draw(rt, "tokens")}
			account := budget.Account{Name: rapid.SampledFrom(names).Draw(rt, "account"),
				Limit: budget.Limits{Calls: 5, Tokens: 100}}
			if rapid.Bool().Draw(rt, "correct") {
				amount = budget.Spent{Tokens: -amount.Tokens}
				if a, b := memory.Correct(t.Context(), amount, account), file.Correct(t.Context(), amount, account); a != nil || b != nil {
					rt.Fatalf("Correct: %v, %v", a, b)
				}
				continue
			}
			a, b := memory.Take(t.Context(), amount, account), file.Take(t.Context(), amount, account)
			if (a == nil) != (b == nil) {
				rt.Fatalf("Take: memory says %v, the file %v", a, b)
			}
			got := spent(t, file, account.Name)
			if got != spent(t, memory, account.Name) || got.Calls > 5 || got.Tokens > 100 {
				rt.Fatalf("spent %+v and %+v", got, spent(t, memory, account.Name))
			}
		}
	})
}

// Two processes on one file, each with several calls at once: together they never take more than there is.
func TestOneFileIsOneBudgetForAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "budget.db")
	account := budget.Account{Name: "month/2026-11", Limit: budget.Limits{Calls: 25}}
	var allowed atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		f := open(t, path)
		for range 4 {
			all.Go(func() {
				for range 5 {
					err := f.Take(t.Context(), budget.Spent{Calls: 1}, account)
					var refusal *budget.Refusal
					switch {
					case err == nil:
						allowed.Add(1)
					case !errors.As(err, &refusal):
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	if allowed.Load() != 25 {
		t.Errorf("%d of 40 calls were allowed, want 25", allowed.Load())
	}
}

// What was taken is still taken by the next process. A plan that is long over leaves no trace; a month does.
func TestAFileRemembers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "budget.db")
	f := open(t, path)
	if err := f.Take(t.Context(), budget.Spent{Calls: 1, Tokens: 7}, budget.Account{Name: "plan/new"}, budget.Account{Name: "plan/old"},
		budget.Account{Name: "month/2026-01"}); err != nil {
		t.Fatal(err)
	}
	run(t, path, `UPDATE spent SET touched_at = 1 WHERE account <> 'plan/new'`)
	g := open(t, path)
	for account, want := range map[string]int{"plan/new": 7, "plan/old": 0, "month/2026-01": 7} {
		if got := spent(t, g, account); got.Tokens != want {
			t.Errorf("%s: %+v, want %d tokens", account, got, want)
		}
	}
}

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.db")
	if err := open(t, newer).Take(t.Context(), budget.Spent{Calls: 1}, budget.Account{Name: "plan/p"}); err != nil {
		t.Fatal(err)
	}
	run(t, newer, `PRAGMA user_version = 99`)
	if _, err := budget.Open(t.Context(), newer); !errors.Is(err, budget.ErrNewer) || !strings.Contains(err.Error(), newer) {
		t.Errorf("got %v", err)
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Join(dir, "absent", "b.db")} {
		if _, err := budget.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v", path, err)
		}
	}
}

func run(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
