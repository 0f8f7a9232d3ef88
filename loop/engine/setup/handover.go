package setup

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode writes the configuration for the process that will drive the loop, which Decode reads
// there. It holds secrets (a webhook, arguments of the user's), so it goes into no file.
func (c Config) Encode() ([]byte, error) {
	data, err := json.Marshal(c, jsonv1.DefaultOptionsV1(), json.WithMarshalers(json.MarshalToFunc(encodeText)))
	if err != nil {
		return nil, fmt.Errorf("writing the loop's configuration: %w", err)
	}
	return data, nil
}

// Decode reads what Encode has written. Its error tells where the text is wrong and nothing of what it says.
func Decode(data []byte) (c Config, err error) {
	err = json.Unmarshal(data, &c, jsonv1.DefaultOptionsV1(), json.WithUnmarshalers(json.UnmarshalFromFunc(decodeText)))
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		err = fmt.Errorf("reading the loop's configuration: it is no JSON at byte %d", syntax.ByteOffset)
	case errors.As(err, &meaning):
		err = fmt.Errorf("reading the loop's configuration: a value at byte %d isn't one", meaning.ByteOffset)
	case err != nil:
		err = errors.New("reading the loop's configuration failed")
	}
	return c, err
}

// notText is a text that JSON can't have, as it isn't UTF-8: the name of a folder may be any bytes.
type notText struct{ Bytes []byte }

func encodeText(to *jsontext.Encoder, text string) error {
	if utf8.ValidString(text) {
		return errors.ErrUnsupported
	}
	return json.MarshalEncode(to, notText{[]byte(text)})
}

func decodeText(from *jsontext.Decoder, text *string) error {
	if from.PeekKind() != '{' {
		return errors.ErrUnsupported
	}
	var it notText
	err := json.UnmarshalDecode(from, &it)
	*text = string(it.Bytes)
	return err
}
