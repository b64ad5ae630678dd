/** Each names those that it is made from as well, so the order counts. */
const browsers: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
];
const systems: readonly (readonly [string, RegExp])[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
];

/** What a browser calls itself, as people say it: a guess, since any program can send any text. */
export function programIn(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown program';
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return userAgent.split(' ')[0]?.slice(0, 40) ?? userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
