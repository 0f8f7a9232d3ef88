// The icons of the page's buttons by the editor's names, on a square of 16: the page has no font of icons.

interface Icon { path: string; /** It is an area and no line. */ filled?: true }

export const icons: Record<string, Icon> = {
  'debug-stop': { path: 'M4 4h8v8H4z', filled: true },
  'debug-pause': { path: 'M5 3.5v9M11 3.5v9' },
  'debug-continue': { path: 'M5 3l8 5-8 5z', filled: true },
  'debug-step-over': { path: 'M3.5 3l6 5-6 5zM12.5 3v10', filled: true },
  'debug-rerun': { path: 'M12.5 5.5A5.2 5.2 0 1 0 13.2 8M13 2.5v3.2H9.8' },
  'go-to-file': { path: 'M6.5 4h-3v8.5h8.5v-3M8.5 3h4.5v4.5M13 3L7 9' },
  discard: { path: 'M3 6h6.5a3.2 3.2 0 0 1 0 6.5H6M6 3L3 6l3 3' },
  'diff-multiple': { path: 'M3.5 2.5h9v11h-9zM8 4.5v4M6 6.5h4M6 11h4' },
};
