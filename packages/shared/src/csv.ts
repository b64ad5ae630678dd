import { invariant } from './result.ts';

/** A cell: text, a number as decimal text, or nothing. */
export type CsvCell = string | { readonly number: string } | null;

/** Exact decimal text as a number, so that its column can be summed. */
export const number = (text: string): CsvCell => ({ number: text });
export const numberOrNothing = (text: string | null): CsvCell => (text === null ? null : number(text));

/** What a file shows of a row of type `R`. */
export type CsvTable<R> = { readonly head: string; readonly line: (row: R) => string };

/**
 * A table of columns in their order: the name of each, and its cell of a row.
 * @param shown what the cells are taken from, once for each row
 */
export function csvTable<R, V>(
  shown: (row: R) => V,
  columns: Readonly<Record<string, (shown: V) => CsvCell>>,
): CsvTable<R> {
  const cells = Object.values(columns);
  return {
    head: csvLine(Object.keys(columns)),
    line(row) {
      const view = shown(row);
      return csvLine(cells.map((cell) => cell(view)));
    },
  };
}

/**
 * A spreadsheet takes such a text for a formula, and runs it: also in full-width letters. Where it splits cells at semicolons
 * or tabs, as it does in many countries, it does not know our quotes, and what follows one of these begins a cell.
 */
const FORMULA = /(?<=^|[;\t\r\n]\s*"?)(?=[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

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
  const safe = cell.replace(FORMULA, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
