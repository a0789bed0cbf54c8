package budget

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limits bound an account; 0 is no bound.
type Limits struct {
	Calls  int
	Tokens int
}

// Spent is what was spent, or is about to be.
type Spent struct {
	Calls  int
	Tokens int
}

func (s Spent) plus(more Spent) Spent {
	return Spent{Calls: s.Calls + more.Calls, Tokens: s.Tokens + more.Tokens}
}

// Account is one budget: "plan/<id>" or "month/<year>-<month>".
type Account struct {
	Name  string
	Limit Limits
	// Renewed is when the account begins anew; zero for never.
	Renewed time.Time
}

// Store keeps the accounts. Every method is atomic, whoever else uses the same store.
type Store interface {
	// Take adds an amount to every account, or to none: if one of them would be over its limit, the error is a *Refusal.
	Take(ctx context.Context, amount Spent, accounts ...Account) error
	// Correct adds an amount, which may be negative, to every account, whatever its limit.
	Correct(ctx context.Context, amount Spent, accounts ...Account) error
	// Spent tells what an account has spent; nothing, if there is no such account.
	Spent(ctx context.Context, account string) (Spent, error)
}

// Refusal says which budget does not allow a call.
type Refusal struct {
	Account Account
	// Spent is what the account has spent, Wanted what the call may need.
	Spent, Wanted Spent
}

// Error tells a person what is spent, and what to do.
func (r *Refusal) Error() string {
	unit, limit, spent, wanted := "calls", r.Account.Limit.Calls, r.Spent.Calls, r.Wanted.Calls
	if !r.calls() {
		unit, limit, spent, wanted = "tokens", r.Account.Limit.Tokens, r.Spent.Tokens, r.Wanted.Tokens
	}
	text := fmt.Sprintf("the budget %s allows %d %s, has spent %d, and this call may need %d", r.Account.Name, limit, unit, spent, wanted)
	if !r.Account.Renewed.IsZero() {
		return text + "; a new one begins on " + r.Account.Renewed.Format(time.DateOnly) + " (UTC), or raise it"
	}
	return text
}

// calls reports whether it is the number of calls that does not allow it.
func (r *Refusal) calls() bool {
	return r.Account.Limit.Calls > 0 && r.Spent.Calls+r.Wanted.Calls > r.Account.Limit.Calls
}

// allow is the one rule: an account may spend up to its limit. It returns a *Refusal, or nil.
func allow(account Account, spent, wanted Spent) error {
	after := spent.plus(wanted)
	if (account.Limit.Calls > 0 && after.Calls > account.Limit.Calls) || (account.Limit.Tokens > 0 && after.Tokens > account.Limit.Tokens) {
		return &Refusal{Account: account, Spent: spent, Wanted: wanted}
	}
	return nil
}

// Memory keeps the accounts of one process, as long as it lives.
type Memory struct {
	mu    sync.Mutex
	spent map[string]Spent
}

var _ Store = (*Memory)(nil)

// NewMemory returns a store in which nothing is spent yet.
func NewMemory() *Memory { return &Memory{spent: make(map[string]Spent)} }

// Take adds an amount to every account, or to none.
func (m *Memory) Take(_ context.Context, amount Spent, accounts ...Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, account := range accounts {
		if err := allow(account, m.spent[account.Name], amount); err != nil {
			return err
		}
	}
	m.add(amount, accounts)
	return nil
}

// Correct adds an amount to every account.
func (m *Memory) Correct(_ context.Context, amount Spent, accounts ...Account) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(amount, accounts)
	return nil
}

func (m *Memory) add(amount Spent, accounts []Account) {
	for _, account := range accounts {
		m.spent[account.Name] = m.spent[account.Name].plus(amount)
	}
}

// Spent tells what an account has spent.
func (m *Memory) Spent(_ context.Context, account string) (Spent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[account], nil
}
