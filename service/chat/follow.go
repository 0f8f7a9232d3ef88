package chat

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TakeUp makes the session one of a loop that there was before, "" for none, and tells its story if it is to be shown. One that runs
// is followed. told is called behind the story.
func (s *Session) TakeUp(loopID string, isLive, isReplay bool, told func()) {
	s.order(func() {
		s.mu.Lock()
		f, inTurn := s.following, s.turn != nil
		if s.loopID = loopID; f == nil {
			s.cursor, s.agent = "", ""
		}
		s.mu.Unlock()
		switch {
		case loopID == "", inTurn:
			told()
		case f != nil && f.LoopID() == loopID: // it is opened again
			s.between(f, func() {
				if isReplay {
					s.replay(loopID, s.place())
				}
				if told(); isReplay { // what is asked is of what it has put away
					s.tells(f.withdraw)
					s.mu.Lock()
					clear(f.asked)
					s.mu.Unlock()
					s.look(f)
				}
			})
		default:
			if isReplay {
				s.replay(loopID, "")
			} else { // the client knows what it did
				outline, _ := s.loops.Story(s.Folder, loopID).Outline(s.ctx) // what isn't kept has none
				s.reach(nil, outline.Cursor)
			}
			told()
			if isLive {
				s.goesOn()
			}
		}
	})
}

func (s *Session) place() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursor
}

// reach notes what was shown: in a replay, or of the loop that is followed, which another one may have taken the place of.
func (s *Session) reach(of *following, cursor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cursor != "" && (of == nil || of == s.following) {
		s.cursor = cursor
	}
}

// between does something between two updates of a loop that is followed.
func (s *Session) between(f *following, do func()) {
	done := make(chan struct{})
	select {
	case f.aside <- func() { do(); close(done) }:
		<-done
	case <-f.over:
		do()
	}
}

// replay shows what a loop did, up to a cursor or the present end.
func (s *Session) replay(loopID, before string) {
	story := s.loops.Story(s.Folder, loopID)
	s.mu.Lock()
	s.agent = ""
	s.mu.Unlock()
	for page, err := range journal.Pages(s.ctx, story, "", journal.Options{Thinking: true, Before: before}) {
		s.show(page.Items, true)
		if s.reach(nil, page.Cursor); err != nil {
			return
		}
	}
}

// show shows updates. Who is at work is told once.
func (s *Session) show(items []journal.Item, isReplay bool) {
	for _, it := range items {
		u := wire.Decode(it.JSON)
		switch u := u.(type) {
		case nil, wire.Question, wire.Answered: // its user is asked itself
			continue
		case wire.SessionUpdate:
			s.mu.Lock()
			isKnown := u.Text == s.agent
			s.agent = u.Text
			s.mu.Unlock()
			if isKnown {
				continue
			}
		}
		s.tells(func(f Face) { f.Show(u, it.JSON, isReplay) })
	}
}

// follow shows what a loop does from now on, until it is over.
func (s *Session) follow(f *following) {
	s.mu.Lock()
	s.following, s.loopID = f, f.LoopID()
	s.mu.Unlock()
	go func() {
		defer close(f.over)
		s.look(f)
		for {
			select {
			case <-f.News():
				s.read(f)
			case <-f.stands:
				s.look(f)
			case do := <-f.aside:
				if do(); f.HasLeft() {
					return
				}
			case <-f.Over():
				s.read(f)
				s.over(f)
				return
			}
		}
	}()
}

// read shows what can be shown now.
func (s *Session) read(f *following) {
	for more := true; more; {
		page, behind := f.Next(true)
		s.show(page.Items, false)
		s.reach(f, page.Cursor)
		more = page.More || len(page.Items) > 0 && behind > 0
	}
}

