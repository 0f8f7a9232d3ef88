package plan

import "slices"

// Mark returns the file with an item's box checked or open. The items above an opened one are opened, too.
func (p Plan) Mark(id string, checked bool) Plan {
	p.Items = slices.Clone(p.Items)
	i := slices.IndexFunc(p.Items, func(it Item) bool { return it.ID == id })
	if i < 0 {
		return p
	}
	p.Items[i].checked = checked
	for up := p.Items[i].parent; up >= 0; up = p.Items[up].parent {
		p.Items[up].checked = p.Items[up].checked && checked
	}
	return p.written()
}

// Grouped is the file with the boxes of those items checked below which all is done, if there is nothing else to do.
func (p Plan) Grouped() Plan {
	p.Items = slices.Clone(p.Items)
	for i := range p.Items {
		p.Items[i].checked = p.Items[i].checked || p.Items[i].group && p.done(i)
	}
	return p.written()
}

// With is the file with the boxes of another state of it, as far as both have the same items.
func (p Plan) With(boxes Plan) Plan {
	p.Items = slices.Clone(p.Items)
	for i, it := range p.Items {
		if other, ok := boxes.Find(it.ID); ok {
			p.Items[i].checked = other.checked
		}
	}
	return p.written()
}

// written is the plan with its boxes put into its bytes, from the last to the first.
func (p Plan) written() Plan {
	data := slices.Clone(p.Data)
	for _, it := range slices.Backward(p.Items) {
		word := map[bool]string{true: "x", false: " "}[it.checked]
		switch old := string(data[it.box[0]:it.box[1]]); {
		case p.isPRD && old != "":
			word = map[bool]string{true: "true", false: "false"}[it.checked]
		case p.isPRD && it.checked:
			word = `"passes": true, `
		case p.isPRD:
			continue
		case (old == " ") != it.checked: // an X is checked as well
			continue
		}
		data = slices.Replace(data, it.box[0], it.box[1], []byte(word)...)
	}
	now, _ := Parse(p.Name, data) // the same but for boxes
	now.only = p.only
	return now
}

// Lost are the open tasks that another state of the file hasn't any more, or has with another check or agent.
func (p Plan) Lost(now Plan) []Item {
	return slices.DeleteFunc(p.All(), func(it Item) bool {
		other, ok := now.Find(it.ID)
		return p.IsDone(it) || ok && (it.Verify == "" || other.Verify == it.Verify) && other.Agent == it.Agent
	})
}
