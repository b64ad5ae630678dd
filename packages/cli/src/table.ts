/** Columns as wide as their widest entry, two spaces apart; the first row is the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length)));
  return all
    .map((row) => {
      const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}

/** To the minute: nobody reads more in a list. */
export const minute = (time: Date | null): string =>
  time === null ? 'never' : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