// look takes how the loop stands, and asks what its agents wait to be told.
func (s *Session) look(f *following) {
	now := statusOf(f)
	open := map[string]bool{}
	var fresh []wire.Question
	var moot []string
	s.mu.Lock()
	for _, q := range now.Questions {
		if open[q.ID] = true; !f.asked[q.ID] {
			f.asked[q.ID], fresh = true, append(fresh, q)
		}
	}
	for id := range f.asked {
		if !open[id] {
			delete(f.asked, id)
			moot = append(moot, id)
		}
	}
	s.mu.Unlock()
	s.tells(func(face Face) {
		face.Stands(now)
		for _, id := range moot {
			face.Withdraw(id)
		}
		for _, q := range fresh {
			face.Ask(q)
		}
	})
}

// again asks once more what the agent waits to be told, oldest first.
func (s *Session) again() (wire.Notice, error) {
	s.mu.Lock()
	f := s.following
	s.mu.Unlock()
	if f == nil {
		return wire.Notice{}, ask.ErrNoQuestion
	}
	open := statusOf(f).Questions
	if len(open) == 0 {
		return wire.Notice{}, ask.ErrNoQuestion
	}
	s.tells(func(face Face) {
		face.Withdraw(open[0].ID)
		face.Ask(open[0])
	})
	return open[0].Notice, nil
}

// letGo ends what is shown of the loop, and the turn. A loop of the turn that ends with this window is followed until then.
func (s *Session) letGo() {
	s.mu.Lock()
	f, held := s.following, s.held
	s.mu.Unlock()
	if f == nil {
		return
	}
	s.between(f, func() {
		s.tells(f.withdraw)
		if f == held && f.Owns() && !f.Status().Detached {
			return
		}
		f.Close()
		s.mu.Lock()
		s.following = nil
		s.mu.Unlock()
		s.endTurn(Outcome{Cancelled: true})
	})
}

// withdraw takes all questions back.
func (f *following) withdraw(face Face) {
	for id := range f.asked {
		face.Withdraw(id)
	}
}

// over ends what is shown of a loop.
func (s *Session) over(f *following) {
	s.mu.Lock()
	if s.following == f { // else another one has begun
		s.following = nil
	}
	isLeft := f.HasLeft()
	if isLeft { // the client is gone
		f.ended = &Outcome{Cancelled: true}
	}
	s.mu.Unlock()
	if isLeft {
		return
	}
	end, err := f.End()
	if end.Status.Last == nil {
		last := end
		end.Status.Last = &last
	}
	if err != nil {
		s.tell(err.Error())
		end.Reason = loop.StopInterrupted
	}
	now := wire.StatusOf(end.Status, f.Owns())
	f.Close()
	s.mu.Lock()
	f.ended = &Outcome{Ended: end.Reason}
	if s.following == f { // a turn has come to wait for it meanwhile
		s.following = nil
	}
	var done func(Outcome)
	givesWay := s.turn != nil && s.held != f
	if s.held == f { // another turn may begin as soon as its user hears of the end
		done, s.turn, s.held = s.turn, nil, nil
	}
	isCancelled := s.cancelled
	s.mu.Unlock()
	s.tells(func(face Face) {
		f.withdraw(face)
		face.Stands(now)
		if !givesWay { // to a loop that its user has just asked for
			face.Ended(now, end.Reason)
		}
	})
	if done != nil {
		done(Outcome{Ended: end.Reason, Cancelled: isCancelled})
	}
}

// Offered is an answer that a question offers.
type Offered struct {
	Title string
	ask.Answer
}

// AnswersTo are the answers that a question offers, the safe one first.
func AnswersTo(q wire.Question) (all []Offered) {
	for _, o := range q.Offers {
		if said, ok := o.Arguments[0].(wire.AnswerParams); ok {
			all = append(all, Offered{o.Title, ask.Answer{Kind: said.Answer, Text: said.Text}})
		}
	}
	return all
}

// ReceiptText is the receipt of a loop that is over, as a list in Markdown.
func ReceiptText(l wire.LoopStatus) string {
	if l.Last == nil {
		return ""
	}
	var receipt strings.Builder
	for _, row := range l.Last.Rows {
		fmt.Fprintf(&receipt, "- %s: %s\n", row.Label, row.Text)
	}
	for _, c := range l.Last.Commands {
		fmt.Fprintf(&receipt, "- `%s`: %s\n", c.Line, c.Text)
	}
	return receipt.String()
}
