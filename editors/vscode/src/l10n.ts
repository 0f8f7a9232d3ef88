// Texts for people go through t, so that modules which don't know the editor
// can be localised too.

export type Translate = (message: string, ...args: (string | number)[]) => string;

let translate: Translate = (message, ...args) => message.replace(/\{(\d+)\}/g, (_, n) => String(args[Number(n)] ?? ''));

/** Sets what t does from here on: the editor's own translation. */
export function useTranslation(f: Translate): void {
  translate = f;
}

/** The message in the editor's language, {0}, {1}, ... replaced by the arguments. */
export const t: Translate = (message, ...args) => translate(message, ...args);
