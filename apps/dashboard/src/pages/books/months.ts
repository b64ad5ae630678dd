/** `2026-11`, in UTC, as the ledger counts. */
export const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

/** The first and the last day of a month. */
export function daysOf(month: string): { first: string; last: string } {
  const last = new Date(`${month}-01T00:00:00Z`);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return { first: `${month}-01`, last: last.toISOString().slice(0, 10) };
}
