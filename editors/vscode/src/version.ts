// What a program's command "version" prints.

/** The oldest sidecar that speaks this extension's wire format. */
export const minVersion = '0.1.0';

/** The version that the program's output names, undefined: it is another's. */
export function versionIn(program: string, output: string): string | undefined {
  const [name, version] = output.split(/\s/, 2);
  return name === program ? version : undefined;
}

/** A build from a checkout has no version to compare and counts as new enough. */
export function isTooOld(version: string): boolean {
  const have = /^v?(\d+)\.(\d+)\.(\d+)(-0\.\d{14}-|-\d{14}-)?/.exec(version);
  if (!have || have[4]) return false;
  const need = minVersion.split('.').map(Number);
  for (const [i, part] of need.entries()) {
    const n = Number(have[i + 1]);
    if (n !== part) return n < part;
  }
  return false;
}
