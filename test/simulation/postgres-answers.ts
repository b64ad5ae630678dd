import { camelCase, typedParser } from '@quittance/shared/db';
import pg from 'pg';
import type { Row } from './remembered.ts';

/** A statement that Postgres has planned. */
export type Prepared = {
  name: string;
  /** With every table's schema where its name alone would not do. */
  text: string;
  /** Its rows are those of a `Query`. */
  isTyped: boolean;
  parsers: ((text: string) => unknown)[];
  fields: string[];
  /** It may be refused (a constraint), which must not take the whole seed with it. */
  isFallible: boolean;
};

/** What Postgres says, by the first letter: the rest is of no interest here. */
const ROW = 0x44;
const DESCRIPTION = 0x54;
const FAILURE = 0x45;

const NOT_ASCII = /[\x80-\xff]/;

const utf8 = new TextDecoder();

/** What Postgres has answered, message by message. A description is kept in `prepared`. */
export function readAnswer(bytes: Buffer, prepared?: Prepared): { rows: Row[]; failure?: pg.DatabaseError } {
  const rows: Row[] = [];
  let text: string | undefined;
  let failure: pg.DatabaseError | undefined;
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at + 1);
    const body = at + 5;
    const kind = bytes[at];
    if (kind === ROW && prepared !== undefined) {
      text ??= bytes.toString('latin1');
      rows.push(readRow(bytes, text, body, prepared));
    } else if (kind === DESCRIPTION && prepared !== undefined) readDescription(bytes, body, prepared);
    else if (kind === FAILURE) failure = readFailure(bytes.subarray(body, at + 1 + length));
    at += 1 + length;
  }
  return failure === undefined ? { rows } : { rows, failure };
}

/** `text` is what the bytes say if all of them are ASCII, as nearly all are: a slice of it costs less than a reading of its own. */
function readRow(bytes: Buffer, text: string, start: number, { fields, parsers }: Prepared): Row {
  const row: Row = {};
  let at = start + 2;
  for (let i = 0; i < fields.length; i++) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) row[fields[i] as string] = null;
    else {
      const ascii = text.slice(at, at + length);
      const field = NOT_ASCII.test(ascii) ? bytes.toString('utf8', at, at + length) : ascii;
      row[fields[i] as string] = parsers[i]?.(field);
      at += length;
    }
  }
  return row;
}

function readDescription(bytes: Buffer, start: number, prepared: Prepared): void {
  const count = bytes.readInt16BE(start);
  let at = start + 2;
  for (let i = 0; i < count; i++) {
    const end = bytes.indexOf(0, at);
    const name = bytes.toString('utf8', at, end);
    prepared.fields.push(prepared.isTyped ? camelCase(name) : name);
    const oid = bytes.readInt32BE(end + 7);
    // As the driver reads them: see `Query`; otherwise numerics and bigints as text, timestamps as Date, JSON as values.
    const asText = pg.types.getTypeParser(oid, 'text') as (text: string) => unknown;
    prepared.parsers.push(prepared.isTyped ? typedParser(oid) : asText);
    at = end + 19;
  }
}

function readFailure(body: Uint8Array): pg.DatabaseError {
  const fields = new Map<string, string>();
  for (const field of utf8.decode(body).split('\0')) {
    if (field !== '') fields.set(field.charAt(0), field.slice(1));
  }
  const error = new pg.DatabaseError(fields.get('M') ?? 'unknown', body.length, 'error');
  error.code = fields.get('C');
  error.constraint = fields.get('n');
  error.detail = fields.get('D');
  error.table = fields.get('t');
  return error;
}
