import { add, compare } from '../../parts/decimal.ts';
import { chainOf } from '../../parts/networks.ts';
import { readCsv } from './csv-records.ts';

/* What can be said of a file before it is sent. The API checks it again, and the addresses to the last character. */

const LINES_MAX = 500;
export const BYTES_MAX = 64 * 1024;

const columns = ['asset', 'amount', 'address', 'external_id', 'metadata'] as const;
const required = ['asset', 'amount', 'address'] as const;
type ColumnName = (typeof columns)[number];
const isColumn = (name: string): name is ColumnName => columns.some((one) => one === name);

export type KnownAsset = { symbol: string; decimals: number; network_fee: string };

/** A payout of the file, with what is wrong with it. */
export type BatchLine = Record<Exclude<ColumnName, 'metadata'>, string> & {
  line: number;
  problems: string[];
};

/** What the payouts of one asset need together. */
export type BatchTotal = { asset: string; count: number; amount: string; fee: string; total: string };

export type BatchFile = { lines: BatchLine[]; totals: BatchTotal[] } | { problem: string };

/** The text of a file, which must be UTF-8 for the API. */
export function decodeFile(bytes: ArrayBuffer): { text: string } | { problem: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'The file is not UTF-8: save it as CSV UTF-8.' };
  }
}

/** Reads a file of payouts and checks each line by itself. */
export function readBatchFile(text: string, assets: readonly KnownAsset[]): BatchFile {
  if (new TextEncoder().encode(text).length > BYTES_MAX)
    return { problem: 'The file is larger than 64 kB: send several batches.' };
  const read = readCsv(text);
  if ('problem' in read) return read;
  const [header, ...records] = read.records;
  if (header === undefined) return { problem: 'The file is empty.' };
  const names = header.cells.map((cell) => cell.trim());
  const problem = headerProblem(names);
  if (problem !== undefined) return { problem };
  if (records.length === 0) return { problem: 'The file has no payout after its first line.' };
  if (records.length > LINES_MAX)
    return { problem: `The file has ${records.length} payouts, and a batch has at most ${LINES_MAX}.` };
  const uneven = records.find(({ cells }) => cells.length !== names.length);
  if (uneven !== undefined)
    return {
      problem: `Line ${uneven.line} has ${uneven.cells.length} cells, and the first line has ${names.length}.`,
    };
  const earlier = new Map<string, number>();
  const lines = records.map(({ line, cells }): BatchLine => {
    const cell = (name: ColumnName) => cells[names.indexOf(name)]?.trim() ?? '';
    const [asset, amount, address] = [cell('asset'), cell('amount'), cell('address')];
    const payout = { line, asset, amount, address, external_id: cell('external_id') };
    const problems = [...problemsOf(payout, assets), ...metadataProblem(cell('metadata'))];
    const isNumber = NUMBER.test(amount);
    const same = JSON.stringify([asset, isNumber ? add(amount, '0') : amount, address, payout.external_id]);
    const first = earlier.get(same);
    if (first === undefined) earlier.set(same, line);
    else problems.push(`The line repeats line ${first}. If both are meant, give each an external_id.`);
    return { ...payout, problems };
  });
  return { lines, totals: totalsOf(lines, assets) };
}

function headerProblem(names: readonly string[]): string | undefined {
  const [only = ''] = names;
  if (names.length === 1 && /[;\t]/.test(only))
    return 'Line 1 separates its columns by semicolons or tabs: separate them by commas.';
  const unknown = names.find((name) => !isColumn(name));
  if (unknown !== undefined)
    return `Line 1 names an unknown column: "${unknown.slice(0, 40)}". Known: ${columns.join(', ')}.`;
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) return `Line 1 names the column ${repeated} twice.`;
  const missing = required.find((name) => !names.includes(name));
  return missing && `Line 1 does not name the column ${missing}.`;
}

const NUMBER = /^\d+(?:\.\d+)?$/;

function problemsOf(
  { asset, amount, address, external_id: reference }: Omit<BatchLine, 'problems'>,
  assets: readonly KnownAsset[],
): string[] {
  const problems: string[] = [];
  const known = assets.find(({ symbol }) => symbol === asset);
  if (known === undefined)
    problems.push(
      asset === '' ? 'The asset is missing.' : `${asset.slice(0, 40)} is no asset that can be paid now.`,
    );
  if (amount === '') problems.push('The amount is missing.');
  else if (!NUMBER.test(amount)) problems.push('The amount must be a number such as 0.5.');
  else if (compare(amount, '0') <= 0) problems.push('The amount must be more than 0.');
  else if (known !== undefined && decimalsOf(amount) > known.decimals)
    problems.push(`The amount has more than ${known.decimals} decimals.`);
  if (address === '') problems.push('The address is missing.');
  else if (known !== undefined && !looksLike(chainOf(asset), address))
    problems.push('The address is none of this network.');
  if (reference.length > 255) problems.push('The external_id has more than 255 characters.');
  return problems;
}

const decimalsOf = (amount: string): number => (amount.split('.')[1] ?? '').replace(/0+$/, '').length;

/** The form of an address. Its check sum is left to the API. */
function looksLike(chain: string, address: string): boolean {
  switch (chain) {
    case 'bitcoin':
      return (
        /^(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{8,87}$/i.test(address) ||
        /^[123mn][1-9A-HJ-NP-Za-km-z]{25,34}$/.test(address)
      );
    case 'solana':
      return /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address);
    default:
      return /^0x[0-9a-f]{40}$/i.test(address);
  }
}

function metadataProblem(cell: string): string[] {
  if (cell === '') return [];
  try {
    const read: unknown = JSON.parse(cell);
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
    if (isObject && Object.values(read).every((value) => typeof value === 'string')) return [];
  } catch {
    // It is said below, as of JSON that is no object.
  }
  return ['The metadata must be a JSON object of texts.'];
}

/** The sums of the lines without a problem. */
function totalsOf(lines: readonly BatchLine[], assets: readonly KnownAsset[]): BatchTotal[] {
  return assets.flatMap(({ symbol, network_fee: fee }) => {
    const own = lines.filter(({ asset, problems }) => asset === symbol && problems.length === 0);
    if (own.length === 0) return [];
    const amount = own.reduce((before, line) => add(before, line.amount), '0');
    const fees = own.reduce((before) => add(before, fee), '0');
    return [{ asset: symbol, count: own.length, amount, fee: fees, total: add(amount, fees) }];
  });
}

/** The errors of a 422 by the line of the file: `lines.5.address`. What names no line is left out. */
export function errorsByLine(errors: Readonly<Record<string, readonly string[]>>): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const [name, texts] of Object.entries(errors)) {
    const line = /^lines\.(\d+)\./.exec(name)?.[1];
    if (line === undefined) continue;
    // eslint-disable-next-line no-restricted-syntax -- the line of a file
    const place = Number.parseInt(line, 10);
    found.set(place, [...(found.get(place) ?? []), ...texts]);
  }
  return found;
}
