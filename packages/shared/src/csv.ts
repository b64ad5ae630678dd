import { invariant } from './result.ts';

/** A cell: text, a number as decimal text, or nothing. */
export type CsvCell = string | { readonly number: string } | null;

/** A spreadsheet takes such a text for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A line of CSV (RFC 4180). A text that a spreadsheet would run gets an apostrophe before it; numbers stay numbers, so that
 * their columns can be summed.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'object') {
    invariant(/^-?\d+(?:\.\d+)?$/.test(cell.number), 'a number of a CSV file is plain decimal text');
    return cell.number;
  }
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
