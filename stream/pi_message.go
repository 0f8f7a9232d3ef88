package stream

// piMessage is the part of a pi message that matters here. content is raw JSON
// and valid only as long as its line.
type piMessage struct {
	role         string
	provider     string
	model        string
	stopReason   string
	errorMessage string
	content      []byte
	usage        Usage
}

// failed says whether the model's answer failed, whatever it contains.
func (m piMessage) failed() bool {
	return m.stopReason == "error" || m.stopReason == "aborted" || m.errorMessage != ""
}

// piMessageOf reads the member "message" of a line.
func piMessageOf(line []byte) (m piMessage, err error) {
	c := newCursor(line)
	for top := c.object(); top.next(); {
		if string(top.key) != "message" {
			continue
		}
		for o := c.object(); o.next(); {
			switch string(o.key) {
			case "role":
				m.role = c.text()
			case "provider":
				m.provider = c.text()
			case "model":
				m.model = c.text()
			case "stopReason":
				m.stopReason = c.text()
			case "errorMessage":
				m.errorMessage = c.text()
			case "content":
				m.content = c.raw()
			case "usage":
				m.usage = c.piUsage()
			}
		}
	}
	if !c.done() {
		return piMessage{}, ErrMalformed
	}
	return m, nil
}

// piUsage reads the usage of one model call.
func (c *cursor) piUsage() (u Usage) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "input":
			u.Tokens.Input = c.integer()
		case "output":
			u.Tokens.Output = c.integer()
		case "cacheRead":
			u.Tokens.CacheRead = c.integer()
		case "cacheWrite":
			u.Tokens.CacheWrite = c.integer()
		case "cost":
			for cost := c.object(); cost.next(); {
				if string(cost.key) == "total" {
					u.Cost.USD, u.Cost.Known = c.float()
				}
			}
		}
	}
	u.Context = u.Tokens.Total()
	return u
}
