// The keys of a transcript.

export interface Keys {
  move(by: 1 | -1): void;
  end(which: 'first' | 'last'): void;
  page(by: 1 | -1): void;
  toggle(): void;
  iteration(by: 1 | -1): void;
  pick(): void;
  find(): void;
  again(by: 1 | -1): void;
  follow(): void;
  write(): void;
  escape(): void;
}

export function onKeys(view: HTMLElement, keys: Keys): void {
  document.addEventListener('keydown', (e) => {
    const run = actionOf(e, keys);
    const inField = (e.target as HTMLElement).matches('input, textarea');
    if (!run || e.defaultPrevented || (inField && !/^(F3|Escape)$/.test(e.key) && !e.ctrlKey && !e.metaKey)) return;
    if (e.key === 'Enter' || e.key === ' ') {
      const isRow = e.target === view || (e.target as HTMLElement).matches('.row');
      if (!isRow) return; // a button or a link has its own meaning
    }
    e.preventDefault();
    run();
  });
}

function actionOf(e: KeyboardEvent, keys: Keys): (() => void) | undefined {
  if (e.altKey) return undefined;
  if (e.ctrlKey || e.metaKey) return e.key === 'f' ? keys.find : undefined;
  switch (e.key) {
    case 'ArrowDown': case 'j': return () => keys.move(1);
    case 'ArrowUp': case 'k': return () => keys.move(-1);
    case 'PageDown': return () => keys.page(1);
    case 'PageUp': return () => keys.page(-1);
    case 'Home': return () => keys.end('first');
    case 'End': return () => keys.end('last');
    case 'Enter': case ' ': return keys.toggle;
    case ']': case 'n': return () => keys.iteration(1);
    case '[': case 'p': return () => keys.iteration(-1);
    case 'g': return keys.pick;
    case '/': return keys.find;
    case 'F3': return () => keys.again(e.shiftKey ? -1 : 1);
    case 'f': return keys.follow;
    case 'i': return keys.write;
    case 'Escape': return keys.escape;
    default: return undefined;
  }
}
