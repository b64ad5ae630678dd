/** A line for each row, in columns as wide as what they hold; those from `numbersFrom` on stand at the right of theirs. */
export function inColumns(rows: readonly string[][], numbersFrom = Number.POSITIVE_INFINITY): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const padded = (cell: string, i: number) =>
    i < numbersFrom ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}
