import { parseExactJson } from './exact-json.ts';
import { didYouMean } from './nearest.ts';
import { ok, type Result, refuse } from './result.ts';
import type { FieldErrors, FieldProblem } from './validation.ts';

/** A payout of a batch as it was given. `line`: of a list its place from 1, of a file the line where it begins. */
export type GivenLine = { line: number; input: unknown };

const columns = ['asset', 'amount', 'address', 'external_id', 'metadata'] as const;
const required = ['asset', 'amount', 'address'] as const;
const isColumn = (name: string): name is (typeof columns)[number] => columns.some((one) => one === name);

/**
 * Reads the payouts of a CSV file (RFC 4180): UTF-8, with a first line that names its columns. Cells are text, whatever they
 * begin with. A file that is not clear is refused as a whole, and the error names the line.
 */
export function readBatchFile(raw: Uint8Array): Result<GivenLine[], FieldErrors> {
  const text = decode(raw);
  if (!text.ok) return refuse({ body: [text.refusal] });
  const records = readRecords(text.value);
  if (!records.ok) return refuse({ body: [records.refusal] });
  const [header, ...others] = records.value;
  if (header === undefined) {
    return wrong('The file is empty.', `Name the columns in the first line: ${columns.join(',')}.`);
  }
  const names = header.cells.map((cell) => cell.trim());
  const problem = headerProblem(names);
  if (problem !== undefined) return refuse({ body: [problem] });
  const lines: GivenLine[] = [];
  for (const { line, cells } of others) {
    if (cells.length !== names.length) {
      const hint = 'Put a text with a comma in quotes.';
      return wrong(`Line ${line} has ${cells.length} cells, and the first line has ${names.length}.`, hint);
    }
    lines.push({ line, input: inputOf(names, cells) });
  }
  return ok(lines);
}

const wrong = (message: string, hint?: string): Result<never, FieldErrors> =>
  refuse({ body: [{ message, hint }] });

function headerProblem(names: readonly string[]): FieldProblem | undefined {
  const known = `Known: ${columns.join(', ')}. Separate them by commas.`;
  const unknown = names.find((name) => !isColumn(name));
  if (unknown !== undefined && names.length === 1 && isSeparatedOtherwise(unknown)) {
    return { message: 'Line 1 separates its columns by semicolons or tabs.', hint: SEPARATOR_HINT };
  }
  if (unknown !== undefined) {
    const shown = [...unknown].slice(0, 40).join('');
    return {
      message: `Line 1 names an unknown column: "${shown}".`,
      hint: didYouMean(unknown, columns) ?? known,
    };
  }
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) return { message: `Line 1 names the column ${repeated} twice.`, hint: known };
  const missing = required.find((name) => !names.includes(name));
  return missing && { message: `Line 1 does not name the column ${missing}.`, hint: known };
}

const SEPARATOR_HINT =
  'Separate cells by commas, as in asset,amount,address. A spreadsheet has the setting where it exports CSV.';

/** Spreadsheets separate cells by semicolons where a comma begins the decimals. */
const isSeparatedOtherwise = (header: string): boolean =>
  [';', '\t'].some(
    (separator) =>
      header.split(separator).some((name) => isColumn(name.trim().toLowerCase())) &&
      header.includes(separator),
  );

function inputOf(names: readonly string[], cells: readonly string[]): object {
  const entries = names.map((name, i) => [name, cells[i] ?? ''] as const);
  return Object.fromEntries(
    entries.map(([name, cell]) => {
      const isObject = name === 'metadata' && cell.trim() !== '';
      return [name, isObject ? (parseExactJson(cell) ?? cell) : cell];
    }),
  );
}

const LINE_FEED = 10;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text without its byte order mark. */
function decode(raw: Uint8Array): Result<string, FieldProblem> {
  const hint = 'Save the file as CSV UTF-8.';
  const [first, second] = raw;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return refuse({ message: 'The file is UTF-16, from line 1 on.', hint });
  }
  try {
    return ok(utf8.decode(raw));
  } catch {
    return refuse({ message: `Line ${wrongLine(raw)} is not UTF-8.`, hint });
  }
}

/** The first line that is no UTF-8. No other character of UTF-8 contains the byte of a line feed. */
function wrongLine(raw: Uint8Array): number {
  let line = 1;
  for (let from = 0; from <= raw.length; line++) {
    const end = raw.indexOf(LINE_FEED, from);
    const to = end === -1 ? raw.length : end;
    try {
      utf8.decode(raw.subarray(from, to));
    } catch {
      return line;
    }
    from = to + 1;
  }
  return line;
}

type CsvRecord = { line: number; cells: string[] };

/** Empty lines are left out. */
function readRecords(text: string): Result<CsvRecord[], FieldProblem> {
  const records: CsvRecord[] = [];
  let [line, at] = [1, 0];
  while (at < text.length) {
    const record: CsvRecord = { line, cells: [] };
    for (let hasNext = true; hasNext; ) {
      const cell = readCell(text, at, line);
      if (!cell.ok) return cell;
      record.cells.push(cell.value.text);
      line += cell.value.lineFeeds;
      at = cell.value.end;
      hasNext = text[at] === ',';
      if (hasNext) at += 1;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
    if (record.cells.length > 1 || record.cells[0] !== '') records.push(record);
  }
  return ok(records);
}

type Cell = { text: string; end: number; lineFeeds: number };

/** The cell that begins there. `end` is the place of the comma or of the end of the line. */
function readCell(text: string, from: number, line: number): Result<Cell, FieldProblem> {
  const hint = 'Put a text with a quote in quotes and double the quote: "say ""yes""".';
  if (text[from] !== '"') {
    const [plain = ''] = /^[^,\r\n]*/.exec(text.slice(from)) ?? [];
    if (plain.includes('"')) return refuse({ message: `Line ${line} has a quote inside of a cell.`, hint });
    return endOf(text, { text: plain, end: from + plain.length, lineFeeds: 0 }, line);
  }
  const [quoted] = /^"(?:[^"]|"")*"/.exec(text.slice(from)) ?? [];
  if (quoted === undefined) {
    return refuse({ message: `Line ${line} opens a quote that is never closed.`, hint });
  }
  const inner = quoted.slice(1, -1);
  const lineFeeds = inner.split('\n').length - 1;
  return endOf(
    text,
    { text: inner.replaceAll('""', '"'), end: from + quoted.length, lineFeeds },
    line + lineFeeds,
  );
}

function endOf(text: string, cell: Cell, line: number): Result<Cell, FieldProblem> {
  const next = text[cell.end];
  if (next === undefined || next === ',' || next === '\n' || text.startsWith('\r\n', cell.end))
    return ok(cell);
  const hint = 'Separate cells by commas, and lines by line feeds.';
  return refuse({ message: `Line ${line} goes on after the end of a cell.`, hint });
}
