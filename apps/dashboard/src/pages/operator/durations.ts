const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A duration in its largest unit: `3 minutes`, `1 day`. */
export function durationOf(seconds: number): string {
  const [name, size] = UNITS.find(([, unit]) => seconds >= unit) ?? (['second', 1] as const);
  const count = Math.floor(seconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** How long ago a time was. */
export const ageOf = (at: string, now: Date): string =>
  durationOf(Math.max(0, Math.floor((now.getTime() - new Date(at).getTime()) / 1_000)));
