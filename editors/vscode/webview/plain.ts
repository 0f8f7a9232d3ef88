// What an agent wrote, without what would do something on a screen.

// eslint-disable-next-line no-control-regex
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
const invisible = new RegExp(unwanted, 'gu');

/** Removes escape sequences, and all that is invisible or reorders. */
export function plain(text: string): string {
  return unwanted.test(text) ? text.replace(/\r\n?/g, '\n').replace(sequences, '').replace(invisible, '') : text;
}
