import { inLine, type Said, say } from './output.ts';

/** Columns as wide as their widest entry, two spaces apart; the first row is the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): Said {
  const all = [head, ...rows.map((row) => row.map(inLine))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length)));
  const lines = all.map((row) => {
    const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length));
    return say`${cells.join('  ').trimEnd()}\n`;
  });
  return say`${lines}`;
}

/** To the minute: nobody reads more in a list. */
export const minute = (time: Date | null): string =>
  time === null ? 'never' : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
