/** `2026-11`, in UTC, as the books count. */
export const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

/** The first and the last day of a month. */
export function daysOf(month: string): { first: string; last: string } {
  const [year = 0, number = 1] = month.split('-').map((part) => Number.parseInt(part, 10));
  const end = new Date(Date.UTC(year, number, 0));
  return { first: `${month}-01`, last: end.toISOString().slice(0, 10) };
}
