package natsbus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// A submitter may publish on one subject of its own, where serve answers, and hear its own inbox. Its token has its name
// and the seed of a key, which doesn't cross the network.
const (
	submitSubject = "ralph.submit." // and the name
	ownInbox      = "_INBOX."       // the same
	submitToken   = "submitter:"    // the same, and behind another colon the seed
)

// tokenForm is that of a submitter's token. No other client's inbox, which has 22 characters, has such a name.
var tokenForm = regexp.MustCompile(`^` + submitToken + `([a-z][a-z0-9-]{0,19}):(SU[A-Z2-7]{56})$`)

// SubmitterOf is the name of the submitter whose token it is, "" for any other token.
func SubmitterOf(token string) string {
	if found := tokenForm.FindStringSubmatch(token); found != nil {
		return found[1]
	}
	return ""
}

// NewToken makes a submitter's token.
func NewToken(name string) (token string, err error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", err
	}
	seed, err := key.Seed()
	if token = submitToken + name + ":" + string(seed); err == nil && SubmitterOf(token) == "" {
		err = fmt.Errorf("%q is no name of a submitter: up to 20 of a-z, 0-9 and -, and a letter first", name)
	}
	return token, err
}

// keyOf is the key in a submitter's token, with its public half.
func keyOf(token string) (key nkeys.KeyPair, public string, err error) {
	if key, err = nkeys.FromSeed([]byte(token[strings.LastIndexByte(token, ':')+1:])); err == nil {
		public, err = key.PublicKey()
	}
	return key, public, err
}

// submitters are the users that NATS knows beside the token of all others.
func submitters(tokens []string) (users []*server.NkeyUser, err error) {
	isKnown := map[string]bool{}
	for _, token := range tokens {
		name := SubmitterOf(token)
		_, public, err := keyOf(token)
		if isKnown[name] {
			err = errors.New("there is another one of it")
		}
		isKnown[name] = true
		if err != nil {
			return nil, fmt.Errorf("the token of the submitter %s: %w", name, err)
		}
		users = append(users, &server.NkeyUser{Nkey: public, Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{submitSubject + name}},
			Subscribe: &server.SubjectPermission{Allow: []string{ownInbox + name + ".>"}},
			Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: silence}, // to what serve says before it answers
		}})
	}
	return users, nil
}

// atATime is how many requests of a submitter are answered at the same time.
const atATime = 8

// Serve answers a submitter's requests until ctx is done. more says something to who asks, before the answer, and
// returns what they say to that.
func (b *Bus) Serve(ctx context.Context, submitter string,
	answer func(ctx context.Context, request []byte, more func(context.Context, []byte) ([]byte, error)) []byte) error {
	busy := make(chan struct{}, atATime)
	heard, err := b.conn.QueueSubscribe(submitSubject+submitter, "serve", func(m *nats.Msg) {
		if !strings.HasPrefix(m.Reply, ownInbox+submitter+".") {
			return // it would have this client, which may do everything, say something elsewhere
		}
		busy <- struct{}{}
		go func() {
			defer func() { <-busy }()
			b.conn.Publish(m.Reply, answer(ctx, m.Data, func(ctx context.Context, data []byte) ([]byte, error) {
				within, cancel := context.WithTimeout(ctx, silence)
				defer cancel()
				said, err := b.conn.RequestWithContext(within, m.Reply, data)
				if err != nil {
					return nil, err
				}
				return said.Data, nil
			})) // who asked learns by its own time limit
		}()
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { heard.Unsubscribe() })
	return b.conn.Flush()
}

// Line is a submitter's connection.
type Line struct {
	conn link
	name string
}

// DialSubmitter connects as the submitter that the token is of.
func DialSubmitter(ctx context.Context, o Options) (*Line, error) {
	l := &Line{name: SubmitterOf(o.Token)}
	key, public, err := keyOf(o.Token)
	if err != nil {
		return nil, fmt.Errorf("the token of the submitter %s: %w", l.name, err)
	}
	options := []nats.Option{nats.Name(o.Name), nats.Nkey(public, key.Sign), nats.CustomInboxPrefix(ownInbox + l.name)}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	conn, err := connect(ctx, o.URL, options)
	if err != nil {
		return nil, &Unreached{format.WithoutUserinfo(o.URL), Explain(err, o)}
	}
	l.conn = link{conn}
	return l, nil
}

// Ask asks serve. more is called with what that says before it answers, and returns what it is told.
func (l *Line) Ask(ctx context.Context, request []byte, more func([]byte) []byte) ([]byte, error) {
	inbox := l.conn.NewInbox()
	heard, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer heard.Unsubscribe()
	if err = fits("a request", request); err == nil {
		err = l.conn.PublishRequest(submitSubject+l.name, inbox, request)
	}
	for err == nil {
		var m *nats.Msg
		switch m, err = heard.NextMsgWithContext(ctx); {
		case errors.Is(err, nats.ErrNoResponders):
			err = errors.New("the bus answers no submitter now: is ralph-fleet serve just starting?")
		case err == nil && m.Reply == "":
			return m.Data, nil
		case err == nil:
			err = m.Respond(more(m.Data))
		}
	}
	return nil, err
}

// Close ends the connection.
func (l *Line) Close() { l.conn.Close() }
