package settings

// What a fallback stands in for.
const (
	OnRateLimit  = "rate_limit"
	OnOverloaded = "overloaded" // the provider is
	OnQuota      = "quota"      // a window of a subscription is used up, or the limit lasts for over an hour
)

// Reliefs are all of them.
func Reliefs() []string { return []string{OnRateLimit, OnOverloaded, OnQuota} }
