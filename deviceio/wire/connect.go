package wire

// Connect is the params of the connect request (contract.md §10).
type Connect struct {
	MinProtocol int             `json:"minProtocol"`
	MaxProtocol int             `json:"maxProtocol"`
	Client      Client          `json:"client"`
	Caps        []string        `json:"caps"`
	Commands    []string        `json:"commands"`
	Permissions map[string]bool `json:"permissions,omitempty"`
	Role        string          `json:"role"`
	Scopes      []string        `json:"scopes"`
	Auth        Auth            `json:"auth"`
	Device      DeviceIdentity  `json:"device"`
	Locale      string          `json:"locale,omitempty"`
	UserAgent   string          `json:"userAgent,omitempty"`
	// Errand is what a DeviceAgent declares; nil means a plain node.
	Errand *Errand `json:"errand,omitempty"`
}

// Client says what program is connecting.
type Client struct {
	ID           string `json:"id"`
	DisplayName  string `json:"displayName,omitempty"`
	Version      string `json:"version"`
	Platform     string `json:"platform"`
	DeviceFamily string `json:"deviceFamily,omitempty"`
	Mode         string `json:"mode"`
	InstanceID   string `json:"instanceId,omitempty"`
}

// Auth carries one token; Token wins over DeviceToken, which wins over BootstrapToken.
type Auth struct {
	Token          string `json:"token,omitempty"`
	DeviceToken    string `json:"deviceToken,omitempty"`
	BootstrapToken string `json:"bootstrapToken,omitempty"`
}

// Value returns the token that is signed.
func (a Auth) Value() string {
	switch {
	case a.Token != "":
		return a.Token
	case a.DeviceToken != "":
		return a.DeviceToken
	}
	return a.BootstrapToken
}

// DeviceIdentity proves who is connecting: an Ed25519 key, its hash as the id, and a signature over the challenge.
type DeviceIdentity struct {
	ID        string `json:"id"`        // lowercase hex SHA-256 of the raw public key
	PublicKey string `json:"publicKey"` // unpadded base64url of the 32 raw bytes
	Signature string `json:"signature"` // unpadded base64url
	SignedAt  int64  `json:"signedAt"`  // the challenge's ts
	Nonce     string `json:"nonce"`
}

// Errand is the object errand of connect.params: what a DeviceAgent can be relied on for (contract.md §10).
type Errand struct {
	Profile Profile `json:"profile"`
	// Boots lists boot ids, oldest first, the current one last; at least every boot with unacknowledged events.
	Boots []string `json:"boots"`
	// StoreID names the dedupe store: a new one when the store was lost.
	StoreID string `json:"store_id"`
	// RetentionS is how long the store remembers an operation, in seconds.
	RetentionS int64 `json:"retention_s"`
}

// Profile is what a device can be relied on for.
type Profile struct {
	Status bool `json:"status"` // answers for an operation id
	Dedupe bool `json:"dedupe"` // the same operation id again moves nothing
	Outbox bool `json:"outbox"` // events survive a lost connection
}

// Hello is the payload of the answer to connect.
type Hello struct {
	Type     string      `json:"type"` // hello-ok
	Protocol int         `json:"protocol"`
	Server   HelloServer `json:"server"`
	Features Features    `json:"features"`
	Snapshot Snapshot    `json:"snapshot"`
	Auth     HelloAuth   `json:"auth"`
	Policy   Policy      `json:"policy"`
}

// HelloServer names the gateway and this connection.
type HelloServer struct {
	Version string `json:"version"`
	ConnID  string `json:"connId"`
}

// Features lists what the gateway speaks.
type Features struct {
	Methods []string `json:"methods"`
	Events  []string `json:"events"`
}

// Snapshot is part of the protocol; a node has no use for it.
type Snapshot struct {
	Presence     []any          `json:"presence"`
	Health       map[string]any `json:"health"`
	StateVersion StateVersion   `json:"stateVersion"`
	UptimeMs     int64          `json:"uptimeMs"`
}

// StateVersion numbers the parts of a Snapshot.
type StateVersion struct {
	Presence int64 `json:"presence"`
	Health   int64 `json:"health"`
}

// HelloAuth tells the role granted, and the device token to keep.
type HelloAuth struct {
	Role        string   `json:"role"`
	Scopes      []string `json:"scopes"`
	DeviceToken string   `json:"deviceToken,omitempty"`
	IssuedAtMs  int64    `json:"issuedAtMs,omitempty"`
}

// Policy bounds the connection. Silence of more than twice TickIntervalMs closes it.
type Policy struct {
	MaxPayload       int64 `json:"maxPayload"`
	MaxBufferedBytes int64 `json:"maxBufferedBytes"`
	TickIntervalMs   int64 `json:"tickIntervalMs"`
}
