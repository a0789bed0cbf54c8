// Package certificate is the TLS certificate of a gateway (contract.md §10): the one in use and, while it is being replaced, the
// next one with the moment from which it is used.
//
//	store := certificate.Open(".errand/gateway-tls.json", certificate.Files{}, 7*24*time.Hour)
//	now, err := store.Read() // made at the first start, the same ever after
//	fmt.Println(now.InUse.Fingerprint)
//
// Devices trust the SHA-256 of exactly this certificate, which an invite tells them. So another one must be announced to them
// before it is used, by whoever they trust already: that takes time, and the time is kept on disk with the certificates. A
// restart neither forgets a switch nor hastens it, and gateways that share the file switch at the same moment.
//
// A next certificate comes from an operator: made by Rotate (`gateway rotate`), or found in the files that Files names, which the
// operator replaced. Keeper is what a gateway serves with: it looks for both, and tells of what changed.
package certificate
