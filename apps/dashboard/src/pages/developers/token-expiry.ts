export const lifetimes = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'After a day' },
  { value: 'never', label: 'Never: when it is revoked' },
] as const;

/**
 * When a token expires; undefined: never.
 * @param day the last one on which it is valid, as `2026-12-31`, when `lifetime` is `day`
 */
export function expiryOf(lifetime: string, day: string | null, now: Date): Date | undefined {
  if (lifetime === 'never') return undefined;
  if (lifetime === 'day') return day === null ? undefined : new Date(`${day}T23:59:59`);
  const end = new Date(now);
  // eslint-disable-next-line no-restricted-syntax -- days
  end.setDate(end.getDate() + Number.parseInt(lifetime, 10));
  return end;
}
