// Numbers and times as people read them.

/** Writes dollars: $1.42, or $0.0042 where cents would say nothing. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`;
}

/** Writes a duration: 45s, 12m 05s, 1h 02m. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** Writes the time since an RFC 3339 time, '' when it isn't known. */
export function since(start: string | undefined, now: number): string {
  return start ? duration(now - Date.parse(start)) : '';
}

/** Writes a count of tokens: 940, 12.3k, 1.20M. */
export function count(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_950) return `${(n / 1000).toFixed(1)}k`;
  return `${(n / 1_000_000).toFixed(2)}M`;
}

/** Writes 3/50, or 3 where there is no limit. */
export function ofMax(n: number, max: number | undefined): string {
  return max ? `${n}/${max}` : String(n);
}

/** The clock time of an RFC 3339 time, hours and minutes. */
export function clock(time: string): string {
  const d = new Date(time);
  return `${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** Joins the facts that there are. */
export function facts(...all: (string | undefined)[]): string {
  return all.filter(Boolean).join(' · ');
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
