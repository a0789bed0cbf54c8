// Package redact shows URLs without what is secret in them.
package redact

import "net/url"

// hidden stands in the place of a password, as net/url has it.
const hidden = "xxxxx"

// URL is the text as it may be shown: a URL without its password, and any other text as it is. One that starts like a URL and
// cannot be read shows nothing.
func URL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	if query := u.Query(); query.Has("password") {
		query.Set("password", hidden)
		u.RawQuery = query.Encode()
	}
	if _, has := u.User.Password(); !has && u.RawQuery == "" {
		return text // not written anew where there is nothing to hide
	}
	return u.Redacted()
}
